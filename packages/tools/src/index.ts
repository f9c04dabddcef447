/**
 * Ready-made tools. Each module is also a subpath, `@forethought/tools/Calculator`, which loads less.
 *
 * `Mcp` and `McpServer` are subpaths only: they need the package `@modelcontextprotocol/sdk`.
 */
export * as Calculator from "./Calculator.js"
export * as HttpGet from "./HttpGet.js"
export * as LlmWorker from "./LlmWorker.js"
export * as Lookup from "./Lookup.js"
export * as ReadFile from "./ReadFile.js"
export * as WebSearch from "./WebSearch.js"
export * as Wikipedia from "./Wikipedia.js"
