import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Toolbox from "@forethought/core/Toolbox"
import * as ReadFile from "@forethought/tools/ReadFile"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll } from "vitest"

const top = realpathSync(mkdtempSync(join(tmpdir(), "forethought-files-")))
const root = join(top, "root")
const put = (path: string, content: string | Uint8Array) => writeFileSync(join(root, path), content)

beforeAll(() => {
  mkdirSync(join(root, "notes", "deep"), { recursive: true })
  mkdirSync(join(top, "root-other"))
  writeFileSync(join(top, "outside.txt"), "outside")
  writeFileSync(join(top, "root-other", "a.txt"), "outside")
  put("a.txt", "hello\n")
  put("notes/b.txt", "ä\u4e2d")
  put("..dots.txt", "x")
  put("name with space.txt", "spaced")
  put(".env", "KEY=secret")
  put("utf16.txt", Buffer.from("\ufeffwide", "utf16le"))
  put("mark.txt", "\ufeffmarked")
  put("binary", Buffer.from([1, 0, 2]))
  put("latin", Buffer.from([0xe9, 0x20]))
  put("empty.txt", "")
  put("big.txt", "")
  truncateSync(join(root, "big.txt"), 3_000_000_000)
  put("exact.txt", "x".repeat(1_000_000))
  put("over.txt", "x".repeat(1_000_001))
  symlinkSync("a.txt", join(root, "link-in"))
  symlinkSync(join(top, "outside.txt"), join(root, "link-out"))
  symlinkSync("../../outside.txt", join(root, "notes", "link-up"))
  symlinkSync(top, join(root, "link-folder"))
  symlinkSync("loop", join(root, "loop"))
  symlinkSync(".env", join(root, "link-hidden"))
  symlinkSync(root, join(top, "link-root"))
  symlinkSync("/dev/zero", join(root, "zero"))
  execFileSync("mkfifo", [join(root, "pipe")])
})
afterAll(() => rmSync(top, { recursive: true }))

const call = (tool: (root: string) => ReturnType<typeof ReadFile.make>, input: string, from = root) =>
  Effect.flatMap(Toolbox.make([tool(from)]), (toolbox) =>
    toolbox.call({ call: "c", tool: toolbox.tools[0]?.name ?? "", input, timeout: 5000 })
  )
const read = (input: string, from?: string) => call((path) => ReadFile.make({ root: path }), input, from)
const list = (input: string, options: Partial<ReadFile.ListFilesOptions> = {}) =>
  call((path) => ReadFile.list({ root: path, ...options }), input)

describe("ReadFile", () => {
  const good: ReadonlyArray<readonly [path: string, text: string]> = [
    ["a.txt", "hello\n"],
    [" ./a.txt ", "hello\n"],
    ["notes/b.txt", "ä中"],
    ["notes/../a.txt", "hello\n"],
    ["notes/deep/../../a.txt", "hello\n"],
    ["../root/a.txt", "hello\n"],
    ["name with space.txt", "spaced"],
    ["link-in", "hello\n"],
    ["utf16.txt", "wide"],
    ["mark.txt", "marked"],
    ["empty.txt", ""]
  ]
  it.live.each(good)("gives %s", ([path, text]) => Effect.map(read(path), (given) => expect(given).toBe(text)))
  it.live("takes an absolute path under the root, also where the root is a link", () =>
    Effect.gen(function* () {
      expect(yield* read(join(root, "a.txt"))).toBe("hello\n")
      const link = join(top, "link-root")
      expect(yield* read("a.txt", link)).toBe("hello\n")
      expect(yield* read(join(link, "a.txt"), link)).toBe("hello\n")
      expect((yield* read("exact.txt")).length).toBe(1_000_000)
    })
  )
  const bad: ReadonlyArray<readonly [path: string, says: string]> = [
    ["../outside.txt", "leads out"],
    ["notes/../../outside.txt", "leads out"],
    ["../root-other/a.txt", "leads out"],
    ["..", "leads out"],
    ["/etc/passwd", "leads out"],
    ["link-out", "leads out"],
    ["notes/link-up", "leads out"],
    ["link-folder/outside.txt", "leads out"],
    ["link-folder/root/a.txt/../../outside.txt", "leads out"],
    ["zero", "leads out"],
    ["/proc/self/environ", "leads out"],
    [".env", "start with a dot"],
    ["notes/../.env", "start with a dot"],
    ["link-hidden", "start with a dot"],
    ["..dots.txt", "start with a dot"],
    ["a.txt\0.png", "a character that no path has"],
    ["nothing.txt", "There is no file or folder"],
    ["a.txt/b", "There is no file or folder"],
    ["loop", "There is no file or folder"],
    ["~/a.txt", "There is no file or folder"],
    ["x".repeat(5000), "There is no file or folder"],
    ["notes", "is not a file"],
    [".", "is not a file"],
    ["", "is not a file"],
    ["pipe", "is not a file"],
    ["big.txt", "larger than 1000000 bytes"],
    ["over.txt", "larger than 1000000 bytes"],
    ["binary", "not a text file"],
    ["latin", "not a text file"]
  ]
  it.live.each(bad)("refuses %j", ([path, says]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read(path))
      expect(error._tag).toBe("ToolFailed")
      expect(error.message).toContain(says)
      expect(error.message).not.toContain(top)
    })
  )
  it.live("reads hidden files only where that is allowed", () =>
    Effect.gen(function* () {
      const hidden = (path: string) => ReadFile.make({ root: path, hidden: true })
      expect(yield* call(hidden, ".env")).toBe("KEY=secret")
      expect(yield* call(hidden, "..dots.txt")).toBe("x")
    })
  )
  it.live("a root that is not there is an error of the call", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read("a.txt", join(top, "gone")))
      expect(error.message).toContain("The folder that may be read does not exist.")
    })
  )
})

describe("ListFiles", () => {
  it.live("lists a folder, without what is hidden, leads out or is no file", () =>
    Effect.gen(function* () {
      const lines = (yield* list(".")).split("\n")
      expect(lines).toContain("a.txt (6 bytes)")
      expect(lines).toContain("notes/")
      expect(lines).toContain("link-in (6 bytes)")
      for (const name of ["link-out", "link-folder", "pipe", "zero", "loop", ".env", "link-hidden"]) {
        expect(lines.filter((line) => line.startsWith(name))).toEqual([])
      }
      expect(lines).toEqual([...lines].sort((a, b) => (a < b ? -1 : 1)))
      expect(yield* list("notes")).toBe("b.txt (5 bytes)\ndeep/")
      expect(yield* list("notes/deep")).toBe("(the folder is empty)")
      expect(yield* list("")).toBe(lines.join("\n"))
      expect(yield* list(".", { hidden: true })).toContain(".env (10 bytes)")
    })
  )
  it.live("says how many names it left out", () =>
    Effect.map(list(".", { maxEntries: 2 }), (text) => expect(text).toMatch(/\(and \d+ more\)$/))
  )
  const bad: ReadonlyArray<readonly [path: string, says: string]> = [
    ["..", "leads out"],
    ["link-folder", "leads out"],
    ["a.txt", "is not a folder"]
  ]
  it.live.each(bad)("refuses %s", ([path, says]) =>
    Effect.map(Effect.flip(list(path)), (error) => expect(error.message).toContain(says))
  )
})
