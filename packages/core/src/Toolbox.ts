/**
 * The port to tools: which there are, and calling one by name. Timeouts, permits, approval and recording are Layers
 * around it.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Tracer from "effect/Tracer"
import { CallPath } from "./CallPath.js"
import { expiring } from "./Concurrency.js"
import { HeldPermits } from "./internal/heldPermits.js"
import * as Outbox from "./internal/outbox.js"
import * as Journal from "./Journal.js"
import type { CallId } from "./Llm.js"
import { refuse } from "./Options.js"
import { PlanApproval } from "./PlanApproval.js"
import { RunKey } from "./RunKey.js"
import type { Tool, ToolContext, ToolInfo } from "./Tool.js"
import { isToolError, type ToolError, ToolFailed, ToolTimeout, UnknownTool } from "./ToolError.js"
import * as ToolOutcome from "./ToolOutcome.js"
import * as ToolText from "./ToolText.js"

export { InvalidToolInput, type ToolError, ToolFailed, ToolTimeout, UnknownTool } from "./ToolError.js"

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** One call of a tool. */
export interface CallRequest {
  /** Stable id of the call, see `CallId`. */
  readonly call: CallId
  /** The tool's name as the model wrote it; resolved as {@link resolve} says. */
  readonly tool: string
  /** For a structured tool: a JSON object, or the value of its single string field. */
  readonly input: string
  /** Longest time the call may take. The shorter of this and the tool's own `timeout` holds. Default: no limit. */
  readonly timeout?: Duration.DurationInput
}

export interface Service {
  /** Every tool, in the order in which they are shown to a model. */
  readonly tools: ReadonlyArray<ToolInfo>
  /** Calls a tool and gives its result as text. */
  readonly call: (request: CallRequest) => Effect.Effect<string, ToolError>
}

// ---------------------------------------------------------------------------------------------------------------
// service
// ---------------------------------------------------------------------------------------------------------------

/** The tools that a run may call, and nothing else. */
export class Toolbox extends Context.Tag("@forethought/core/Toolbox")<Toolbox, Service>() {}

// ---------------------------------------------------------------------------------------------------------------
// constructors and layers
// ---------------------------------------------------------------------------------------------------------------

/**
 * A toolbox of the given tools. Throws an `InvalidOption` where two names are equal.
 *
 * A tool runs in the context of the call: it asks the model of the run that calls it, tells that run's journal, and its
 * spans hang under the call. Of the context in which the toolbox is made it is given the services that the caller does
 * not have. The one exception is a `Toolbox`: a pattern among the tools is given the one that it was made with, and
 * never the one that it is in.
 *
 * A timeout interrupts the tool's fiber and aborts its `AbortSignal`; a result that comes later is dropped. So does an
 * interruption of the call, which waits for the tool's fiber to end. Whatever the tool fails or dies with becomes
 * `ToolFailed`, a Schema that dies while it decodes the input included; only interruption passes through.
 */
export const make = <R = never>(tools: ReadonlyArray<Tool<R>>): Effect.Effect<Service, never, R> => {
  const byName = new Map<string, Tool<R>>()
  for (const tool of tools) {
    if (byName.has(tool.name)) refuse("Toolbox", "tools", `two tools are named ${JSON.stringify(tool.name)}.`)
    byName.set(tool.name, tool)
  }
  return Effect.map(Effect.context<R>(), (context) => {
    const inContext = surroundings(context)
    return {
      tools,
      call: (request) => {
        const name = resolve(tools, request.tool)
        if (Either.isLeft(name)) return Effect.fail(name.left)
        const tool = byName.get(name.right)
        if (tool === undefined) return Effect.fail(unknownTool(tools, request.tool))
        return Effect.suspend(() => {
          const work = prepare(tool, request.input)
          return Either.isLeft(work) ? Effect.fail(work.left) : execute(tool, work.right, request, inContext)
        })
      }
    }
  })
}

/** A Layer of {@link make}. */
export const layer = <R = never>(tools: ReadonlyArray<Tool<R>>): Layer.Layer<Toolbox, never, R> =>
  Layer.effect(Toolbox, make(tools))

/**
 * Makes a toolbox around another. `handle` is given the tool that a call means, resolved once, and the call of the
 * inner toolbox, to make, to hold back or to replace. A name that means no tool does not get that far: it fails with
 * `UnknownTool`.
 */
