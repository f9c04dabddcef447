/** An attempt, or the decomposition that follows its failure. */
export type Line =
  | { readonly kind: "attempt"; readonly task: string; readonly depth: number; readonly succeeded: boolean }
  | { readonly kind: "split"; readonly subSteps: ReadonlyArray<string>; readonly logic: string }

export interface RecordedRun {
  readonly name: string
  readonly lines: ReadonlyArray<Line>
  readonly maxDepth: number
}

export interface Answers {
  readonly attempt: (task: string) => boolean
  readonly plan: (isAgain: boolean) => { readonly logic: string; readonly sub_steps: ReadonlyArray<string> }
}

export interface Counts {
  readonly same: number
  readonly decomposition: number
  readonly split: number
  readonly different: ReadonlyArray<string>
}

export const readRuns: (folder: string) => ReadonlyArray<RecordedRun>
export const replayAll: (
  runs: ReadonlyArray<RecordedRun>,
  adapt: (task: string, maxDepth: number, answers: Answers) => Promise<boolean>
) => Promise<Counts>
export const linesOf: (counts: Counts) => ReadonlyArray<string>
