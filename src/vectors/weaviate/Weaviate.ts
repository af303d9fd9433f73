import { Effect } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import { byWords, type VectorStore } from "../../ports/VectorStore.ts"
import { connect, type WeaviateOptions } from "./Connection.ts"
import { readsOf } from "./Reads.ts"
import { schemaOf } from "./Schema.ts"
import { searchOf } from "./Search.ts"
import { writesOf } from "./Writes.ts"

/**
 * A corpus in a Weaviate collection that other corpora may share. Corpora are distinguished by `corpusId`, or have a tenant
 * each where the collection has tenants. Vectors come from the corpus's embedder; words are found by the server's BM25 over
 * the terms of the corpus's analysis. Both arms go in one request.
 */
export const make = Effect.fnUntraced(function*(options: WeaviateOptions): Effect.fn.Return<VectorStore, ServiceError> {
  const connection = yield* connect(options)
  return {
    place: connection.place,
    abilities: Effect.succeed({ ...byWords, mixes: true }),
    mostFiles: 2_000,
    ...schemaOf(connection),
    ...writesOf(connection),
    ...readsOf(connection),
    search: searchOf(connection)
  }
})
