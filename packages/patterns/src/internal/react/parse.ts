/**
 * The reader of ReAct's text protocol: Thought / Action / Action Input / Observation.
 *
 * @internal
 */

import { excerpt, ParseError } from "@forethought/core/ReplyError"
import * as CodeSpan from "@forethought/core/reply/CodeSpan"
import * as JsonReply from "@forethought/core/reply/JsonReply"
import { unfence, visible } from "@forethought/core/reply/ReplyText"
import * as Either from "effect/Either"
import { unquote } from "../unquote.js"
import { bracketEnd } from "./balance.js"
import {
  answerEnd,
  findLabel,
  findLineLabel,
  isInQuote,
  isLineStart,
  type Label,
  type LabelKind,
  nextLabel,
  turnLabels
} from "./labels.js"
import { callsInChannel, holdsMarkup, type IsTool, isBareCall, parseJson } from "./markup.js"

export { toolCallMarkup } from "./markup.js"

/** What one reply of the model asks for. No text of it starts with `Thought:`. */
export type Turn =
  /** Call a tool. `input` is raw: JSON text or plain text. `tool` is as written, and may be unknown or empty. */
  | { readonly _tag: "Action"; readonly thought: string; readonly tool: string; readonly input: string }
  /** The final answer. */
  | { readonly _tag: "Answer"; readonly text: string; readonly thought?: string }
  /** The model says that it needs no tool (`Action: None`), but gives no answer. */
  | { readonly _tag: "NoTool"; readonly thought: string }

const expected =
  "`Action: <tool>` and `Action Input: <input>` on two lines, or `Final Answer: <answer>`, as plain text without markup"

/** Words for what is wrong with a turn. */
export type Problem = "empty_reply" | "tool_call_markup" | "malformed" | "conflict"

/**
 * Reads one turn out of a whole reply.
 *
 * - Only the first action counts; an observation behind it was invented, and is dropped with all that follows it.
 * - `Action: search[x]`, `search("x")` and `{"action": …, "action_input": …}` are read as well; `Finish[x]`,
 *   `finish(answer="x")` and the action `Final Answer` are answers.
 * - The last `Final Answer:` at the start of a line is the answer, but for quotes (`> `) and code.
 * - A reply without an action is the answer, as a whole.
 * - Fails with a `ParseError`: `empty_reply`; `tool_call_markup` where a call is written in a model's own markup, or as
 *   JSON among other text (see {@link toolCallMarkup}, also for `isTool`); `malformed` where the JSON of an action
 *   names no tool, and where an answer follows an observation that no action asked for; `conflict` where an answer and
 *   an action stand in one reply with no observation between them.
 */
