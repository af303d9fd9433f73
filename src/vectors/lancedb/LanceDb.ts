import { Effect, type Scope } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import { byWords, type VectorStore } from "../../ports/VectorStore.ts"
import { connect, type LanceDbOptions } from "./Connection.ts"
import { readsOf } from "./Reads.ts"
import { schemaOf } from "./Schema.ts"
import { searchOf } from "./Search.ts"
import { writesOf } from "./Writes.ts"

export type { LanceDbOptions } from "./Connection.ts"

/**
 * A corpus in LanceDB: one table in a folder or in object storage, which this process reads and writes directly. Each write is
 * a commit that every reader sees whole or not at all. Rows outside an index are searched beside it.
 */
export const make = Effect.fnUntraced(function*(options: LanceDbOptions): Effect.fn.Return<VectorStore, ServiceError, Scope.Scope> {
  const connection = yield* connect(options)
  return {
    place: connection.place,
    abilities: Effect.succeed(byWords),
    mostFiles: 10_000,
    ...schemaOf(connection),
    ...yield* writesOf(connection, options.indexFrom ?? 10_000),
    ...readsOf(connection),
    search: searchOf(connection)
  }
})
