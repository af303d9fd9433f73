import { Context, Effect, Layer } from "effect"
import type { CorpusRow } from "./store/Rows.ts"
import { Reader } from "./store/Reader.ts"
import { outdatedCorpora } from "./store/OutdatedIndex.ts"
import { Writer } from "./store/Writer.ts"

/** Milliseconds before an index is rebuilt in the background: a program that asks a single question has ended by then. */
const patience = 2_000

/**
 * Rebuilds indexes that another version of Sluice made, with the terms of its analysis. Until then they are searched as they are. A program
 * that opened the store to write rebuilds them at once, any other in the background; the log says so.
 */
export class IndexUpkeep extends Context.Service<IndexUpkeep, {
  /** To be called when a corpus is searched. The first time, it checks whether the index is outdated, and rebuilds it in the background. */
  readonly asked: (corpus: CorpusRow) => Effect.Effect<void>
}>()("sluice/embedded/IndexUpkeep") {
  /** `atOnce`: rebuilds every outdated index when the layer opens; closing waits until they are done. */
  static readonly layer = (atOnce: boolean): Layer.Layer<IndexUpkeep, never, Reader | Writer> =>
    Layer.effect(
      IndexUpkeep,
      Effect.gen(function*() {
        const reader = yield* Reader
        const writer = yield* Writer
        const scope = yield* Effect.scope
        const known = new Set<number>()

        const rebuild = Effect.fnUntraced(function*(corpus: string, dispensable: boolean) {
          yield* writer.send("rebuildIndex", { corpus, outdated: true, ...(dispensable ? { dispensable } : {}) })
          yield* Effect.logInfo(`the index of corpus ${corpus} is rebuilt`)
        }, (effect, corpus) =>
          Effect.catch(effect, ({ message }) =>
            Effect.logWarning(`the index of corpus ${corpus} stays as it is: ${message}`)))

        if (atOnce) {
          const outdated = yield* Effect.orElseSucceed(
            reader.read((db) =>
              outdatedCorpora(db)
            ),
            () => []
          )
          for (const corpus of outdated) {
            yield* Effect.logWarning(`the index of corpus ${corpus} was made by another version of Sluice, and is rebuilt now`)
            yield* Effect.forkIn(rebuild(corpus, false), scope, { startImmediately: true })
          }
        }

        const rebuildOutdated = Effect.fnUntraced(function*({ id, name }: CorpusRow) {
          if ((yield* reader.read((db) => outdatedCorpora(db, id))).length === 0) return
          yield* Effect.logWarning(
            `the index of corpus ${name} was made by another version of Sluice: it answers until it is rebuilt, in the background or by the next run`
          )
          yield* Effect.forkIn(Effect.delay(rebuild(name, true), patience), scope)
        }, (effect) => Effect.ignore(effect))

        return IndexUpkeep.of({
          asked: (corpus) =>
            Effect.suspend(() => {
              if (known.has(corpus.id)) return Effect.void
              known.add(corpus.id)
              return rebuildOutdated(corpus)
            })
        })
      })
    )
}
