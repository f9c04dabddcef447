/**
 * Reading text files under one folder, and listing what is in it.
 */
import type { Dirent } from "node:fs"
import { readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import * as Options from "@forethought/core/Options"
import * as Tool from "@forethought/core/Tool"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { locate, openFile, PathError, pathProblem, type Root } from "./internal/rootedFile.js"

// ---------------------------------------------------------------------------------------------------------------
// errors
// ---------------------------------------------------------------------------------------------------------------

/** The path was not read: it is not there, not under the root, or no text. */
export class ReadFileError extends Data.TaggedError("ReadFileError")<{
  readonly problem: string
}> {
  override get message(): string {
    return this.problem
  }
}

// ---------------------------------------------------------------------------------------------------------------
// models
// ---------------------------------------------------------------------------------------------------------------

/** Files that may be read. */
export interface FileOptions {
  /** The folder. Nothing outside of it is read, neither by `..` nor through a link. */
  readonly root: string
  /** Set to true to read and list names that start with a dot, such as `.env`. Default: false. */
  readonly hidden?: boolean
  /** The tool's name. Default: `ReadFile` or `ListFiles`. */
  readonly name?: string
}

export interface ReadFileOptions extends FileOptions {
  /** The size of the largest file that is read, in bytes. Default: 1,000,000. */
  readonly maxBytes?: number
}

export interface ListFilesOptions extends FileOptions {
  /** Maximum number of names listed. A last line says how many more there are. Default: 1,000. */
  readonly maxEntries?: number
}

// ---------------------------------------------------------------------------------------------------------------
// constructors
// ---------------------------------------------------------------------------------------------------------------

/**
 * A tool that takes a path relative to the root and gives the file's text.
 *
 * Text is UTF-8, or UTF-16 with a byte order mark. Fails with {@link ReadFileError} on a path that leads out of the
 * root, on what is not a regular file, and on a file that is larger than `maxBytes` or not text. Errors do not tell
 * where the root is. A hard link cannot be told from a file, so put nothing there that others may link.
 */
export const make = (options: ReadFileOptions): Tool.Tool => {
  Options.rejectUnknown("ReadFile.make", options, ["root", "hidden", "name", "maxBytes"])
  const root = rootOf(options)
  const maxBytes = Options.wholeNumber("ReadFile.make", "maxBytes", options.maxBytes ?? 1_000_000)
  return Tool.make({
    name: options.name ?? "ReadFile",
    description: "Reads a text file. Takes the file's path, such as notes/today.txt.",
    idempotent: true,
    readOnly: true,
    execute: (input) => attempt(() => readText(root, pathOf(input), maxBytes))
  })
}

/**
 * A tool that takes the path of a folder, or nothing for the root, and gives what is in it: a name on each line,
 * sorted, folders with a `/` at the end and files with their size. Links that lead out and what is neither file nor
 * folder are left out.
 */
export const list = (options: ListFilesOptions): Tool.Tool => {
  Options.rejectUnknown("ReadFile.list", options, ["root", "hidden", "name", "maxEntries"])
  const root = rootOf(options)
  const maxEntries = Options.wholeNumber("ReadFile.list", "maxEntries", options.maxEntries ?? 1_000)
  return Tool.make({
    name: options.name ?? "ListFiles",
    description: "Lists the files of a folder. Takes the folder's path, or . for the topmost folder.",
    idempotent: true,
    readOnly: true,
    execute: (input) => attempt(() => listFolder(root, pathOf(input), maxEntries))
  })
}

// ---------------------------------------------------------------------------------------------------------------
// private
// ---------------------------------------------------------------------------------------------------------------

const rootOf = ({ hidden, root }: FileOptions): Root => ({ path: root, hidden: hidden ?? false })

const attempt = (read: () => Promise<string>): Effect.Effect<string, ReadFileError> =>
  Effect.tryPromise({ try: read, catch: (error) => new ReadFileError({ problem: pathProblem(error) }) })

const pathOf = (input: string): string => {
  const path = input.trim()
  return path === "" ? "." : path
}

const readText = async (root: Root, path: string, maxBytes: number): Promise<string> => {
  const file = await openFile(root, path)
  try {
    // One byte more than allowed: the size that a file states need not be true.
    const buffer = Buffer.alloc(Math.min((await file.stat()).size || maxBytes, maxBytes) + 1)
    let size = 0
    for (;;) {
      const { bytesRead } = await file.read(buffer, size, buffer.length - size, size)
      size += bytesRead
      if (bytesRead === 0 || size === buffer.length) break
    }
    if (size > maxBytes) throw new PathError(`${JSON.stringify(path)} is larger than ${maxBytes} bytes.`)
    return textOf(path, buffer.subarray(0, size))
  } finally {
    await file.close()
  }
}

const textOf = (path: string, bytes: Buffer): string => {
  const [a, b] = bytes
  const label = a === 0xff && b === 0xfe ? "utf-16le" : a === 0xfe && b === 0xff ? "utf-16be" : "utf-8"
  try {
    const text = new TextDecoder(label, { fatal: true }).decode(bytes)
    if (!text.includes("\0")) return text
  } catch {
    // Said below.
  }
  throw new PathError(`${JSON.stringify(path)} is not a text file.`)
}

const listFolder = async (root: Root, path: string, maxEntries: number): Promise<string> => {
  const folder = await locate(root, path)
  if (!(await stat(folder)).isDirectory()) throw new PathError(`${JSON.stringify(path)} is not a folder.`)
  const entries = (await readdir(folder, { withFileTypes: true }))
    .filter(({ name }) => root.hidden || !name.startsWith("."))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const lines: Array<string> = []
  for (const entry of entries.slice(0, maxEntries)) {
    const line = await entryLine(root, folder, entry)
    if (line !== undefined) lines.push(line)
  }
  if (entries.length > maxEntries) lines.push(`(and ${entries.length - maxEntries} more)`)
  return lines.length === 0 ? "(the folder is empty)" : lines.join("\n")
}

const entryLine = async (root: Root, folder: string, { name }: Dirent): Promise<string | undefined> => {
  try {
    const info = await stat(await locate(root, join(folder, name)))
    // A name with a line break in it must not look like two.
    const shown = /[\p{Cc}]/u.test(name) ? JSON.stringify(name) : name
    return info.isDirectory() ? `${shown}/` : info.isFile() ? `${shown} (${info.size} bytes)` : undefined
  } catch {
    return undefined
  }
}