export const around =
  (
    handle: (
      tool: ToolInfo,
      request: CallRequest,
      call: Effect.Effect<string, ToolError>
    ) => Effect.Effect<string, ToolError>
  ): ((inner: Service) => Service) =>
  (inner) => {
    const byName = new Map(inner.tools.map((tool) => [tool.name, tool]))
    return {
      tools: inner.tools,
      call: (request) => {
        const name = Either.getOrElse(resolve(inner.tools, request.tool), () => request.tool)
        const tool = byName.get(name)
        const call = Effect.suspend(() => inner.call({ ...request, tool: name }))
        return tool === undefined ? call : handle(tool, request, call)
      }
    }
  }

/** A toolbox without tools. */
export const empty: Layer.Layer<Toolbox> = layer([])

// ---------------------------------------------------------------------------------------------------------------
// utilities
// ---------------------------------------------------------------------------------------------------------------

/**
 * Finds the tool that a model means: by its exact name, otherwise by the one name that is equal when case, spaces,
 * quotes and a trailing `()` are ignored. Never by a prefix. A control token that leaked into the name (`<|…`) ends it.
 */
export const resolve = (
  tools: ReadonlyArray<{ readonly name: string }>,
  name: string
): Either.Either<string, UnknownTool> => {
  const [match, ...others] = matching(tools, name)
  if (match === undefined) return Either.left(unknownTool(tools, name))
  if (others.length === 0) return Either.right(match)
  return Either.left(
    new UnknownTool({ tool: name, available: tools.map((tool) => tool.name), candidates: [match, ...others] })
  )
}

/** Returns the name of the tool that a model means, as {@link resolve} does, or nothing. */
export const find = (tools: ReadonlyArray<{ readonly name: string }>, name: string): string | undefined => {
  const [match, ...others] = matching(tools, name)
  return others.length === 0 ? match : undefined
}

/** One line for each tool, as prompts show them: `name[input]: description`, or the shape of the input as JSON. */
export const descriptions = (tools: ReadonlyArray<ToolInfo>): string =>
  tools.length === 0
    ? "(no tools)"
    : tools
        .map((tool) => {
          const input = tool.takes === "text" ? "input" : JSON.stringify(tool.parameters["properties"] ?? {})
          return `${tool.name}[${input}]: ${tool.description}`
        })
        .join("\n")

/** The tools' names as prompts list them: `Search, Calculator`. */
export const names = (tools: ReadonlyArray<ToolInfo>): string =>
  tools.length === 0 ? "no tools" : tools.map((tool) => tool.name).join(", ")

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

/** The names of the tools that a name can mean. */
const matching = (tools: ReadonlyArray<{ readonly name: string }>, name: string): ReadonlyArray<string> => {
  if (tools.some((tool) => tool.name === name)) return [name]
  const control = name.indexOf("<|")
  const cleaned = control < 0 ? name : name.slice(0, control)
  const wanted = bareName(cleaned)
  const matches = wanted === "" ? [] : tools.filter((tool) => bareName(tool.name) === wanted)
  const exact = matches.find((tool) => tool.name === trimmed(cleaned))
  return (exact === undefined ? matches : [exact]).map((tool) => tool.name)
}

const unknownTool = (tools: ReadonlyArray<{ readonly name: string }>, name: string): UnknownTool =>
  new UnknownTool({ tool: name, available: tools.map((tool) => tool.name) })

const trimmed = (name: string): string => {
  const bare = name.replaceAll(/["'`“”‘’*\s]/g, "")
  return bare.endsWith("()") ? bare.slice(0, -2) : bare
}

const bareName = (name: string): string => trimmed(name).toLowerCase()

/** The call of a tool, as the tool sees it. The AbortController is made only when the tool asks for its signal. */
class CallSignal implements ToolContext {
  private controller: AbortController | undefined
  private aborted: DOMException | undefined
  private reported = ""
  private open = true
  constructor(
    readonly call: CallId,
    private readonly note: Outbox.ToolNote | undefined
  ) {}
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController()
      if (this.aborted !== undefined) this.controller.abort(this.aborted)
    }
    return this.controller.signal
  }
  readonly progress = (partial: string): void => {
    // A tool that floods must not fill the memory: what is kept is enough for an error text.
    if (this.open && this.reported.length < maxPartialChars) {
      this.reported += String(partial).slice(0, maxPartialChars)
    }
  }
  readonly leftOut = (what: string): void => {
    if (this.open && this.note !== undefined) this.note.leftOut = what
  }
  get partial(): string | undefined {
    return this.reported === "" ? undefined : this.reported.toWellFormed()
  }
  /** Ends the call: later progress is dropped, and a reason aborts what still runs. */
  close(reason?: "TimeoutError" | "AbortError"): void {
    if (!this.open) return
    this.open = false
    if (reason === undefined) return
    const text = reason === "TimeoutError" ? "The tool call timed out." : "The tool call was interrupted."
    this.aborted = new DOMException(text, reason)
    this.controller?.abort(this.aborted)
  }
}

