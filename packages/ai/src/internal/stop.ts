/** Where the first stop sequence begins, or the end of the text. */
export const stopIndex = (text: string, stop: ReadonlyArray<string>): number =>
  Math.min(text.length, ...stop.map((word) => (word === "" ? -1 : text.indexOf(word))).filter((index) => index >= 0))
