/**
 * Model adapters. The providers `OpenAi`, `Anthropic` and `Google` are not here, because each needs its own optional
 * package: import them by their subpath, such as `@forethought/ai/Anthropic`.
 */
export * as Budget from "./Budget.js"
export * as Cache from "./Cache.js"
export * as Fallback from "./Fallback.js"
export * as LanguageModel from "./LanguageModel.js"
export * as OpenAiCompatible from "./OpenAiCompatible.js"
export * as Prices from "./Prices.js"
export * as RateLimit from "./RateLimit.js"
export * as Retry from "./Retry.js"
export * as Toolkit from "./Toolkit.js"
