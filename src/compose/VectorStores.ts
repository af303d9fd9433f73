import { Effect, Layer, Scope } from "effect"
import type { VectorDb } from "../domain/Corpus.ts"
import { ServiceError } from "../domain/Errors.ts"
import { Secrets } from "../ports/Secrets.ts"
import { type VectorSpace, type VectorStore, VectorStores } from "../ports/VectorStore.ts"

/** The databases that corpora may name. Each is loaded when the first corpus does, and its connections end with the scope. */
export const vectorStores: Layer.Layer<never, never, Secrets> = Layer.effect(
  VectorStores,
  Effect.gen(function*() {
    const secrets = yield* Secrets
    const scope = yield* Effect.scope
    const make = Effect.fnUntraced(function*(db: VectorDb, space: VectorSpace): Effect.fn.Return<VectorStore, ServiceError, Scope.Scope> {
      switch (db._tag) {
        case "postgres": {
          const Postgres = yield* Effect.promise(() => import("../vectors/postgres/Postgres.ts"))
          return yield* Postgres.make({ url: db.url, schema: db.schema, space, secrets })
        }
        default:
          return yield* new ServiceError({
            code: "UNIMPLEMENTED",
            message: `the corpus keeps its vectors in ${db._tag}, and connecting to it is not available on the embedded engine`,
            fix: "use the managed database, or one of those in docs/vector-databases.md"
          })
      }
    })
    return { open: (db, space) => Scope.provide(make(db, space), scope) }
  })
)

/** Says how a database is, for `doctor`; one that is only to be made is as good. */
export const checkVectors = Effect.fnUntraced(function*(db: VectorDb, space: VectorSpace) {
  const { open } = yield* VectorStores
  const store = yield* open(db, space)
  return yield* store.check.pipe(
    Effect.map(({ chunks, dimensions, version }) =>
      `${store.place} has ${chunks} chunks of ${dimensions} dimensions${version === undefined ? "" : ` (${version})`}`),
    Effect.catchIf(({ code }) => code === "NOT_FOUND", ({ message }) => Effect.succeed(`${message}; the first run makes it`))
  )
})
