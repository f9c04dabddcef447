/**
 * The planning patterns. Each module is also a subpath, `@forethought/patterns/Rewoo`, which loads less.
 */
export * as Rewoo from "./Rewoo.js"
