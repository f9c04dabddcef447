/**
 * Asking the person at the terminal: questions on standard error, answers from standard input.
 */
import { createInterface } from "node:readline"

export interface Terminal {
  /**
   * Writes a prompt and reads a line; `undefined` where the input has ended. What was typed before the prompt is no
   * answer to it, unless the prompt is empty.
   */
  readonly ask: (prompt: string, signal: AbortSignal) => Promise<string | undefined>
}

/** A terminal on two streams, which must be one. */
export const make = (input: NodeJS.ReadableStream, write: (text: string) => void): Terminal => {
  let lines: Array<string> = []
  let waiting: ((line: string | undefined) => void) | undefined
  let ended = false
  let isOpen = false
  const open = () => {
    isOpen = true
    // Not in raw mode: Ctrl-C stays a signal to the process.
    createInterface({ input, terminal: false })
      .on("line", (line) => {
        if (waiting === undefined) lines.push(line)
        else waiting(line)
      })
      .on("close", () => {
        ended = true
        waiting?.(undefined)
      })
  }
  return {
    ask: (prompt, signal) => {
      if (!isOpen) open()
      if (prompt !== "") {
        lines = []
        write(prompt)
      }
      const [next] = lines.splice(0, 1)
      if (next !== undefined || ended || signal.aborted) return Promise.resolve(next)
      return new Promise((done) => {
        const finish = (line: string | undefined) => {
          waiting = undefined
          signal.removeEventListener("abort", stop)
          done(line)
        }
        const stop = () => finish(undefined)
        signal.addEventListener("abort", stop)
        waiting = finish
      })
    }
  }
}
