import { blocksOf, type ContentBlock, type Conversation, placedBlocks } from "./PartnerChat.ts"

/** Characters per token, by the platform's rule of thumb. */
const charactersPerToken = 3.5

/** Most tokens of an image: larger ones are scaled down to it. */
const imageTokens = 1_600

/** Tokens of a page of a PDF, which has 1,500 to 3,000; the number of pages is estimated from the bytes. */
const pageTokens = 2_000
const pageBytes = 75_000

/** Tokens of everything but text. */
const mediaTokens = (request: Conversation): number => allBlocks(request).reduce((sum, block) => sum + tokensOfMedia(block), 0)

/** All the text of a request, tools and calls included. */
export const textsOf = (request: Conversation): ReadonlyArray<string> => [
  ...blocksOf(request.system).map(({ text }) => text),
  ...(request.tools ?? []).map(({ description, inputSchema, name }) => JSON.stringify({ name, description, inputSchema })),
  ...allBlocks(request).flatMap(textsIn)
]

/** Tokens of a text, by its length in UTF-16 units. */
export const tokensOfLength = (length: number): number => Math.ceil(length / charactersPerToken)

/** Tokens of a request, with the given count for texts, and the most that media can have. */
export const countedTokens = (request: Conversation, countTokens: (text: string) => number): number =>
  textsOf(request).reduce((sum, text) => sum + countTokens(text), mediaTokens(request))

/** An upper bound of a request's tokens: a token has at least one byte, and a UTF-16 unit at most three. */
export const mostTokens = (request: Conversation): number =>
  textsOf(request).reduce((sum, text) => sum + 3 * text.length, mediaTokens(request))

/** Estimated tokens of a request, before it is sent. */
export const estimatedTokens = (request: Conversation): number =>
  tokensOfLength(textsOf(request).reduce((sum, text) => sum + text.length, 0)) + mediaTokens(request)

/** All blocks, those within results and documents too. */
export const allBlocks = (request: Conversation): ReadonlyArray<ContentBlock> => placedBlocks(request).map(({ block }) => block)

const textsIn = (block: ContentBlock): ReadonlyArray<string> => {
  switch (block.type) {
    case "text":
      return [block.text]
    case "thinking":
      return [block.thinking]
    case "tool_use":
      return [block.name, JSON.stringify(block.input)]
    case "document":
      return [block.title ?? "", block.context ?? "", block.source.type === "text" ? block.source.data : ""]
    case "search_result":
      return [block.title, block.source]
    default:
      return []
  }
}

const tokensOfMedia = (block: ContentBlock): number => {
  if (block.type === "image") return imageTokens
  return block.type === "document" && block.source.type === "base64"
    ? pageTokens * Math.ceil(base64Bytes(block.source.data) / pageBytes)
    : 0
}

/** Number of bytes that a base64 text decodes to. */
export const base64Bytes = (data: string): number =>
  Math.floor((data.length - (data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0)) * 3 / 4)
