import { Effect, Stream } from "effect"
import { Engine } from "../../ports/Engine.ts"
import { Files } from "../../ports/Files.ts"
import { Ledger } from "../../ports/Ledger.ts"
import { ignoreMissing } from "./Applying.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { markerSource, type Named } from "./SyncSpec.ts"
import { buildingScope } from "./Target.ts"

/** The ledger's key: the same pipeline on another target is another scope. */
export const scopeOf = (engine: Pick<Engine["Service"], "target">, pipeline: string): string => `${engine.target}#${pipeline}`

/** The scope that accounts for the pipeline: that of the name it had, until a run has taken that over. */
export const findScope = Effect.fn("sync.findScope")(function*({ pipeline, renamedFrom }: Named) {
  const engine = yield* Engine
  const ledger = yield* Ledger
  const own = scopeOf(engine, pipeline)
  // A plan leaves a record with nothing in it.
  if (renamedFrom === undefined || (yield* ledger.sources(own)).length > 0) return own
  const old = scopeOf(engine, renamedFrom)
  return (yield* ledger.scope(old)) === undefined ? own : old
})

/** Files whose markers are written at once. */
const concurrency = 8

/**
 * Moves what the ledger has under the name that the pipeline had to its own, and writes the new name into the files'
 * markers where files can be changed. Answers how many files there are; undefined: nothing was under that name, or the
 * pipeline has run under its own already. Killed on the way, the next run begins anew.
 */
export const takeOverRenamed = Effect.fn("sync.takeOverRenamed")(function*({ pipeline, renamedFrom }: Named) {
  if (renamedFrom === undefined || renamedFrom === pipeline) return undefined
  const engine = yield* Engine
  const ledger = yield* Ledger
  const files = yield* Files
  const [own, old] = [scopeOf(engine, pipeline), scopeOf(engine, renamedFrom)]
  const record = (yield* ledger.sources(own)).length === 0 ? undefined : yield* ledger.scope(own)
  const before = yield* ledger.scope(old)
  if (before === undefined) return undefined
  if (record !== undefined) {
    // Both have put files into one corpus: those of the old name are known by their markers from here on.
    if (record.corpus === before.corpus) yield* ledger.forget(old)
    return undefined
  }
  let count = 0
  yield* ledger.entries(old).pipe(
    Stream.mapEffect(({ file, fingerprint, path, source, state }) => {
      if (file === undefined) return Effect.void
      count += 1
      if (engine.immutableFiles === true || state !== "done") return Effect.void
      const marker = { source: markerSource(pipeline, source), pathHash: Fingerprint.pathHash(path), fingerprint }
      return files.update(file, { marker }).pipe(ignoreMissing)
    }, { concurrency, unordered: true }),
    Stream.runDrain
  )
  const building = yield* ledger.scope(buildingScope(old))
  if (building !== undefined) yield* ledger.promote(buildingScope(old), buildingScope(own), building)
  yield* ledger.promote(old, own, before)
  return count
})

export const takesOverNote = (pipeline: string, files: number): string =>
  `takes over ${files === 1 ? "1 file" : `${files} files`} of pipeline ${pipeline}, as renamedFrom says; nothing of it is stored anew`