export const readTurn = (reply: string, isTool?: IsTool): Either.Either<Turn, ParseError<Problem>> => {
  const text = inside(visible(reply))
  const fail = (problem: Problem, at: number) =>
    Either.left(new ParseError({ problem, expected, found: text === "" ? "an empty reply" : excerpt(text, at), reply }))
  const answer = (written: string, thought: string): Either.Either<Turn, ParseError<Problem>> => {
    const said = withoutTick(withoutLabel(written))
    if (said === "") return fail("empty_reply", 0)
    if (callsInChannel(reply) || holdsMarkup(said, isTool))
      return fail("tool_call_markup", Math.max(0, text.indexOf(said)))
    return Either.right(thought === "" ? { _tag: "Answer", text: said } : { _tag: "Answer", text: said, thought })
  }
  const action = (thought: string, tool: string, input: string): Either.Either<Turn, ParseError<Problem>> => {
    if (isFinish(tool)) {
      return input === "" ? Either.right({ _tag: "NoTool", thought }) : answer(finishText(input), thought)
    }
    return Either.right({ _tag: "Action", thought, tool, input })
  }

  if (text.trim() === "") return fail(callsInChannel(reply) ? "tool_call_markup" : "empty_reply", 0)
  const first = firstLabel(text)
  if (first?.kind !== "action" && first?.kind !== "tool" && /observation/i.test(text)) {
    const invented = findLineLabel(text, 0, ["observation"])
    const isBefore = invented !== undefined && (first === undefined || invented.start < first.start)
    if (isBefore && (first !== undefined || findLabel(text, 0, ["thought"]) !== undefined)) {
      return fail("malformed", invented.start)
    }
  }
  if (first === undefined) {
    const whole = unfence(text).trim()
    const call = whole.startsWith("{") ? callOf(parseJson(whole)) : undefined
    if (call !== undefined && !isBareCall(whole)) return action("", call.tool, call.input)
    const finish = findFinish(text)
    if (finish !== undefined) return answer(finish.text, withoutLabel(text.slice(0, finish.start)))
    const end = findLabel(text, 0, ["observation"])?.start ?? text.length
    return answer(text.slice(0, end), "")
  }
  const thought = withoutLabel(text.slice(0, first.start))
  if (first.kind === "answer") {
    const last = lastAnswer(text, first, isTool)
    if (last === "conflict") return fail("conflict", first.start)
    return answer(trimMarks(text.slice(last.end, answerEnd(text, last.end))), thought)
  }
  if (first.kind === "input") return fail("malformed", first.start)

  const next = findLabel(text, first.end, [...turnLabels, "arguments"])
  const hasInput = next?.kind === "input" || next?.kind === "arguments"
  const body = trimMarks(text.slice(first.end, next?.start ?? text.length))
  const given = next !== undefined && hasInput ? readInput(text, next) : undefined
  const fenced = unfenceFirst(body)
  if (isNone(body) || isDirect(fenced)) {
    const end = next !== undefined && hasInput ? findLabel(text, next.end, ["answer", "action", "observation"]) : next
    return end?.kind === "answer"
      ? answer(trimMarks(text.slice(end.end, answerEnd(text, end.end))), thought)
      : Either.right({ _tag: "NoTool", thought })
  }
  const isConflict = answersToo(text, first, next !== undefined && hasInput ? next : undefined)
  if (isConflict && isFinish(nameOf(/^[^[({\n]{1,96}/.exec(fenced)?.[0] ?? ""))) {
    const last = findLineLabel(text, first.end, ["answer"])
    return last === undefined
      ? fail("malformed", first.start)
      : answer(trimMarks(text.slice(last.end, answerEnd(text, last.end))), thought)
  }
  if (isConflict) return fail("conflict", first.start)
  if (/^\[\s{0,80}\{/.test(fenced)) return fail("tool_call_markup", first.start)
  if (fenced.startsWith("{")) {
    const end = JsonReply.endOf(fenced, 0)
    const call = end === -1 ? undefined : callOf(parseJson(fenced.slice(0, end)))
    return call === undefined ? fail("malformed", first.start) : action(thought, call.tool, given ?? call.input)
  }
  const line = fenced.split("\n", 1)[0] ?? ""
  const name = nameOf(line.includes("<|") ? line.slice(0, line.indexOf("<|")) : line)
  if (line.includes("<|")) return action(thought, name, given ?? "")
  if (holdsMarkup(line)) return fail("tool_call_markup", first.start)
  const call = /^[^[({]{1,96}/.exec(fenced.slice(0, 128))
  const open = call?.[0].length ?? 0
  const opening = fenced.charAt(open)
  if (call !== null && (opening === "[" || opening === "(") && !call[0].includes("\n")) {
    const end = bracketEnd(fenced, open)
    const inside = fenced.slice(open + 1, end === -1 ? Math.max(open + 1, line.length) : end).trim()
    return action(thought, nameOf(call[0]), given ?? (isNothing(inside) ? "" : unquote(inside)))
  }
  if (call !== null && opening === "{" && !call[0].includes("\n") && given === undefined) {
    const end = JsonReply.endOf(fenced, open)
    if (end !== -1) return action(thought, nameOf(call[0]), fenced.slice(open, end))
  }
  return action(thought, name, given ?? "")
}

/** A turn that stands in one code fence as a whole, without it. */
const inside = (shown: string): string => {
  const inner = unfence(shown)
  return inner !== shown && findLineLabel(inner, 0, ["thought", "action", "answer"]) !== undefined ? inner : shown
}

/** The first label that is not a quote of someone else, or the first one. */
const findOwn = (text: string, wanted: ReadonlyArray<LabelKind>): Label | undefined => {
  const first = findLabel(text, 0, wanted)
  let own = first
  while (own !== undefined && isInQuote(text, own)) own = findLabel(text, own.end, wanted)
  return own ?? first
}

/** The first action or answer. `Tool:` is one only with an input right behind it. */
const firstLabel = (text: string): Label | undefined => {
  const first = unlessLater(text, findOwn(text, ["action", "answer", "input"]))
  const tool = findOwn(text, ["tool"])
  if (tool === undefined || (first !== undefined && first.kind !== "input" && first.start < tool.start)) return first
  const next = findLabel(text, tool.end, [...turnLabels, "arguments"])
  return next?.kind === "input" || next?.kind === "arguments" ? tool : first
}

/**
 * An answer inside a line of thought (`I could say Final Answer: 5`) is none where an action or answer has its own
 * line.
 */
const unlessLater = (text: string, first: Label | undefined): Label | undefined => {
  if (first?.kind !== "answer" || isLineStart(text, first.start)) return first
  let later = findLineLabel(text, first.end, ["action", "observation", "question", "answer"])
  while (later?.kind === "answer" && isInQuote(text, later)) {
    later = findLineLabel(text, later.end, ["action", "observation", "question", "answer"])
  }
  if (later?.kind === "answer") return later
  return later?.kind !== "action" || isNone(trimMarks(lineBehind(text, later))) ? first : later
}

const lineBehind = (text: string, label: Label): string => {
  const end = text.indexOf("\n", label.end)
  return text.slice(label.end, end === -1 ? text.length : end)
}

/**
 * The answer that counts: the last one on a line of its own before what the model invents, and one that says that it is
 * final before others. `conflict` where an action is asked for as well.
 */
const lastAnswer = (text: string, first: Label, isTool: IsTool | undefined): Label | "conflict" => {
  const code = CodeSpan.make(text)
  const wanted: ReadonlyArray<LabelKind> = ["answer", "action", "observation", "question"]
  let last = first
  for (let label = findLineLabel(text, first.end, wanted); label !== undefined; ) {
    if (label.kind === "observation" || label.kind === "question") break
    if (!isInQuote(text, label) && !code.isCode(label.start, 0)) {
      if (label.kind === "action" && isAsked(text, label, isTool)) return "conflict"
      if (label.kind === "answer" && (isFinal(text, label) || !isFinal(text, last))) last = label
    }
    label = findLineLabel(text, label.end, wanted)
  }
  return last
}

const isFinal = (text: string, label: Label): boolean => /final/i.test(text.slice(label.start, label.end))

/** Returns whether an action behind an answer is one, and no line of the answer: it has an input, or names a tool. */
const isAsked = (text: string, label: Label, isTool: IsTool | undefined): boolean => {
  const line = trimMarks(lineBehind(text, label))
  if (isNone(line)) return false
  const call = /^[\w .-]{1,64}(?=[[(])/.exec(line.slice(0, 80))?.[0]
  if (isTool?.(nameOf(call ?? line)) === true) return true
  const end = label.end + lineBehind(text, label).length
  const next = /^\s{0,16}[^\n]{0,40}/.exec(text.slice(end, end + 64))?.[0] ?? ""
  return findLabel(next, 0, ["input"]) !== undefined
}

/** Returns whether an answer follows an action, with no observation between them. */
const answersToo = (text: string, action: Label, input: Label | undefined): boolean => {
  const wanted: ReadonlyArray<LabelKind> = ["answer", "observation", "question"]
  let label = findLineLabel(text, endOfInput(text, input ?? action), wanted)
  while (label?.kind === "answer" && isInQuote(text, label)) label = findLineLabel(text, label.end, wanted)
  return label?.kind === "answer" && trimMarks(text.slice(label.end)) !== ""
}

/** Behind a JSON value or a code fence that stands behind a label, where there may be lines like labels inside. */
const endOfInput = (text: string, label: Label): number => {
  let start = label.end
  while (start < text.length && /[\s*]/.test(text.charAt(start))) start += 1
  if (text.startsWith("```", start)) {
    const close = text.indexOf("\n```", start)
    return close === -1 ? text.length : close + 4
  }
  const line = text.indexOf("\n", start)
  const limit = line === -1 ? text.length : line
  const open = text.slice(start, limit).search(/[[{(]/)
  if (open === -1) return start
  const at = start + open
  const end = text.charAt(at) === "(" ? bracketEnd(text, at) : JsonReply.endOf(text, at)
  return end === -1 ? start : end
}

const finishLine = /^[ \t*`]{0,6}(?:finish|final[_ -]?answer)[[(]/gim

/** `Finish[x]` without a label, where nothing follows it. */
const findFinish = (text: string): { readonly start: number; readonly text: string } | undefined => {
  finishLine.lastIndex = 0
  const match = finishLine.exec(text)
  if (match === null) return undefined
  const open = match.index + match[0].length - 1
  const end = bracketEnd(text, open)
  if (end === -1 || trimMarks(text.slice(end + 1)).replace(/^`+/, "") !== "") return undefined
  return { start: match.index, text: finishText(text.slice(open + 1, end)) }
}

/** What is inside `Finish[…]`: `x`, `answer="x"` or `{"answer": "x"}`. */
const finishText = (inside: string): string => {
  const input = inside.trim()
  const value = input.startsWith("{") ? parseJson(input) : undefined
  if (typeof value === "object" && value !== null) {
    const [entry, ...others] = Object.entries(value)
    const isAnswer = entry !== undefined && others.length === 0 && answerName.test(entry[0])
    if (isAnswer && typeof entry[1] === "string") return entry[1]
    return isAnswer && typeof entry[1] === "number" ? String(entry[1]) : input
  }
  return unquote(input.replace(/^(?:final_?)?answer\s{0,4}=\s{0,4}/i, ""))
}

const answerName = /^(?:(?:final[ _-]?)?answer|input|output|result|text)$/i

/** Command R's way to ask for no tool: a call, or a list of calls, of `directly-answer`. */
const isDirect = (body: string): boolean => {
  if (!/^[[{]/.test(body)) return false
  const end = JsonReply.endOf(body, 0)
  const value = end === -1 ? undefined : parseJson(body.slice(0, end))
  const calls: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  return calls.length > 0 && calls.every((call) => /^directly[-_ ]answer$/i.test(callOf(call)?.tool ?? ""))
}

/** Without the backtick that closes a line in code whose label stood behind the one that opens it. */
const withoutTick = (text: string): string =>
  text.endsWith("`") && !text.endsWith("```") && text.split("`").length % 2 === 0 ? text.slice(0, -1).trim() : text

/**
 * Returns whether a text holds an action of the text protocol: where calls are native, that is a call nobody carries
 * out.
 */
export const asksInText = (text: string, isTool: IsTool): boolean => {
  for (let label = findLineLabel(text, 0, ["action"]); label !== undefined; ) {
    const end = text.indexOf("\n", label.end)
    const line = trimMarks(text.slice(label.end, end === -1 ? text.length : end))
    const call = /^[^[({]{1,96}(?=[[({])/.exec(line.slice(0, 128))?.[0]
    const isCalled = call !== undefined && isTool(nameOf(call))
    if (isCalled || (isTool(nameOf(line)) && findLabel(text, label.end, turnLabels)?.kind === "input")) return true
    label = findLineLabel(text, label.end, ["action"])
  }
  return false
}

/** The input behind its label: a whole JSON value, the inside of a code fence, or text up to the next label. */
const readInput = (text: string, label: Label): string => {
  let start = label.end
  while (start < text.length && /[\s*]/.test(text.charAt(start))) start += 1
  // A label inside a code fence is part of the input.
  if (text.startsWith("```", start) && text.includes("\n```", start)) return unfenceFirst(text.slice(start)).trim()
  const limit = nextLabel(text, label.end)
  const rest = text.slice(start, limit)
  if (isNothing(trimMarks(rest))) return ""
  const fenced = unfenceFirst(rest)
  if (fenced !== rest) return fenced.trim()
  const opening = text.charAt(start)
  if (opening === "{" || opening === "[") {
    const end = JsonReply.endOf(text, start)
    if (end !== -1) return text.slice(start, end)
  }
  return unquote(withoutTick(trimMarks(rest)))
}

/** The inside of a code fence that a text starts with, or the text. */
const unfenceFirst = (text: string): string => {
  if (!text.startsWith("```")) return text
  const from = text.indexOf("\n")
  if (from === -1) return text
  const to = text.indexOf("\n```", from)
  return (to === -1 ? text.slice(from + 1) : text.slice(from + 1, to)).trim()
}

const toolKeys = ["action", "tool", "tool_name", "name", "function"]
const inputKeys = ["action_input", "input", "tool_input", "arguments", "args", "parameters"]

/** The call that a JSON object describes. Own keys only. */
const callOf = (value: unknown): { readonly tool: string; readonly input: string } | undefined => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  const entries = new Map<string, unknown>(Object.entries(value).map(([key, item]) => [key.toLowerCase(), item]))
  const tool = toolKeys.map((key) => entries.get(key)).find((item) => typeof item === "string")
  const key = inputKeys.find((name) => entries.has(name))
  const input = key === undefined ? undefined : entries.get(key)
  if (typeof tool !== "string" || (key === undefined && entries.size > 1)) return undefined
  if (input === undefined || input === null) return { tool: nameOf(tool), input: "" }
  return { tool: nameOf(tool), input: typeof input === "string" ? input : JSON.stringify(input) }
}

const marks = " \t\r\n*`\"'“”‘’"
const trimMarks = (text: string): string => {
  const trimmed = text.trim()
  let from = 0
  let to = trimmed.length
  while (from < to && (trimmed.charAt(from) === "*" || trimmed.charAt(from) === " ")) from += 1
  while (to > from && (trimmed.charAt(to - 1) === "*" || trimmed.charAt(to - 1) === " ")) to -= 1
  return trimmed.slice(from, to)
}

/** A tool's name: cut at the first `<|`, without quotes, markdown, a final stop and a trailing `()`. */
export const nameOf = (written: string): string => {
  const cut = written.indexOf("<|")
  const name = cut === -1 ? written : written.slice(0, cut)
  let from = 0
  let to = name.length
  while (from < to && marks.includes(name.charAt(from))) from += 1
  while (to > from && (marks.includes(name.charAt(to - 1)) || ".,:;".includes(name.charAt(to - 1)))) to -= 1
  if (to - from > 2 && name.slice(to - 2, to) === "()") to -= 2
  return name.slice(from, to).trim()
}

const noAction =
  /^(?:none|n\/a|na|null|nil|nothing|not (?:applicable|needed|required|necessary)|no (?:need|(?:(?:further|more|other|additional|suitable) )?(?:actions?|tools?|functions?|calls?|tool calls?)(?: (?:is|are))?(?: (?:needed|required|necessary))?)|-+)(?![\p{L}\p{N}_[/-]|\.\p{L})/iu

/**
 * Returns whether an action says that there is none: `None`, `None (I can answer directly)`, `No tool needed because
 * …`.
 */
const isNone = (body: string): boolean => {
  const said = body
    .slice(0, 60)
    .replace(/^[[(<"'`]/, "")
    .trim()
  return said === "" || noAction.test(said)
}

/** An input that says that there is none. */
const isNothing = (input: string): boolean => /^(?:null|none|nil|undefined|n\/a|`(?:null|none)`)?$/i.test(input)

const isFinish = (tool: string): boolean => /^(?:finish|final[ _]?answer)$/i.test(tool)

/** Without labels such as `Thought:` at the start. */
const withoutLabel = (text: string): string => {
  let rest = text.trim()
  for (let match = leading.exec(rest); match !== null; match = leading.exec(rest))
    rest = rest.slice(match[0].length).trim()
  return rest.endsWith("**") && rest.split("**").length % 2 === 0 ? rest.slice(0, -2).trim() : rest
}
const leading = /^[\s*_#>-]{0,8}thoughts?[ \t*_]{0,4}\d{0,3}[ \t*_]{0,4}[:：][ \t*_]{0,4}/i
