/**
 * Tells when two steps are the same step.
 *
 * @internal
 */

/** The text without case, white space and punctuation: equal for steps that a person would call equal. */
export const fold = (step: string): string => {
  const isAscii = /^[\x20-\x7e]*$/.test(step)
  const folded = isAscii
    ? step.toLowerCase().replaceAll(/[^a-z0-9$+<=>^`|~]+/g, "")
    : step
        .normalize("NFKC")
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\p{S}]/gu, "")
  // A step of nothing but punctuation is still itself.
  return folded === "" ? step.trim() : folded
}
