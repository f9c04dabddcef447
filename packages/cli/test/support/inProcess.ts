/** Runs the program in this process, with streams of its own: faster than a process for each case. */
import { main } from "../../src/program.js"
import type { Terminal } from "../../src/screen/terminal.js"
import { folder } from "./forethought.js"

export interface Told {
  readonly code: number
  readonly out: string
  readonly err: string
}

export const inProcess = async (
  args: ReadonlyArray<string>,
  around: {
    readonly folder: string
    readonly signal?: AbortSignal
    readonly onErr?: (err: string) => void
    readonly terminal?: Terminal
    readonly env?: { readonly [name: string]: string }
  }
): Promise<Told> => {
  let out = ""
  let err = ""
  const write = (text: string) => {
    err += text
    around.onErr?.(err)
  }
  const code = await main(args, "0.0.0", {
    folder: around.folder,
    env: around.env ?? {},
    streams: {
      out: (text) => {
        out += text
      },
      err: write
    },
    stderr: { write },
    readStdin: async () => "",
    terminal: around.terminal,
    signal: around.signal ?? new AbortController().signal
  })
  return { code, out, err }
}

/** Runs a pattern on scripted replies. */
export const runScript = async (
  pattern: string,
  replies: ReadonlyArray<unknown>,
  flags: ReadonlyArray<string> = [],
  files: { readonly [name: string]: unknown } = {}
): Promise<Told & { readonly events: ReadonlyArray<unknown> }> => {
  using place = folder({ "script.json": replies, ...files })
  const { readFileSync } = await import("node:fs")
  const args = ["run", pattern, "q", "-m", "scripted:script.json", "--events", "events.jsonl", ...flags]
  const told = await inProcess(args, { folder: place.path })
  const lines = readFileSync(place.file("events.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
  return { ...told, events: lines.map((line): unknown => JSON.parse(line)) }
}
