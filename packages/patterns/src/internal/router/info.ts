/**
 * The Router as data.
 *
 * @internal
 */
import type * as Pattern from "@forethought/core/Pattern"
import { holes, prompts, reask } from "../entries.js"

export const info = {
  name: "auto",
  summary: "asks a model which pattern fits, and runs that one",
  chooseWhen: "tasks of all kinds come in",
  tools: "optional",
  roles: ["router"],
  keepsLast: true,
  options: {
    fallback: { kind: "text", description: "the pattern that is taken when the router's reply cannot be read" },
    prompts: prompts({ router: holes("task", "patterns") }),
    reask
  }
} as const satisfies Pattern.Info
