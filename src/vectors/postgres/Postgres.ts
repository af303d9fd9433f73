import { Effect, type Scope } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import { byWords, type VectorStore } from "../../ports/VectorStore.ts"
import { unfit } from "../Chunks.ts"
import { connect, type PostgresOptions } from "./Connection.ts"
import { readsOf } from "./Reads.ts"
import { schemaOf } from "./Schema.ts"
import { searchOf } from "./Search.ts"
import { indexOf } from "./VectorIndex.ts"
import { writesOf } from "./Writes.ts"

export type { PostgresOptions } from "./Connection.ts"

/** Most dimensions of a half-precision index in pgvector. */
const mostDimensions = 4_000

/**
 * A corpus in PostgreSQL: one table, with an HNSW index over half-precision vectors and a GIN index over the terms of the
 * corpus's analysis. `put` writes each batch in one transaction, text and vectors together.
 */
export const make = Effect.fnUntraced(function*(options: PostgresOptions): Effect.fn.Return<VectorStore, ServiceError, Scope.Scope> {
  const { indexFrom = 5_000, space: { dimensions } } = options
  if (dimensions > mostDimensions) {
    return yield* unfit(
      "postgres",
      `the embedder gives ${dimensions} dimensions, and pgvector's index takes ${mostDimensions} at most`,
      "use an embedding model of fewer dimensions, or another database"
    )
  }
  const connection = yield* connect(options)
  const index = yield* indexOf(connection, indexFrom)
  return {
    place: connection.place,
    abilities: Effect.succeed(byWords),
    mostFiles: 10_000,
    ...schemaOf(connection),
    ...writesOf(connection, index),
    ...readsOf(connection),
    search: searchOf(connection)
  }
})
