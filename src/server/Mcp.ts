import { Effect } from "effect"
import { parseMetadataFilter } from "../domain/MetadataFilter.ts"
import type { Limits } from "../mcp/KnowledgeBase.ts"
import { http } from "../mcp/Mcp.ts"
import { knowledgeBases } from "./KnowledgeBases.ts"

export interface McpEndpointOptions {
  /** Limits on what agents may see, and on the tokens of one result. */
  readonly limits?: Limits
  readonly version: string
  /** Origins of web pages that may call. */
  readonly origins: ReadonlyArray<string>
}

/**
 * The endpoint `/mcp/{corpus}`, by display name or id, which serves each corpus to agents. `/mcp` alone serves the only corpus,
 * where there is exactly one.
 */
export const mcpEndpoint = Effect.fnUntraced(function*({ limits, origins, version }: McpEndpointOptions) {
  if (limits?.where !== undefined) yield* Effect.fromResult(parseMetadataFilter(limits.where, "--mcp-where"))
  const { baseOf, named } = yield* knowledgeBases
  // It fails only for contradictory protocol versions, and those are constants.
  return yield* Effect.orDie(
    http(
      (wanted) => Effect.flatMap(named(wanted, (id) => `/mcp/${id}`), (corpus) => Effect.fromResult(baseOf(corpus, limits))),
      { version, origins }
    )
  )
})
