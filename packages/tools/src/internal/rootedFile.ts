/**
 * Finding what a path means under one root, and never outside of it.
 */
import { constants } from "node:fs"
import { type FileHandle, open, realpath, stat } from "node:fs/promises"
import { join, relative, resolve, sep } from "node:path"

/** Why a path is not read, in words for a model. */
export class PathError extends Error {
  override readonly name = "PathError"
}

export interface Root {
  readonly path: string
  /** True if names that start with a dot may be read. */
  readonly hidden: boolean
}

/** The real path of what `path` means, links followed. Fails where that is not under the root. */
export const locate = async (root: Root, path: string): Promise<string> => {
  if (path.includes("\0")) throw new PathError("The path has a character that no path has.")
  const base = await real(resolve(root.path), "The folder that may be read does not exist.")
  // An absolute path may name the root as it was given, which can be a link.
  const absolute = resolve(base, path)
  const asked = within(base, absolute) ?? within(resolve(root.path), absolute)
  if (asked === undefined) throw outside()
  refuseHidden(root, asked)
  const found = await real(join(base, asked), `There is no file or folder ${JSON.stringify(path)}.`)
  const inside = within(base, found)
  if (inside === undefined) throw outside()
  // A link may have another name than what it leads to.
  refuseHidden(root, inside)
  return found
}

/** Opens a regular file for reading. What is swapped for something else in the meantime is refused. */
export const openFile = async (root: Root, path: string): Promise<FileHandle> => {
  const found = await locate(root, path)
  // Looked at before it is opened: opening a device or a pipe can do something, or wait for ever.
  if (!(await stat(found)).isFile()) throw notAFile(path)
  const file = await open(found, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    const [opened, now] = await Promise.all([file.stat(), locate(root, path).then((again) => stat(again))])
    if (!opened.isFile() || opened.ino !== now.ino || opened.dev !== now.dev) throw notAFile(path)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/** The part of `path` under `base`; `undefined` where it is not under it. */
const within = (base: string, path: string): string | undefined => {
  const part = relative(base, path)
  return part === ".." || part.startsWith(`..${sep}`) || resolve(base, part) !== path ? undefined : part
}

const refuseHidden = (root: Root, part: string): void => {
  if (!root.hidden && part.split(sep).some((name) => name.startsWith("."))) {
    throw new PathError("Names that start with a dot may not be read.")
  }
}

const outside = (): PathError => new PathError("The path leads out of the folder that may be read.")

const notAFile = (path: string): PathError => new PathError(`${JSON.stringify(path)} is not a file.`)

const real = async (path: string, otherwise: string): Promise<string> => {
  try {
    return await realpath(path)
  } catch {
    throw new PathError(otherwise)
  }
}

/** A failure in words. The system's own message is not shown: it tells where the root is. */
export const pathProblem = (error: unknown): string => {
  if (error instanceof PathError) return error.message
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? ` (${error.code})` : ""
  return `It cannot be read${code}.`
}
