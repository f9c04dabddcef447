/**
 * `forethought models`: the kinds of model, and which can be used now.
 */
import * as Effect from "effect/Effect"
import { ExitCode } from "../errors.js"
import * as ModelSpec from "../model/ModelSpec.js"
import type { Process } from "../process.js"
import { printable, printableJson } from "../screen/text.js"

export const models = (asJson: boolean, { env, streams }: Process): Effect.Effect<number> =>
  Effect.map(ModelSpec.usable(env), (kinds) => {
    const lines = kinds.flatMap(({ summary, usable, usage, variables, why }) => [
      `${usable ? "✔" : "✘"} ${usage}`,
      `    ${summary}`,
      `    ${usable ? "usable" : "not usable"}: ${why}`,
      ...(variables.length === 0 ? [] : [`    reads ${variables.join(", ")}`])
    ])
    streams.out(`${asJson ? printableJson(kinds) : lines.map(printable).join("\n")}\n`)
    return ExitCode.answered
  })
