/**
 * `@effect/ai` Toolkits as toolboxes, and toolboxes as Toolkits.
 */
import * as AiTool from "@effect/ai/Tool"
import type * as AiToolkit from "@effect/ai/Toolkit"
import * as Tool from "@forethought/core/Tool"
import * as Toolbox from "@forethought/core/Toolbox"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as LenientTool from "./internal/lenientTool.js"

/**
 * A Toolbox of the tools of a Toolkit. It needs the Toolkit's handlers, as `toolkit.toLayer` gives them.
 *
 * Each tool keeps its name, description, JSON Schema, and the annotations `Readonly` and `Idempotent`. Input that does
 * not fit fails with `InvalidToolInput`, and whatever the handler fails with becomes `ToolFailed`, in either failure
 * mode. Tools that a provider runs by itself cannot be called from here and are left out.
 *
 * @example
 * ```ts
 * const tools = fromToolkit(toolkit).pipe(Layer.provide(toolkit.toLayer({ Weather: ({ city }) => forecast(city) })))
 * ```
 */
export const fromToolkit = <Tools extends Record<string, AiTool.Any>>(
  toolkit: AiToolkit.Toolkit<Tools>
): Layer.Layer<Toolbox.Toolbox, never, AiTool.HandlersFor<Tools> | AiTool.Requirements<Tools[keyof Tools]>> =>
  Layer.unwrapEffect(
    Effect.map(toolkit, (handlers) =>
      Toolbox.layer(Object.keys(handlers.tools).flatMap((name) => fromTool(handlers, name)))
    )
  )

const fromTool = <Tools extends Record<string, AiTool.Any>, Name extends keyof Tools & string>(
  handlers: AiToolkit.WithHandler<Tools>,
  name: Name
): ReadonlyArray<Tool.Tool<AiTool.Requirements<Tools[Name]>>> => {
  const tool: AiTool.Any | undefined = handlers.tools[name]
  if (tool === undefined || (AiTool.isProviderDefined(tool) && !tool.requiresHandler)) return []
  // The handler decodes for itself, although the type of its input says decoded: so it is given the encoded form.
  const parameters = Schema.make<unknown, AiTool.Parameters<Tools[Name]>>(tool.parametersSchema.ast)
  const encode = Schema.encode(parameters)
  // The annotation's default would say that every tool changes something.
  const isAnnotated = tool.annotations.unsafeMap.has(AiTool.Readonly.key)
  const readOnly = isAnnotated ? { readOnly: Context.get(tool.annotations, AiTool.Readonly) } : {}
  const made = Tool.make({
    name: tool.name,
    description: tool.description ?? AiTool.getDescriptionFromSchemaAst(tool.parametersSchema.ast) ?? "",
    parameters: Schema.make<unknown, object>(tool.parametersSchema.ast),
    ...readOnly,
    idempotent: Context.get(tool.annotations, AiTool.Idempotent),
    execute: (input) =>
      Effect.flatMap(encode(input), (encoded) => handlers.handle(name, encoded)).pipe(
        Effect.flatMap(({ isFailure, encodedResult }) =>
          isFailure ? Effect.fail(encodedResult) : Effect.succeed(encodedResult)
        )
      )
  })
  return [made]
}

/**
 * The tools of the Toolbox in context as a Toolkit with handlers, to give to a LanguageModel. A call that fails gives
 * the model its error text as the result.
 *
 * The id of each call is `<call>-<n>`, where n counts from 1 in the order in which calls start.
 */
export const toToolkit = (
  options: { /** Default: `toolkit/call`. */ readonly call?: string } = {}
): Effect.Effect<AiToolkit.WithHandler<Record<string, LenientTool.LenientTool>>, never, Toolbox.Toolbox> =>
  Effect.map(Toolbox.Toolbox, (toolbox) => {
    let calls = 0
    return {
      tools: LenientTool.record(toolbox.tools),
      handle: (name, params) =>
        Effect.suspend(() => {
          calls += 1
          const info = toolbox.tools.find((tool) => tool.name === name)
          const raw = JSON.stringify(params)
          const input = info === undefined ? Either.right(raw) : Tool.fromArguments(info, raw)
          const call = `${options.call ?? "toolkit/call"}-${calls}`
          return Effect.flatMap(input, (text) => toolbox.call({ call, tool: name, input: text })).pipe(
            Effect.map((result) => ({ isFailure: false, result, encodedResult: result })),
            Effect.catchAll(({ message }) =>
              Effect.succeed({ isFailure: true, result: message, encodedResult: message })
            )
          )
        })
    }
  })
