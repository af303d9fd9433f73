import { Context, Effect, Layer } from "effect"
import type { CorpusRow } from "./store/Rows.ts"
import { Reader } from "./store/Reader.ts"
import { outdatedCorpora } from "./store/OutdatedIndex.ts"
import { Writer } from "./store/Writer.ts"

/** Milliseconds before an index is rebuilt that nobody waits for: a program that asks one question is over by then. */
const patience = 2_000

/**
 * Indexes that another version of Sluice made, whose words are those of its analysis. They answer as they are until they
 * are rebuilt, which is said in the log: by who opened the store to write, at once, otherwise in the background.
 */
export class IndexUpkeep extends Context.Service<IndexUpkeep, {
  /** A corpus is asked: once for each, whether its index is outdated, which is then rebuilt while others go on. */
  readonly asked: (corpus: CorpusRow) => Effect.Effect<void>
}>()("sluice/embedded/IndexUpkeep") {
  /** `atOnce`: every outdated index is rebuilt, and closing waits for it. */
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
