import { Effect } from "effect"
import { parseMetadataFilter } from "../domain/MetadataFilter.ts"
import type { Limits } from "../mcp/KnowledgeBase.ts"
import { http } from "../mcp/Mcp.ts"
import { knowledgeBases } from "./KnowledgeBases.ts"

export interface McpEndpointOptions {
  /** What every agent that calls may see, and how much at once. */
  readonly limits?: Limits
  readonly version: string
  /** Web pages that may call. */
  readonly origins: ReadonlyArray<string>
}

/** `/mcp/{corpus}`, by display name or id: each corpus to agents. `/mcp` alone is the only one, where there is one. */
export const mcpEndpoint = Effect.fnUntraced(function*({ limits, origins, version }: McpEndpointOptions) {
  if (limits?.where !== undefined) yield* Effect.fromResult(parseMetadataFilter(limits.where, "--mcp-where"))
  const { baseOf, named } = yield* knowledgeBases
  // Only versions of the protocol that contradict each other make it fail, and those are written down.
  return yield* Effect.orDie(
    http(
      (wanted) => Effect.flatMap(named(wanted, (id) => `/mcp/${id}`), (corpus) => Effect.fromResult(baseOf(corpus, limits))),
      { version, origins }
    )
  )
})
