/**
 * An error that carries the run's work so far, so that nothing already done is lost.
 */

/** The error `E` of a run, together with what the run had achieved when it failed. */
export type Failure<E, Progress> = E & { readonly progress: Progress }

/**
 * Attaches the work so far to an error. The error is constructed anew: it may be shared with another run. An error of
 * an inner run, with a `progress` of its own, stays whole as the `cause`, unless another one is given.
 */
export const attach = <E extends Error, Progress>(
  error: E,
  progress: Progress,
  cause?: unknown
): Failure<E, Progress> => {
  const inner = cause ?? ("progress" in error ? error : error.cause)
  const anew: E = Reflect.construct(error.constructor, [{ ...error, ...(inner === undefined ? {} : { cause: inner }) }])
  return Object.assign(anew, { progress })
}