const maxPartialChars = 10_000

/** The context of a call, from that of the caller and that in which the toolbox was made. */
const surroundings = <R>(made: Context.Context<R>): ((caller: Context.Context<never>) => Context.Context<R>) => {
  // A Reference of the place where the toolbox was made says nothing of the call, whose own may be the default.
  const kept = [...made.unsafeMap].filter(([key]) => !references.has(key))
  const own = kept.filter(([key]) => key === Toolbox.key)
  return (caller) => Context.unsafeMake<R>(new Map([...kept, ...caller.unsafeMap, ...own]))
}

const references: ReadonlySet<string> = new Set(
  [
    Journal.Journal,
    Journal.Streaming,
    Journal.Requests,
    Outbox.CurrentOutbox,
    CallPath,
    RunKey,
    HeldPermits,
    PlanApproval,
    Tracer.ParentSpan,
    Layer.CurrentMemoMap
  ].map(({ key }) => key)
)

/** A Schema of the tool's may die on what the model wrote. */
const prepare = <R>(
  tool: Tool<R>,
  input: string
): Either.Either<(context: ToolContext) => ToolOutcome.Outcome<R>, ToolError> => {
  try {
    return tool.prepare(input)
  } catch (defect) {
    return Either.left(failed(tool.name, Cause.die(defect)))
  }
}

const execute = <R>(
  tool: ToolInfo,
  work: (context: ToolContext) => ToolOutcome.Outcome<R>,
  request: CallRequest,
  inContext: (caller: Context.Context<never>) => Context.Context<R>
): Effect.Effect<string, ToolError> =>
  // From the moment in which `work` starts something, such as a Promise, its end is taken care of.
  Effect.uninterruptibleMask((restore) =>
    Effect.withFiberRuntime((fiber) => {
      const caller = fiber.getFiberRef(FiberRef.currentContext)
      const context = new CallSignal(request.call, Context.get(caller, Outbox.CurrentOutbox)?.tools.get(request.call))
      let outcome: string | Effect.Effect<unknown, unknown, R>
      try {
        const given = work(context)
        outcome = typeof given === "string" ? given : ToolOutcome.lift(given)
      } catch (defect) {
        context.close()
        return Effect.fail(failed(tool.name, Cause.die(defect)))
      }
      // What is there at once needs no fiber and no timer.
      if (typeof outcome === "string") {
        context.close()
        return Effect.succeed(ToolText.fromUnknown(outcome))
      }
      const done = restore(
        Effect.matchCauseEffect(Effect.mapInputContext(outcome, inContext), {
          onSuccess: (value) => Effect.succeed(ToolText.fromUnknown(value)),
          onFailure: (cause) => Effect.fail(failed(tool.name, cause))
        })
      ).pipe(
        Effect.onExit((exit) => Effect.sync(() => context.close(Exit.isInterrupted(exit) ? "AbortError" : undefined)))
      )
      const limit = Math.min(
        tool.timeout ?? Number.POSITIVE_INFINITY,
        request.timeout === undefined ? Number.POSITIVE_INFINITY : Duration.toMillis(request.timeout)
      )
      if (limit === Number.POSITIVE_INFINITY) return done
      const expired = () => {
        const partial = context.partial
        context.close("TimeoutError")
        return new ToolTimeout({
          tool: tool.name,
          after: limit,
          ...(tool.idempotent || tool.readOnly === true ? { repeatable: true } : {}),
          ...(partial === undefined ? {} : { partial })
        })
      }
      return expiring(done, restore, limit, expired, "leaves")
    })
  )

/**
 * The interruption of the run does not come by here; a tool that interrupts itself has failed. A tool that reports one
 * of the tool errors is believed.
 */
const failed = (tool: string, cause: Cause.Cause<unknown>): ToolError => {
  if (Cause.isInterruptedOnly(cause)) return new ToolFailed({ tool, detail: "The tool was interrupted.", cause })
  const error = Cause.squash(cause)
  return isToolError(error) ? error : new ToolFailed({ tool, detail: ToolText.describeFailure(error), cause: error })
}
