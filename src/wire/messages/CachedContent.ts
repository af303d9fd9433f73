import { duration, int32, list, message, of, oneof, type Of, string, timestamp } from "../Message.ts"
import { Content } from "./Content.ts"
import { EncryptionSpec } from "./RagCorpus.ts"
import { Tool, ToolConfig } from "./Tool.ts"

/**
 * A cached content. `systemInstruction`, `contents`, `tools`, `toolConfig`, `ttl` and `encryptionSpec` are for input only, and
 * never returned.
 */
export const CachedContent = message("CachedContent", {
  name: string,
  displayName: string,
  model: string,
  systemInstruction: of(Content),
  contents: list(of(Content)),
  tools: list(of(Tool)),
  toolConfig: of(ToolConfig),
  createTime: timestamp,
  updateTime: timestamp,
  expireTime: oneof("expiration", timestamp),
  ttl: oneof("expiration", duration),
  usageMetadata: of(message("CachedContent.UsageMetadata", {
    totalTokenCount: int32,
    textCount: int32,
    imageCount: int32,
    videoDurationSeconds: int32,
    audioDurationSeconds: int32
  })),
  encryptionSpec: of(EncryptionSpec)
})
export type CachedContent = Of<typeof CachedContent>

export const UpdateCachedContentQuery = message("UpdateCachedContentRequest", { updateMask: string })
export const ListCachedContentsRequest = message("ListCachedContentsRequest", { pageSize: int32, pageToken: string })
export const ListCachedContentsResponse = message("ListCachedContentsResponse", {
  cachedContents: list(of(CachedContent)),
  nextPageToken: string
})
