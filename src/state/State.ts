import { Context, Effect, Layer } from "effect"
import type { DatabaseSync } from "node:sqlite"
import { asStateError, databaseAt, openDatabase } from "./Database.ts"

/** The state database of one data directory, opened for the life of a scope. */
export class State extends Context.Service<State, {
  readonly database: DatabaseSync
  /** Path of the database, for messages. */
  readonly path: string
  readonly dataDir: string
}>()("sluice/state/State") {
  static readonly layer = (dataDir: string) =>
    Layer.effect(
      State,
      Effect.acquireRelease(
        Effect.try({ try: () => openDatabase(dataDir), catch: (cause) => asStateError(cause, dataDir) }),
        (database) => Effect.sync(() => database.close())
      ).pipe(Effect.map((database) => State.of({ database, path: databaseAt(dataDir), dataDir })))
    )
}
