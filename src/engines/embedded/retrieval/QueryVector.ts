import { Effect } from "effect"
import { ServiceError } from "../../../domain/Errors.ts"
import { embedBy, type Embedder, unitOf } from "../../../ports/Embedder.ts"
import { isShouted } from "../../../search/analysis/Grammar.ts"
import { embedWeighed as hashedWeighed } from "../../../text/hashed/EmbedHashed.ts"
import type { SearchRequest } from "../search/Search.ts"

/**
 * What makes the query's vector in a search. `managed`: the search runs in the engine's own database, and can make the
 * offline embedder's vector itself, next to the words' weights.
 */
export const queryVector = (
  embedder: Embedder["Service"],
  query: string,
  managed: boolean
): Effect.Effect<NonNullable<SearchRequest["vector"]>, ServiceError> => {
  const { embedWeighed } = embedder
  if (embedWeighed === hashedWeighed && managed) return Effect.succeed("hashed")
  if (embedWeighed !== undefined) return Effect.succeed((weigh) => embedWeighed(query, weigh))
  // A model that distinguishes capitals would read them letter by letter.
  return embedBy(embedder, [isShouted(query) ? query.toLowerCase() : query], "query").pipe(
    Effect.map(([vector = new Float32Array(embedder.dimensions)]) => unitOf(embedder, vector)),
    Effect.flatMap((vector) => vector instanceof ServiceError ? Effect.fail(vector) : Effect.succeed(() => vector))
  )
}
