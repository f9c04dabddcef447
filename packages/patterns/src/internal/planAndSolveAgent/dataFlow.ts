/**
 * Passes results from one step to the next: all of them in full, as named values, or as the plan declares.
 *
 * @internal
 */
import { ParseError } from "@forethought/core/ReplyError"
import * as JsonReply from "@forethought/core/reply/JsonReply"
import * as NumberedList from "@forethought/core/reply/NumberedList"
import * as ReplyText from "@forethought/core/reply/ReplyText"
import * as Verdict from "@forethought/core/reply/Verdict"
import * as Either from "effect/Either"

/** The origin of a declared input. */
export interface Source {
  /** The number of the step, 1 for the first. */
  readonly step: number
  readonly output: string
}

/** A step of the plan. `inputs` and `outputs` are empty unless the plan declares them. */
export interface AgentStep {
  readonly description: string
  readonly inputs: ReadonlyArray<Source>
  readonly outputs: ReadonlyArray<string>
}

/** A plan as it was read. `isInline`: its steps stood on one line. */
export interface AgentPlan {
  readonly steps: ReadonlyArray<AgentStep>
  readonly isInline: boolean
}

/** The report of a step's executor. */
export interface Report {
  readonly status: "completed" | "failed"
  /** In full. */
  readonly result: string
  readonly collected: ReadonlyArray<readonly [name: string, value: string]>
  /** True if it said that it had completed or failed. A report that says neither is taken for completed. */
  readonly hasVerdict: boolean
}

// ---------------------------------------------------------------------------------------------------------------
// plans
// ---------------------------------------------------------------------------------------------------------------

/** A plan without declarations: a numbered list; see `NumberedList.readPlan`. */
export const readList = (reply: string): Either.Either<AgentPlan, ParseError> =>
  Either.map(NumberedList.readPlan(reply), ({ isInline, steps }) => ({
    steps: steps.map((description) => ({ description, inputs: [], outputs: [] })),
    isInline
  }))

const expected =
  '{"steps": [{"step": "...", "inputs": [{"step": 1, "output": "..."}], "outputs": ["..."]}]} in which every input names an output of an earlier step'

/** Words for what is wrong with a plan that declares its data flow. */
export type DataFlowProblem = JsonReply.Problem | "bad_data_flow"

/**
 * A plan with declarations. Its data flow is valid: every input is an output of an earlier step. `done` are the
 * outputs of the steps completed so far; new steps are numbered after them. All faults are reported at once.
 */
export const readDeclared = (
  reply: string,
  done: ReadonlyArray<ReadonlyArray<string>>
): Either.Either<AgentPlan, ParseError<DataFlowProblem>> =>
  Either.flatMap(JsonReply.read(reply, { keys: ["steps"], expected }), ({ value }) => {
    const faults: Array<string> = []
    const outputs: Array<ReadonlyArray<string>> = [...done]
    const listed: ReadonlyArray<unknown> = Array.isArray(value["steps"]) ? value["steps"] : []
    const steps = listed.map((item): AgentStep => {
      const number = outputs.length + 1
      const fields = JsonReply.named(item, ["step", "inputs", "outputs"])
      const description = typeof fields?.["step"] === "string" ? fields["step"].trim() : ""
      if (description === "") faults.push(`step ${number} has no text`)
      const inputs = asArray(fields?.["inputs"]).flatMap((input): ReadonlyArray<Source> => {
        const source = asSource(input)
        if (source === undefined) {
          faults.push(`an input of step ${number} is not {"step": <number>, "output": "<name>"}`)
          return []
        }
        if (source.step >= number)
          faults.push(`step ${number} needs an output of step ${source.step}, which is not before it`)
        else if (outputs[source.step - 1]?.includes(source.output) !== true) {
          faults.push(`step ${number} needs "${source.output}" of step ${source.step}, which does not produce it`)
        }
        return [source]
      })
      const own = asArray(fields?.["outputs"]).filter((name): name is string => typeof name === "string" && name !== "")
      outputs.push(own)
      return { description, inputs, outputs: own }
    })
    if (steps.length === 0) faults.push("no step")
    return faults.length === 0
      ? Either.right({ steps, isInline: false })
      : Either.left(new ParseError({ problem: "bad_data_flow", expected, found: faults.join("; "), reply }))
  })

/** A plan as {@link readDeclared} reads it. */
export const writeDeclared = (steps: ReadonlyArray<AgentStep>): string =>
  JSON.stringify(
    { steps: steps.map(({ description, inputs, outputs }) => ({ step: description, inputs, outputs })) },
    undefined,
    2
  )

const asArray = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const asSource = (value: unknown): Source | undefined => {
  const fields = JsonReply.named(value, ["step", "output"])
  const step = Number(fields?.["step"])
  const output = fields?.["output"]
  return Number.isInteger(step) && step >= 1 && typeof output === "string" ? { step, output } : undefined
}

// ---------------------------------------------------------------------------------------------------------------
// reports
// ---------------------------------------------------------------------------------------------------------------

/**
 * A report by its last verdict line. Only a `FAILURE` line makes the step a failed one: a result in which things like
 * "Error" are told is a result. The result is the whole reply, so that nothing said in it is lost.
 */
export const readVerdict = (reply: string): Report => {
  const verdict = Either.getOrUndefined(Verdict.read(reply))
  const status = verdict?._tag === "Failure" ? "failed" : "completed"
  const only = verdict === undefined ? "" : verdict._tag === "Success" ? verdict.result : verdict.reason
  const whole = ReplyText.visible(reply)
  const result = whole.includes("\n") || only === "" ? whole : only
  return { status, result, collected: [], hasVerdict: verdict !== undefined }
}

/** A report in JSON, with named values. A reply that is none is read by its verdict line, and names nothing. */
export const readCollected = (reply: string, outputs: ReadonlyArray<string>): Report => {
  const read = JsonReply.read(reply, {
    keys: ["status", "result", "collected"],
    expected: "a report",
    onConflict: "last"
  })
  const report: Report = Either.isLeft(read) ? readVerdict(reply) : fromFields(read.right.value, reply)
  const missing = outputs.filter((name) => !report.collected.some(([given]) => given === name))
  return report.status === "completed" && missing.length > 0
    ? { ...report, status: "failed", result: `The step did not give ${missing.join(", ")}. It said: ${report.result}` }
    : report
}

const fromFields = (fields: Readonly<Record<string, unknown>>, reply: string): Report => {
  const status = typeof fields["status"] === "string" ? fields["status"].trim().toLowerCase() : ""
  const collected = fields["collected"]
  return {
    status: /^(?:fail|error)/.test(status) ? "failed" : "completed",
    // Another word, such as "in progress", says neither.
    hasVerdict: /^(?:fail|error|complete|success|succeeded|done$|ok$)/.test(status),
    result: typeof fields["result"] === "string" ? fields["result"] : ReplyText.visible(reply),
    collected:
      typeof collected === "object" && collected !== null && !Array.isArray(collected)
        ? Object.entries(collected)
            // A plain object takes this name for its prototype, so that nothing can be stored under it.
            .filter(([name]) => name !== "__proto__")
            .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)])
        : []
  }
}
