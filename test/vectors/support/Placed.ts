import { Effect, Layer } from "effect"
import type { VectorDb } from "../../../src/domain/Corpus.ts"
import { Secrets } from "../../../src/ports/Secrets.ts"
import { Corpora } from "../../../src/ports/Corpora.ts"
import { vectorStores } from "../../../src/compose/VectorStores.ts"
import { engine } from "../../engines/embedded/support/Engine.ts"
import { tempFolder } from "../../support/TempFolder.ts"
import { lanceDbFolder } from "./LanceDb.ts"
import { secretsOf } from "./Secrets.ts"

/** The embedded engine over a folder, with databases besides its own. */
export const connected = (folder: string, secrets: Secrets["Service"]) =>
  engine(folder).pipe(Layer.provide(vectorStores({ packages: lanceDbFolder }).pipe(Layer.provide(Layer.succeed(Secrets, secrets)))))

/** The same over a fresh folder, every corpus of it in one database: what passes for the managed one passes for that. */
export const placed = <E, R>(place: Effect.Effect<{ readonly vectorDb: VectorDb; readonly secrets: ReadonlyMap<string, string> }, E, R>) =>
  Layer.unwrap(Effect.gen(function*() {
    const folder = yield* tempFolder
    const { secrets, vectorDb } = yield* place
    const there = Layer.effect(
      Corpora,
      Effect.map(
        Corpora,
        (corpora) => ({
          ...corpora,
          create: (spec) => corpora.create({ ...spec, vectorDb: spec.vectorDb._tag === "managed" ? vectorDb : spec.vectorDb })
        })
      )
    )
    return there.pipe(Layer.provideMerge(connected(folder, secretsOf(secrets))))
  }))
