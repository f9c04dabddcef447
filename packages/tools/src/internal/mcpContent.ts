/**
 * What an MCP server's tool gave, as text for a model: texts as they are, everything else described in a line. Nothing
 * is thrown: what is not as the protocol has it is read where its meaning is clear, and told where it is not.
 */

import { isObject, jsonOf, textOf } from "@forethought/core/Json"
import * as Predicate from "effect/Predicate"

/** The text of a result, and whether it is of an error. */
export const readResult = (result: Record<string, unknown>): { readonly text: string; readonly isError: boolean } => {
  const unsupported = unsupportedKind(result)
  if (unsupported !== undefined) return { text: unsupported, isError: true }
  return { text: resultText(result), isError: isTrue(result["isError"] ?? result["is_error"]) }
}

const isTrue = (value: unknown): boolean =>
  value === true || value === 1 || (typeof value === "string" && value.trim().toLowerCase() === "true")

/** Results that are not the end of a call. */
const unsupportedKind = (result: Record<string, unknown>): string | undefined => {
  if (result["resultType"] === "input_required") {
    const requests = isObject(result["inputRequests"]) ? Object.values(result["inputRequests"]) : []
    const asked = requests.map((request) => messageOf(request)).filter((message) => message !== undefined)
    const said = asked.length === 0 ? "" : ` It asked: ${asked.join(" ")}`
    return `The server wants more input before it goes on (input_required), which is not supported here.${said}`
  }
  const { task } = result
  if (isObject(task) && typeof task["taskId"] === "string" && !Object.hasOwn(result, "content")) {
    return "The server answered with a task that goes on, which is not supported here."
  }
  return undefined
}

const messageOf = (request: unknown): string | undefined => {
  if (!isObject(request)) return undefined
  const { params } = request
  return isObject(params) ? textOf(params["message"]) : undefined
}

const resultText = (result: Record<string, unknown>): string => {
  const { toolResult } = result
  const structuredContent = result["structuredContent"] ?? result["structured_content"]
  const blocks = blocksOf(result["content"] ?? (isBlocks(toolResult) ? toolResult : undefined))
  const parts = blocks.map(blockText).filter((text) => text !== undefined)
  if (Predicate.isNotNullable(structuredContent) && !isRepeated(structuredContent, blocks)) {
    parts.push(asJson(structuredContent))
  }
  if (Predicate.isNotNullable(toolResult) && !isBlocks(toolResult)) parts.push(asText(toolResult))
  const text = parts.join("\n")
  if (text !== "") return text
  // The first word of a server that does not know the protocol may still be what was asked for.
  const known = new Set([
    ...["content", "structuredContent", "structured_content", "toolResult"],
    ...["isError", "is_error", "resultType", "meta"]
  ])
  const others = Object.entries(result).filter(([key, value]) => !known.has(key) && Predicate.isNotNullable(value))
  return others.length === 0 ? "(no result)" : asJson(Object.fromEntries(others))
}

const asText = (value: unknown): string => (typeof value === "string" ? value : asJson(value))

const asJson = (value: unknown): string => jsonOf(value) ?? "[content that is nested too deeply to be shown]"

const blocksOf = (content: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(content)) return content
  return Predicate.isNotNullable(content) ? [content] : []
}

const isBlocks = (value: unknown): value is ReadonlyArray<unknown> =>
  Array.isArray(value) && value.length > 0 && value.every((item) => isObject(item) && typeof item["type"] === "string")

// ---------------------------------------------------------------------------------------------------------------
// structured content
// ---------------------------------------------------------------------------------------------------------------

/**
 * Returns whether the text says the same already, as servers are asked to: the structure as JSON, or what stands alone
 * in it as it is.
 */
const isRepeated = (structured: unknown, blocks: ReadonlyArray<unknown>): boolean => {
  const texts = blocks.map(plainText).filter((text) => text !== undefined)
  // Some servers hand on the blocks themselves.
  const said: ReadonlyArray<unknown> = [blocks, ...blocks, ...saidBy(texts)]
  const written = new Set(said.map(jsonOf).filter((json) => json !== undefined))
  const alone = isObject(structured) && Object.keys(structured).length === 1 ? Object.values(structured) : []
  return [structured, ...alone].some((value) => {
    if (written.has(jsonOf(value) ?? "")) return true
    return typeof value !== "object" && written.has(JSON.stringify(String(value)))
  })
}

