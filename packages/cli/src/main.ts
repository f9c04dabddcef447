/**
 * The edge of the program: the process's streams, signals and exit code.
 */
import { readFileSync } from "node:fs"
import { isatty } from "node:tty"
import { ExitCode, UsageError } from "./errors.js"
import { main } from "./program.js"
import * as Terminal from "./screen/terminal.js"

const maxQuestion = 1_000_000

/** Nothing has begun then that an interruption could end: a signal ends the program at once. */
let isReading = false

const readStdin = async (): Promise<string> => {
  if (ending !== undefined) end(exitCodes[ending])
  isReading = true
  let text = ""
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += String(chunk)
    if (text.length > maxQuestion)
      throw new UsageError(`The question on standard input is longer than ${maxQuestion} characters.`)
  }
  isReading = false
  return text
}

const version = (): string => {
  const data: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
  return typeof data === "object" && data !== null && "version" in data ? String(data.version) : "unknown"
}

/** Exit codes of a program that a signal has ended: 128 and the signal's number. */
const exitCodes = { SIGINT: ExitCode.interrupted, SIGTERM: 143, SIGHUP: 129 } as const

let ending: keyof typeof exitCodes | undefined
let unwritten: Error | undefined
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A reader that went away, as in `forethought … | head -1`, knows that it has not read everything.
  if (error.code === "EPIPE" && ending === undefined) process.exit(ExitCode.failed)
  unwritten ??= error
})
// Without a place for the progress there can still be an answer.
process.stderr.on("error", () => {})

/** The streams of a terminal, which may be closed before the program ends. */
const terminals = [0, 1, 2].filter((fd) => isatty(fd))

/**
 * Ends the process. Node crashes at its exit where its terminal was closed: then the signal that tells so ends it, by
 * its own action, which a shell reads as 129 too.
 */
const end = (code: number): never => {
  if (!terminals.every((fd) => isatty(fd))) {
    process.removeAllListeners("SIGHUP")
    process.kill(process.pid, "SIGHUP")
  }
  return process.exit(code)
}

const interruption = new AbortController()
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    if (ending === undefined) {
      ending = signal
      interruption.abort()
      if (isReading) end(exitCodes[signal])
      return
    }
    // A terminal that is closed says so twice, by its shell and by the system.
    if (signal === "SIGHUP" && ending === "SIGHUP") return
    // The second time, a person does not want to wait for what hangs.
    end(exitCodes[signal])
  })
}

const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true

const code = await main(process.argv.slice(2), version(), {
  folder: process.cwd(),
  env: process.env,
  streams: {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text)
  },
  stderr: process.stderr,
  readStdin,
  terminal: isTerminal ? Terminal.make(process.stdin, (text) => void process.stderr.write(text)) : undefined,
  signal: interruption.signal
})

/** If a signal ended the run, that is the news, even if the terminal is gone that would have shown it. */
const exitCode = (): number => {
  if (code === ExitCode.interrupted && ending !== undefined) return exitCodes[ending]
  return unwritten === undefined ? code : ExitCode.failed
}

// Sockets that a model's server keeps open must not keep the program.
process.stdout.write("", () => {
  // An error of the stream is told after the calls that wait for it.
  setImmediate(() => {
    if (unwritten !== undefined) {
      process.stderr.write(`forethought: The answer could not be written: ${unwritten.message}\n`)
    }
    process.stderr.write("", () => end(exitCode()))
  })
})
