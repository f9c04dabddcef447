/**
 * The reader of ReAct's text protocol: Thought / Action / Action Input / Observation.
 *
 * @internal
 */
import { excerpt, ParseError } from "@forethought/core/ReplyError"
import { unfence, visible } from "@forethought/core/reply/ReplyText"
import * as Either from "effect/Either"
import { unquote } from "../unquote.js"
import { bracketEnd, jsonEnd } from "./balance.js"
import { answerEnd, findLabel, findLineLabel, isLineStart, type Label, nextLabel, turnLabels } from "./labels.js"
import { type IsTool, isBareCall, parseJson, toolCallMarkup } from "./markup.js"

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

/**
 * Reads one turn out of a whole reply.
 *
 * - Only the first action counts; all that stands behind it (an invented observation, an answer made from it) is dropped.
 * - `Action: search[x]`, `search("x")` and `{"action": …, "action_input": …}` are read as well; `Finish[x]` and the
 *   action `Final Answer` are answers.
 * - A reply without an action is the answer, as a whole.
 * - Fails with a `ParseError`: `empty_reply`; `tool_call_markup` where a call is written in a model's own markup, or as
 *   JSON among other text (see {@link toolCallMarkup}, also for `isTool`); `malformed` where the JSON of an action names
 *   no tool, and where an answer follows an observation that no action asked for.
 */
export const readTurn = (reply: string, isTool?: IsTool): Either.Either<Turn, ParseError> => {
  const text = visible(reply)
  const fail = (problem: string, at: number) =>
    Either.left(new ParseError({ problem, expected, found: text === "" ? "an empty reply" : excerpt(text, at), reply }))
  const answer = (written: string, thought: string): Either.Either<Turn, ParseError> => {
    const said = withoutLabel(written)
    if (said === "") return fail("empty_reply", 0)
    if (toolCallMarkup(said, isTool)) return fail("tool_call_markup", Math.max(0, text.indexOf(said)))
    return Either.right(thought === "" ? { _tag: "Answer", text: said } : { _tag: "Answer", text: said, thought })
  }
  const action = (thought: string, tool: string, input: string): Either.Either<Turn, ParseError> => {
    if (isFinish(tool)) return input === "" ? Either.right({ _tag: "NoTool", thought }) : answer(input, thought)
    return Either.right({ _tag: "Action", thought, tool, input })
  }

  if (text === "") return fail("empty_reply", 0)
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
    const end = findLabel(text, 0, ["observation"])?.start ?? text.length
    return answer(text.slice(0, end), "")
  }
  const thought = withoutLabel(text.slice(0, first.start))
  if (first.kind === "answer") return answer(trimMarks(text.slice(first.end, answerEnd(text, first.end))), thought)
  if (first.kind === "input") return fail("malformed", first.start)

  const next = findLabel(text, first.end, [...turnLabels, "arguments"])
  const hasInput = next?.kind === "input" || next?.kind === "arguments"
  const body = trimMarks(text.slice(first.end, next?.start ?? text.length))
  const given = next !== undefined && hasInput ? readInput(text, next) : undefined
  if (isNone(body)) {
    const end = next !== undefined && hasInput ? findLabel(text, next.end, ["answer", "action", "observation"]) : next
    return end?.kind === "answer"
      ? answer(trimMarks(text.slice(end.end, answerEnd(text, end.end))), thought)
      : Either.right({ _tag: "NoTool", thought })
  }
  const fenced = unfenceFirst(body)
  if (fenced.startsWith("{")) {
    const end = jsonEnd(fenced, 0)
    const call = end === -1 ? undefined : callOf(parseJson(fenced.slice(0, end)))
    return call === undefined ? fail("malformed", first.start) : action(thought, call.tool, given ?? call.input)
  }
  const line = fenced.split("\n", 1)[0] ?? ""
  const name = nameOf(line.includes("<|") ? line.slice(0, line.indexOf("<|")) : line)
  if (line.includes("<|")) return action(thought, name, given ?? "")
  if (toolCallMarkup(line, isTool)) return fail("tool_call_markup", first.start)
  const call = /^[^[({]{1,96}/.exec(fenced.slice(0, 128))
  const open = call?.[0].length ?? 0
  const opening = fenced.charAt(open)
  if (call !== null && (opening === "[" || opening === "(") && !call[0].includes("\n")) {
    const end = bracketEnd(fenced, open)
    const inside = fenced.slice(open + 1, end === -1 ? Math.max(open + 1, line.length) : end).trim()
    return action(thought, nameOf(call[0]), given ?? (isNothing(inside) ? "" : unquote(inside)))
  }
  if (call !== null && opening === "{" && !call[0].includes("\n") && given === undefined) {
    const end = jsonEnd(fenced, open)
    if (end !== -1) return action(thought, nameOf(call[0]), fenced.slice(open, end))
  }
  return action(thought, name, given ?? "")
}

/** The first action or answer. `Tool:` is one only with an input right behind it. */
const firstLabel = (text: string): Label | undefined => {
  const first = unlessAction(text, findLabel(text, 0, ["action", "answer", "input"]))
  const tool = findLabel(text, 0, ["tool"])
  if (tool === undefined || (first !== undefined && first.kind !== "input" && first.start < tool.start)) return first
  const next = findLabel(text, tool.end, [...turnLabels, "arguments"])
  return next?.kind === "input" || next?.kind === "arguments" ? tool : first
}

/** An answer inside a line of thought (`I could say Final Answer: 5`) is none where the turn goes on to an action. */
const unlessAction = (text: string, first: Label | undefined): Label | undefined => {
  if (first?.kind !== "answer" || isLineStart(text, first.start)) return first
  const action = findLineLabel(text, first.end, ["action", "observation", "question", "answer"])
  if (action?.kind !== "action") return first
  const end = text.indexOf("\n", action.end)
  return isNone(trimMarks(text.slice(action.end, end === -1 ? text.length : end))) ? first : action
}

/** Whether a text holds an action of the text protocol: where calls are native, that is a call nobody carries out. */
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
  const limit = nextLabel(text, label.end)
  const rest = text.slice(start, limit)
  if (isNothing(trimMarks(rest))) return ""
  const fenced = unfenceFirst(rest)
  if (fenced !== rest) return fenced.trim()
  const opening = text.charAt(start)
  if (opening === "{" || opening === "[") {
    const end = jsonEnd(text, start)
    if (end !== -1) return text.slice(start, end)
  }
  return unquote(trimMarks(rest))
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

/** Whether an action says that there is none: `None`, `None (I can answer directly)`, `No tool needed because …`. */
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
