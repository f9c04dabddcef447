/**
 * Vocabulary and ports of Forethought. Each module is also a subpath, `@forethought/core/Llm`, which loads less.
 */
export * as CallPath from "./CallPath.js"
export * as Dag from "./Dag.js"
export * as Executor from "./Executor.js"
export * as Failure from "./Failure.js"
export * as Journal from "./Journal.js"
export * as Llm from "./Llm.js"
export * as PatternTool from "./PatternTool.js"
export * as PromptTemplate from "./PromptTemplate.js"
export * as Reask from "./Reask.js"
export * as ReplyError from "./ReplyError.js"
export * as Run from "./Run.js"
export * as RunEvent from "./RunEvent.js"
export * as RunKey from "./RunKey.js"
export * as Scheduler from "./Scheduler.js"
export * as Tool from "./Tool.js"
export * as Toolbox from "./Toolbox.js"
