/**
 * The planning patterns. Each module is also a subpath, `@forethought/patterns/Rewoo`, which loads less.
 */
export * as Adapt from "./Adapt.js"
export * as PlanAndExecute from "./PlanAndExecute.js"
export * as PlanAndSolve from "./PlanAndSolve.js"
export * as PlanAndSolveAgent from "./PlanAndSolveAgent.js"
export * as ReAct from "./ReAct.js"
export * as Rewoo from "./Rewoo.js"
export * as Router from "./Router.js"
