/**
 * Ask, read, ask again with the error appended. This is the only place where a reply is repaired by asking; retries of
 * the transport belong to the Llm's layer.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schedule from "effect/Schedule"
import * as FinishWord from "./FinishWord.js"
import * as Llm from "./Llm.js"
import { TruncatedReply } from "./ReplyError.js"
import type { Run } from "./Run.js"
import * as RunEvent from "./RunEvent.js"
import * as ReplyText from "./reply/ReplyText.js"

/** The ways in which a reply that did arrive can be of no use. */
export type Unusable<E> = E | TruncatedReply | Llm.LlmError

/** Says how often, and after which delay, a model is asked again because its reply could not be used. */
export type Reask = Schedule.Schedule<unknown, unknown>

/** A {@link Reask} of which is known how often it asks. */
interface Counted extends Reask {
  readonly times: number
}

/** Asks so many times more, at once: a `Schedule.recurs` that bounds of calls can be read from. */
export const times = (count: number): Reask => {
  const counted: Counted = Object.assign(Schedule.recurs(count), { times: count })
  return counted
}

/** Returns how often a schedule made by {@link times} asks; of any other it is not known. */
export const timesOf = (reask: Reask): number | undefined => ("times" in reask ? Number(reask.times) : undefined)

/** Asks once more. */
export const once: Reask = times(1)

/** Never asks again. */
export const never: Reask = times(0)

/** A question to a model, and the reader of its reply. */
export interface Question<A, E> extends Llm.Request {
  /**
   * Reads the text of a reply that finished, thinking included: see `ReplyText.visible`. `attempt` is 0 for the first
   * reply. The error's message is what the model is told, so it must quote the format.
   */
  readonly read: (text: string, attempt: number) => Either.Either<A, E>
  /** Returns the error of a reply that says nothing. Default: an `LlmError` with the reason `EmptyReply`. */
  readonly nothing?: (reply: Llm.Reply) => Unusable<E>
  /** Default: {@link once}. */
  readonly reask?: Reask
}

/**
 * Asks until a reply can be read or the schedule ends, then fails with the last error. A reply that was cut off, is
 * empty, or cannot be read is asked for again; a refusal or a failed call is not. The ids of further attempts are
 * `<call>/reask-1`, `<call>/reask-2`, …
 */
export const ask = <A, E extends { readonly message: string }>(
  run: Run,
  question: Question<A, E>
): Effect.Effect<A, Unusable<E>> =>
  Effect.suspend(() => {
    const request = requestOf(question)
    return Effect.flatMap(run.complete(request), (reply) => {
      const first = answerIn(question, reply, 0)
      return Either.isRight(first) ? Effect.succeed(first.right) : again(run, question, first.left, reply)
    })
  })

const again = <A, E extends { readonly message: string }>(
  run: Run,
  question: Question<A, E>,
  firstError: Unusable<E>,
  firstReply: Llm.Reply
): Effect.Effect<A, Unusable<E>> =>
  Effect.gen(function* () {
    const request = requestOf(question)
    const schedule = yield* Schedule.driver(question.reask ?? once)
    let error = firstError
    let reply = firstReply
    for (let attempt = 1; ; attempt++) {
      const going = canHelp(error) && (yield* Effect.isSuccess(schedule.next(error)))
      yield* run.emit({
        _tag: "ReplyRejected",
        call: run.id(attempt === 1 ? request.call : `${request.call}/reask-${attempt - 1}`),
        role: request.role,
        error: RunEvent.errorInfo(error),
        reask: going
      })
      if (!going) return yield* Effect.fail(error)
      reply = yield* run.complete({
        ...request,
        call: `${request.call}/reask-${attempt}`,
        messages: withCorrection(request.messages, reply, error)
      })
      const next = answerIn(question, reply, attempt)
      if (Either.isRight(next)) return next.right
      error = next.left
    }
  })

/** Returns whether asking again may give something else, which it does not after a refusal. */
export const canHelp = (error: { readonly message: string }): boolean =>
  !(error instanceof Llm.LlmError) || error.reason._tag === "EmptyReply"

const requestOf = <A, E>(question: Question<A, E>): Llm.Request => {
  const { nothing: _nothing, read: _read, reask: _reask, ...request } = question
  return request
}

