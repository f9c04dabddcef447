/**
 * What an MCP server's tool gave, as text for a model: texts as they are, everything else described and not dumped.
 */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js"

export const resultText = (result: CallToolResult): string => {
  if (result.content.length > 0) return result.content.map(blockText).join("\n")
  return result.structuredContent === undefined ? "(no result)" : JSON.stringify(result.structuredContent)
}

const blockText = (block: CallToolResult["content"][number]): string => {
  switch (block.type) {
    case "text":
      return block.text
    case "image":
    case "audio":
      return `[${block.type}: ${block.mimeType}, ${bytes(block.data)}]`
    case "resource_link":
      return described(block.uri, block.title ?? block.name, block.mimeType)
    case "resource": {
      const { resource } = block
      const size = "text" in resource ? `${resource.text.length} characters` : bytes(resource.blob)
      return described(resource.uri, resource.mimeType, size)
    }
  }
}

const described = (uri: string, ...facts: ReadonlyArray<string | undefined>): string =>
  `[resource: ${[uri, ...facts].filter((fact) => fact !== undefined).join(", ")}]`

const bytes = (base64: string): string => `${Math.floor((base64.length * 3) / 4)} bytes`
