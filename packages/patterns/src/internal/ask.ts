/**
 * Asking a model for a reply that a pattern goes on with.
 *
 * @internal
 */
import * as Llm from "@forethought/core/Llm"
import * as PromptTemplate from "@forethought/core/PromptTemplate"

/** A filled prompt as the only message. */
export const prompt = <Hole extends string>(
  template: PromptTemplate.PromptTemplate<Hole>,
  values: { readonly [hole in Hole]: string }
): ReadonlyArray<Llm.Message> => [{ role: "user", content: PromptTemplate.render(template, values) }]

/**
 * Returns whether an error ends the run, whichever pattern or executor it came from: the model cannot be reached. A
 * model that has nothing to say fails only what it was asked for.
 */
export const endsRun = (error: unknown): error is Llm.LlmError =>
  error instanceof Llm.LlmError && error.reason._tag !== "EmptyReply"
