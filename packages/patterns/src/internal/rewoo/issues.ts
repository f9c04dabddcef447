/**
 * What can be wrong with a ReWOO plan. Plain data, so that an error can be stored and sent; the text for a model or a
 * person is derived by {@link issueMessage}.
 */
import { excerpt } from "@forethought/core/ReplyError"

/** One thing that is wrong with a plan. Variables are written as in the plan: `#E1`. */
export type PlanIssue =
  /** A line that looks like a call, but is not `#E<n> = Tool[input]`. `line` is as written, `at` its offset. */
  | { readonly _tag: "Unreadable"; readonly line: string; readonly at: number; readonly why: string }
  /** No call at all. */
  | { readonly _tag: "Empty" }
  | { readonly _tag: "TooLong"; readonly length: number; readonly max: number }
  /** Two steps store their result under the same variable. */
  | { readonly _tag: "DuplicateVariable"; readonly variable: string }
  /** An input mentions a variable that no step has. */
  | { readonly _tag: "UnknownVariable"; readonly variable: string; readonly mentionedBy: string }
  /** An input mentions a variable of a later step, without a cycle. */
  | { readonly _tag: "LaterVariable"; readonly variable: string; readonly mentionedBy: string }
  /** Steps that wait for each other, all of them, in plan order. A step that mentions itself is a cycle of one. */
  | { readonly _tag: "Cycle"; readonly variables: ReadonlyArray<string> }
  /** The plan was refused when it was reviewed, see `PlanApproval`. */
  | {
      readonly _tag: "UnknownTool"
      readonly variable: string
      readonly tool: string
      readonly available: ReadonlyArray<string>
    }
  | {
      readonly _tag: "AmbiguousTool"
      readonly variable: string
      readonly tool: string
      readonly candidates: ReadonlyArray<string>
    }

/** Says what is wrong and what to write instead, for a model as well as for a person. */
export const issueMessage = (issue: PlanIssue): string => {
  switch (issue._tag) {
    case "Unreadable":
      return `Cannot read ${excerpt(issue.line)}: ${issue.why}`
    case "Empty":
      return "The plan has no step. Write each step as two lines, `Plan: <reason>` and `#E1 = Tool[input]`."
    case "TooLong":
      return `The plan has ${issue.length} steps, but at most ${issue.max} are allowed. Write a shorter plan.`
    case "DuplicateVariable":
      return `${issue.variable} is assigned twice. Give every step its own variable, and write one plan only.`
    case "UnknownVariable":
      return `${issue.mentionedBy} uses ${issue.variable}, but no step has that variable.`
    case "LaterVariable":
      return `${issue.mentionedBy} uses ${issue.variable}, which comes later. A step may use earlier steps only.`
    case "Cycle":
      return issue.variables.length === 1
        ? `${issue.variables[0]} uses itself. A step may use earlier steps only.`
        : `${issue.variables.join(", ")} wait for each other in a cycle. A step may use earlier steps only.`

    case "UnknownTool":
      return issue.available.length === 0
        ? `${issue.variable} uses the tool ${excerpt(issue.tool)}, but there are no tools.`
        : `${issue.variable} uses the tool ${excerpt(issue.tool)}, which does not exist. Use one of: ${issue.available.join(", ")}.`
    case "AmbiguousTool":
      return `${issue.variable} uses the tool ${excerpt(issue.tool)}, which may be any of: ${issue.candidates.join(", ")}. Write the exact name.`
  }
}