/** Checks that a reply is whole and says something, then reads it. Reasoning is never read. */
const answerIn = <A, E>(question: Question<A, E>, reply: Llm.Reply, attempt: number): Either.Either<A, Unusable<E>> => {
  const error = flaw(question, { ...reply, toolCalls: [] }, ReplyText.visible(reply.text))
  if (error === undefined) return question.read(reply.text, attempt)
  const isEmpty = error._tag === "LlmError" && error.reason._tag === "EmptyReply"
  return Either.left(isEmpty ? (question.nothing?.(reply) ?? error) : error)
}

/**
 * Returns why a reply cannot be used whatever it says, or `undefined`: it was filtered, broken or cut off, or it says
 * nothing (`said` is its visible text) and calls no tool. A reply around a tool call that the provider could not read
 * says nothing either. {@link canHelp} says whether to ask again.
 */
export const flaw = (
  request: Pick<Llm.Request, "call" | "role">,
  reply: Llm.Reply,
  said: string
): TruncatedReply | Llm.LlmError | undefined => {
  const { call, role } = request
  const fail = (reason: Llm.Reason, detail?: string) =>
    new Llm.LlmError({ reason, role, call, ...(detail === undefined ? {} : { detail }) })
  const word = reply.rawFinishReason ?? reply.finishReason
  const end = FinishWord.ofReply(reply)
  if (end === "content-filter") return fail(Llm.Reason.Refused(reply.text))
  if (end === "broken") return fail(Llm.Reason.Unavailable(), `the reply broke off: ${word}`)
  if (end === "malformed" || (said === "" && reply.toolCalls.length === 0)) return empty(request, reply)
  return end === "length" ? new TruncatedReply({ text: reply.text, role }) : undefined
}

/** Returns the error of a reply that says nothing. */
export const empty = (request: Pick<Llm.Request, "call" | "role">, reply: Llm.Reply) => {
  const detail = isMalformed(reply)
    ? "its tool call could not be read"
    : reply.finishReason === "length"
      ? "truncated in reasoning: allow more output tokens"
      : undefined
  return new Llm.LlmError({
    reason: Llm.Reason.EmptyReply({
      finishReason: reply.finishReason,
      rawFinishReason: reply.rawFinishReason,
      onlyReasoning: !isMalformed(reply) && (reply.text.trim() !== "" || (reply.reasoning ?? "") !== "")
    }),
    role: request.role,
    call: request.call,
    ...(detail === undefined ? {} : { detail })
  })
}

const isMalformed = (reply: Pick<Llm.Reply, "finishReason" | "rawFinishReason">) =>
  FinishWord.ofReply(reply) === "malformed"

/** Returns whether an empty reply was one around a tool call that could not be read. */
export const heldMalformedCall = (error: Llm.LlmError): boolean =>
  error.reason._tag === "EmptyReply" && isMalformed(error.reason)

/** The conversation that shows the model its reply and what was wrong with it. */
const withCorrection = (
  messages: ReadonlyArray<Llm.Message>,
  reply: Llm.Reply,
  error: { readonly message: string }
): ReadonlyArray<Llm.Message> => {
  const correction: Llm.Message = { role: "user", content: correctionText(error) }
  return [...messages, said(reply), correction]
}

/**
 * Returns a reply as the model's turn in front of a correction. It is there even when the reply said nothing: strict
 * chat templates take no two users in a row, and no user right behind a tool's result.
 */
export const said = (reply: Llm.Reply): Llm.Message => {
  const text = ReplyText.cut(ReplyText.visible(reply.text), maxQuotedReply)
  return {
    role: "assistant",
    content: text === "" ? "(empty reply)" : text,
    ...(reply.providerState === undefined ? {} : { providerState: reply.providerState })
  }
}

/** Returns what the model is told when its reply cannot be used. */
export const correctionText = (error: { readonly message: string }): string => {
  if (error instanceof TruncatedReply) {
    return "Your reply was cut off by the length limit. Reply again, complete and shorter, in the format asked for."
  }
  if (error instanceof Llm.LlmError) {
    const why = heldMalformedCall(error)
      ? ": it held a tool call that could not be read, and there is no tool here"
      : ""
    return `Your reply was empty${why}. Reply again with the answer itself, in the format asked for.`
  }
  return `Your reply could not be used.\n${error.message}\nReply again, in the format asked for and with nothing else.`
}

const maxQuotedReply = 8_000
