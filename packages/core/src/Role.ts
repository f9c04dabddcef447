/**
 * The roles that a model is asked to take. Loads nothing, so that a program can name the roles before it needs a model.
 */

/** Every {@link Role}, in a fixed order. */
export const roles = [
  "planner",
  "executor",
  "replanner",
  "solver",
  "reasoner",
  "extractor",
  "router",
  "finalizer"
] as const

/** The role that a model takes in a call. Each role can have its own model, see `Llm.byRole`. */
export type Role = (typeof roles)[number]