const saidBy = (texts: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  if (texts.length === 0) return []
  const values = texts.map(parsed)
  if (texts.length === 1) return [...texts, ...values, texts, values]
  return [texts.join("\n"), texts.join(""), ...texts, ...values, values]
}

const parsed = (text: string): unknown => {
  // Most texts are none, and an error for each would take long.
  if (!/^\s*(?:[{["]|-?\d|(?:true|false|null)\s*$)/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const plainText = (block: unknown): string | undefined => {
  if (typeof block === "string") return block
  return isObject(block) && typeof block["text"] === "string" ? block["text"] : undefined
}

// ---------------------------------------------------------------------------------------------------------------
// blocks
// ---------------------------------------------------------------------------------------------------------------

/** Nothing for a block that holds nothing. */
const blockText = (block: unknown): string | undefined => {
  if (!Predicate.isNotNullable(block)) return undefined
  if (!isObject(block)) return asText(block)
  const kind = kindOf(block)
  switch (kind) {
    case "text": {
      const { text } = block
      return Predicate.isNotNullable(text) ? asText(text) : undefined
    }
    case "image":
    case "audio":
      return `[${[`${kind}: ${mimeOf(block) ?? "of an unknown type"}`, sizeOf(block), textOf(block["url"] ?? block["uri"])].filter(Predicate.isNotNullable).join(", ")}]`
    case "resource_link":
      return described(
        block,
        textOf(block["title"]) ?? textOf(block["name"]),
        mimeOf(block),
        textOf(block["description"])
      )
    case "resource": {
      const { resource } = block
      return resourceText(isObject(resource) ? resource : block)
    }
    default: {
      const { text } = block
      const name = kind === "" ? "content without a type" : `content of the unknown type ${JSON.stringify(kind)}`
      if (typeof text === "string") return `[${name}]\n${text}`
      const facts = [mimeOf(block), sizeOf(block), textOf(block["uri"])].filter(Predicate.isNotNullable).join(", ")
      return `[${name}: ${sizeOf(block) === undefined ? shortJson(block) : facts}]`
    }
  }
}

/** Without a type the fields tell, where they can. */
const kindOf = (block: Record<string, unknown>): string => {
  const type = textOf(block["type"])
  if (type !== undefined) return kinds.get(type.toLowerCase().replaceAll(/[^a-z]/g, "")) ?? type
  if (typeof block["text"] === "string") return typeof block["uri"] === "string" ? "resource" : "text"
  if (isObject(block["resource"]) || (typeof block["uri"] === "string" && typeof block["blob"] === "string")) {
    return "resource"
  }
  const mime = mimeOf(block)?.toLowerCase() ?? ""
  if (typeof block["data"] === "string" && /^(?:image|audio)\//.test(mime)) return mime.slice(0, 5)
  return typeof block["uri"] === "string" ? "resource_link" : ""
}

const kinds: ReadonlyMap<string, string> = new Map([
  ["text", "text"],
  ["image", "image"],
  ["audio", "audio"],
  ["resource", "resource"],
  ["embeddedresource", "resource"],
  ["resourcelink", "resource_link"]
])

/** The text of a resource below its address; anything else of it is described. */
const resourceText = (resource: Record<string, unknown>): string => {
  const { text } = resource
  if (typeof text !== "string") return described(resource, mimeOf(resource), sizeOf(resource))
  return text === ""
    ? described(resource, mimeOf(resource), "empty")
    : `${described(resource, mimeOf(resource))}\n${text}`
}

const described = (resource: Record<string, unknown>, ...facts: ReadonlyArray<string | undefined>): string =>
  `[resource: ${[textOf(resource["uri"]), ...facts].filter(Predicate.isNotNullable).join(", ") || "without an address"}]`

const mimeOf = (block: Record<string, unknown>): string | undefined =>
  textOf(block["mimeType"]) ?? textOf(block["mime_type"]) ?? textOf(block["mediaType"])

const sizeOf = (block: Record<string, unknown>): string | undefined => {
  const data = block["data"] ?? block["blob"]
  if (typeof data !== "string") return undefined
  const base64 = data.startsWith("data:") ? data.slice(data.indexOf(",") + 1) : data
  return `${Math.floor((base64.length * 3) / 4)} bytes`
}

/** A block that nobody knows may be large. */
const shortJson = (value: unknown): string => {
  const text = asJson(value)
  return text.length > maxUnknownChars ? `${text.slice(0, maxUnknownChars).toWellFormed()}…` : text
}

const maxUnknownChars = 500
