/**
 * What is said about an option's label: denied, doubted, or a word like any other.
 *
 * @internal
 */

/** A label that stands in a text. */
export interface Hit<L> {
  readonly label: L
  readonly start: number
  readonly end: number
}

export const negation =
  /\b(?:not|never|neither|nor|none|cannot|can't|isn't|aren't|won't|doesn't|wouldn't|couldn't|don't|no|incorrect|wrong|false|eliminat\w{1,4}|exclud\w{1,4}|rule[sd]? out|ruling out|reject\w{0,3}|except|rather than|instead of|unlike|fails?|failed|impossible|invalid|discard\w{0,3})\b/i
/** A change of mind at the start of a clause: its `no` is not a negation. */
const afterthought =
  /^[\s*_]{0,4}(?:(?:oh|hmm+|no|nope|wait|sorry|actually|oops)(?:[,!…—–-]{1,3}|(?=\s+(?:wait|sorry|actually|hmm)))\s{0,2}|(?:wait|actually)\s){1,4}/i

/** Returns whether the labels of a clause stand under a negation. */
export const isNegated = <L>(text: string, from: number, to: number, hits: ReadonlyArray<Hit<L>>): boolean =>
  negation.test(between(text, from, to, hits).replace(afterthought, ""))

/** A clause without the labels in it, which may be words of negation themselves: `no`, `false`. */
const between = <L>(text: string, from: number, to: number, hits: ReadonlyArray<Hit<L>>): string => {
  let rest = ""
  let at = from
  for (const hit of hits) {
    rest += `${text.slice(at, hit.start)} … `
    at = hit.end
  }
  return (rest + text.slice(at, to)).replaceAll("’", "'")
}

const denial =
  /^\s{1,3}(?:(?:is|was|must be|has to be|can be|could be|seems|looks)\s{1,3})?(?:clearly |also |definitely |obviously )?(?:(?:is|was|does|can|could|would)(?:n't| not)|not|cannot|wrong|incorrect|false|invalid|impossible|ruled out|eliminated|excluded|out)(?![a-z])/i

/** `D is wrong`, `D can be ruled out`, but not `A, not B` nor `A not B`. */
export const isDenied = (text: string, at: number, end: number): boolean => {
  const rest = text.slice(at, Math.min(end, at + 60)).replaceAll("’", "'")
  return denial.test(rest) && !/^\s{1,3}not\s{1,3}(?:option |choice )?[("'*]{0,3}[A-Z](?![\p{L}])/u.test(rest)
}

const behindNo =
  /^\s{1,3}(?!(?:because|since|as|it|this|that|there|he|she|they|we|the|but|and|or|so|for|given|if)\b)\p{L}/iu

/** `No idea`, `There is no evidence`: the word goes with the next one and is not an answer. */
export const isDeterminer = <L extends string>(text: string, hit: Hit<L>): boolean =>
  hit.label.toLowerCase() === "no" && behindNo.test(text.slice(hit.end, hit.end + 16))

const sayBefore =
  /(?:^|[:*"'“‘([`,;.!?\n]|\b(?:is|be|say|says|said|answer|or|and|either|so|thus|therefore|definitely))\s{0,2}[*_"'“‘([`]{0,3}$/i

/** Returns whether `yes` or `no` stands in a sentence as a word like any other. */
export const isCommonWord = <L extends string>(text: string, hit: Hit<L>): boolean => {
  if (!/^(?:yes|no)$/i.test(hit.label)) return false
  if (isDeterminer(text, hit)) return true
  const isSaid = sayBefore.test(text.slice(Math.max(0, hit.start - 24), hit.start))
  return (
    !isSaid ||
    !/^(?:$|[^\p{L}\p{N}\s]|\s+(?:because|since|as|or|and|but|so|if|given|it|this|that)\b|\s*$|\n)/iu.test(
      text.slice(hit.end, hit.end + 12)
    )
  )
}
