/**
 * Model adapters. The providers `OpenAi`, `Anthropic` and `Google` are not here, because each needs its own optional
 * package: import them by their subpath, such as `@forethought/ai/Anthropic`.
 */
export type * as Delta from "./Delta.js"
export * as LanguageModel from "./LanguageModel.js"
export * as OpenAiCompatible from "./OpenAiCompatible.js"
export * as Retry from "./Retry.js"
export * as Toolkit from "./Toolkit.js"
