/**
 * Ready-made tools. Each module is also a subpath, `@forethought/tools/Calculator`, which loads less.
 */
export * as Calculator from "./Calculator.js"
export * as LlmWorker from "./LlmWorker.js"
export * as Lookup from "./Lookup.js"
