/**
 * The patterns of this package: what is known of each without loading it, and how to load it. Their order is that of
 * lists and prompts; the first is the Router's fallback.
 */
import type { Llm } from "@forethought/core/Llm"
import type * as Pattern from "@forethought/core/Pattern"
import type { Toolbox } from "@forethought/core/Toolbox"
import { info as adapt } from "./internal/adapt/info.js"
import { info as planAndExecute } from "./internal/planAndExecute/info.js"
import { info as planAndSolve } from "./internal/planAndSolve/info.js"
import { info as planAndSolveAgent } from "./internal/planAndSolveAgent/info.js"
import { info as react } from "./internal/react/info.js"
import * as rewoo from "./internal/rewoo/info.js"

export { info as router } from "./internal/router/info.js"

/** A pattern that can be loaded. */
export interface Entry extends Pattern.Info {
  readonly load: () => Promise<Pattern.Any<Llm | Toolbox>>
}

export const catalogue = [
  { ...react, load: async () => (await import("./ReAct.js")).pattern },
  { ...planAndSolve, load: async () => (await import("./PlanAndSolve.js")).pattern },
  { ...rewoo.sequential, load: async () => (await import("./Rewoo.js")).sequentialPattern },
  { ...rewoo.parallel, load: async () => (await import("./Rewoo.js")).parallelPattern },
  { ...planAndSolveAgent, load: async () => (await import("./PlanAndSolveAgent.js")).pattern },
  { ...planAndExecute, load: async () => (await import("./PlanAndExecute.js")).pattern },
  { ...adapt, load: async () => (await import("./Adapt.js")).pattern }
] as const satisfies ReadonlyArray<Entry>
