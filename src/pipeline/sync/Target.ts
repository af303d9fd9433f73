import { Clock, Context, Effect, Option, Stream } from "effect"
import { type Corpus, type CorpusName, type CorpusSpec, sameModel } from "../../domain/Corpus.ts"
import { ServiceError, type StateError } from "../../domain/Errors.ts"
import { plural } from "../../domain/Numbers.ts"
import { Corpora, type LostCorpus } from "../../ports/Corpora.ts"
import { Engine } from "../../ports/Engine.ts"
import { Files } from "../../ports/Files.ts"
import { type Generation, Ledger } from "../../ports/Ledger.ts"
import { pages } from "../../ports/Paging.ts"
import { decodeBuilt, describes } from "./Built.ts"
import { ignoreMissing } from "./Failures.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { displayNameOf, findGenerations, nextGeneration, pipelineKeyOf, settleGenerations } from "./Generations.ts"
import { markerSource, type Named, type SyncSpec } from "./Session.ts"

/**
 * A ledger key without entries: for a corpus that does not exist yet, or that was found by its name, of which the ledger
 * knows nothing.
 */
export const emptyScope = (scope: string): string => `${scope}#new`

/** The corpus in the target, compared with the declared one. */
export type Target =
  | { readonly _tag: "missing" }
  /** Known to the ledger, or found by its display name (`adopted`). */
  | { readonly _tag: "found"; readonly corpus: Corpus; readonly adopted: boolean; readonly changes: ReadonlyArray<Change> }

/** A difference between the declared corpus and the existing one. */
export interface Change {
  readonly field: string
  readonly from: string
  readonly to: string
  /** It cannot be changed in place: the corpus has to be rebuilt. */
  readonly forcesReplacement: boolean
}

/** Finds the corpus of a generation or, where none is recorded, one with the declared name. Changes nothing. */
export const findTarget = Effect.fn("sync.findTarget")(function*(
  generation: Generation | undefined,
  spec: CorpusSpec
): Effect.fn.Return<Target, ServiceError, Corpora | Engine> {
  const corpora = yield* Corpora
  const engine = yield* Engine
  const recorded = generation === undefined ? undefined : yield* corpusNamed(generation.corpus)
  if (recorded !== undefined) return { _tag: "found", corpus: recorded, adopted: false, changes: changesOf(recorded, spec, engine) }
  const [corpus, another] = yield* pages(corpora.list).pipe(
    Stream.filter(({ displayName }) => displayName === spec.displayName),
    Stream.take(2),
    Stream.runCollect
  )
  if (corpus === undefined) return { _tag: "missing" }
  if (another !== undefined) {
    return yield* new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `several corpora are called "${spec.displayName}", and none is recorded as this pipeline's`,
      fix: "give the corpus another displayName, or delete the ones you do not need (sluice corpora list)"
    })
  }
  return { _tag: "found", corpus, adopted: true, changes: changesOf(corpus, spec, engine) }
})

const corpusNamed = Effect.fnUntraced(function*(name: CorpusName) {
  const corpora = yield* Corpora
  return yield* corpora.get(name).pipe(Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.undefined))
})

type EngineFacts = Pick<Engine["Service"], "embedder">

/** Lists how a corpus differs from its declaration: what can be changed, what can be set once, and what needs a new corpus. */
const changesOf = (corpus: Corpus, spec: CorpusSpec, engine: EngineFacts): ReadonlyArray<Change> => {
  const changes: Array<Change> = []
  const differ = (field: string, from: string | undefined, to: string | undefined, forcesReplacement: boolean) => {
    if (to !== undefined && from !== to) changes.push({ field, from: from ?? "", to, forcesReplacement })
  }
  differ("corpus.displayName", corpus.displayName, spec.displayName, false)
  differ("corpus.description", corpus.description, spec.description, false)
  if (engine.embedder !== undefined && corpus.embedder !== undefined) {
    // The model's name alone does not decide: its dimensions or version may differ, or the file may name none any more.
    differ("corpus.embedding", corpus.embedder, engine.embedder, true)
  } else if (!sameModel(corpus.embeddingModel, spec.embeddingModel)) {
    differ("corpus.embedding.model", corpus.embeddingModel, spec.embeddingModel, true)
  }
  differ("corpus.vectorDb", corpus.vectorDb._tag, spec.vectorDb._tag, true)
  if (corpus.vectorDb._tag === spec.vectorDb._tag) {
    const before = fieldsOf(corpus.vectorDb)
    for (const [key, value] of Object.entries(fieldsOf(spec.vectorDb))) {
      const old = before[key]
      differ(`corpus.vectorDb.${key}`, old, value, key !== "apiKey" && old !== undefined && old !== "")
    }
  }
  return changes
}

const fieldsOf = ({ _tag: _, ...fields }: CorpusSpec["vectorDb"]): Readonly<Record<string, string>> => fields

const fits = (corpus: Corpus, spec: CorpusSpec, engine: EngineFacts): boolean =>
  changesOf(corpus, spec, engine).every((change) => !change.forcesReplacement)

/** Finds the corpus of a candidate, and whether it is what the pipeline declares now. */
export const findCandidate = Effect.fn("sync.findCandidate")(function*(candidate: Generation | undefined, spec: Declared) {
  const engine = yield* Engine
  const corpus = candidate === undefined ? undefined : yield* corpusNamed(candidate.corpus)
  if (candidate === undefined || corpus === undefined) return undefined
  const same = spec.built === undefined || candidate.built === undefined ||
    describes(decodeBuilt(spec.built), decodeBuilt(candidate.built))
  return { generation: candidate, corpus, fits: same && fits(corpus, spec.corpus, engine) }
})

type Declared = Pick<SyncSpec, "corpus" | "built">

/** A corpus to write to. */
export interface Ready {
  readonly corpus: CorpusName
  /** The ledger's key of the corpus. */
  readonly scope: string
  readonly role: "live" | "candidate"
  /**
   * What the ledger knows of the corpus: it is `new` and empty; its files are `known`, and what an earlier run left open is to be
   * settled; it was found by its name, and its files are `unknown`.
   */
  readonly files: "new" | "known" | "unknown"
  /** Files taken in from the corpus's vector database, of which this data directory knew nothing. */
  readonly found?: LostCorpus
}

/**
 * Prepares a corpus to write to, as the pipeline declares it: the live one, created or changed in place; or, for
 * `candidate`, one beside it, started or continued. `replace` means a candidate where the live corpus cannot be changed
 * in place, and otherwise the live one.
 */
export const readyTarget = Effect.fn("sync.readyTarget")(function*(
  pipelineKey: string,
  spec: Declared,
  into: "live" | "candidate" | "replace"
): Effect.fn.Return<Ready, ServiceError | StateError, Corpora | Engine | Ledger> {
  const corpora = yield* Corpora
  const ledger = yield* Ledger
  yield* settleGenerations(pipelineKey, spec.corpus)
  const all = yield* ledger.generations(pipelineKey)
  const live = all.find(({ role }) => role === "live")
  const opened = yield* OpenedFor
  // Where none was live, the first run makes one, and later runs continue with it; an open pipeline may run several times.
  const isOpened = opened?.live !== undefined && pipelineKeyOf(yield* Engine, opened.pipeline) === pipelineKey
  if (isOpened && opened.live !== live?.scope) return yield* generationSwitched
  const known = yield* findTarget(live, spec.corpus)
  if (known._tag === "missing" && into !== "candidate") yield* checkDatabase(spec.corpus)
  const found = into === "candidate" ? undefined : yield* findLost(known, spec.corpus)
  if (found !== undefined) yield* found.takeIn
  const target = found === undefined ? known : yield* findTarget(live, spec.corpus)
  const made = yield* Clock.currentTimeMillis
  if (into === "candidate") {
    // It was found by its name: from now on the ledger knows the live corpus.
    if (target._tag === "found" && target.adopted) yield* adopt(pipelineKey, all, live, target.corpus, made)
    return yield* readyCandidate(pipelineKey, spec, made)
  }
  if (target._tag === "missing") {
    const { name } = yield* corpora.create(spec.corpus)
    // A corpus that somebody deleted in the target is made again under its number.
    const { number, scope } = live ?? nextGeneration({ all, pipelineKey })
    const { built, corpus: { displayName } } = spec
    yield* ledger.beginGeneration(pipelineKey, { number, scope, role: "live", corpus: name, made, built, name: displayName })
    return { corpus: name, scope, role: "live", files: "new" }
  }

  const { adopted, changes, corpus } = target
  const forcing = changes.filter((change) => change.forcesReplacement)
  if (forcing.length > 0) {
    if (into !== "replace") return yield* mustBeReplaced(forcing, adopted)
    if (adopted) yield* adopt(pipelineKey, all, live, corpus, made)
    return yield* readyCandidate(pipelineKey, spec, made)
  }
  yield* checkDatabase(spec.corpus, corpus.name)
  if (changes.length > 0) {
    const { description, displayName, vectorDb } = spec.corpus
    yield* corpora.update(corpus.name, { displayName, description, vectorDb })
  }
  const { scope } = adopted ? yield* adopt(pipelineKey, all, live, corpus, made) : live ?? nextGeneration({ all, pipelineKey })
  if (spec.built !== undefined && spec.built !== live?.built) {
    yield* ledger.noteGeneration(scope, { built: spec.built, name: spec.corpus.displayName })
  }
  return { corpus: corpus.name, scope, role: "live", files: adopted ? "unknown" : "known", found }
})

/** Another corpus is live than when the pipeline was opened: opened again, the pipeline writes to that one, with its settings. */
export const generationSwitched = new ServiceError({
  code: "ABORTED",
  message: "another process promoted a candidate, or rolled back to an earlier generation, while this one opened the pipeline",
  fix: "run again"
})

/** Runs an effect that opens the pipeline, and runs it again where the corpus it was opened for is not live any more. */
export const reopening = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  // A retry would make a schedule for every question, for an error that hardly ever occurs.
  Effect.catchIf(effect, (error) => error === generationSwitched, () => reopening(effect))

/** The open pipeline, and its live generation at that time, whose settings it has. */
export const OpenedFor = Context.Reference<{ readonly pipeline: string; readonly live: string | undefined } | undefined>(
  "sluice/pipeline/sync/OpenedFor",
  {
    defaultValue: () => undefined
  }
)

/** Records a corpus that was found by its name as the live one. */
const adopt = Effect.fnUntraced(function*(
  pipelineKey: string,
  all: ReadonlyArray<Generation>,
  live: Generation | undefined,
  { displayName, name }: Corpus,
  made: number
) {
  const place = live ?? nextGeneration({ all, pipelineKey })
  const generation: Generation = { number: place.number, scope: place.scope, role: "live", corpus: name, made, name: displayName }
  yield* (yield* Ledger).beginGeneration(pipelineKey, generation)
  return generation
})

/** Prepares the existing candidate, where it is what is declared; otherwise a new one in its place. */
const readyCandidate = Effect.fnUntraced(function*(pipelineKey: string, spec: Declared, made: number): Effect.fn.Return<
  Ready,
  ServiceError | StateError,
  Corpora | Engine | Ledger
> {
  const corpora = yield* Corpora
  const ledger = yield* Ledger
  const engine = yield* Engine
  const known = (yield* ledger.generations(pipelineKey)).find(({ role }) => role === "candidate")
  const building = yield* findCandidate(known, spec)
  if (building?.fits === true) {
    const { corpus, generation: { scope } } = building
    return { corpus: corpus.name, scope, role: "candidate", files: "known" }
  }
  if (known !== undefined) {
    yield* ledger.assign(pipelineKey, { [known.scope]: "retired" })
    yield* settleGenerations(pipelineKey, spec.corpus)
  }
  yield* checkDatabase(spec.corpus)
  const next = nextGeneration({ all: yield* ledger.generations(pipelineKey), pipelineKey })
  const displayName = displayNameOf({ ...next, role: "candidate" }, spec.corpus)
  // A crash may have come between creating and recording it.
  const orphan = yield* pages(corpora.list).pipe(
    Stream.filter((other) => other.displayName === displayName && fits(other, spec.corpus, engine)),
    Stream.runHead
  )
  const { name } = yield* Option.match(orphan, {
    onNone: () => corpora.create({ ...spec.corpus, displayName }),
    onSome: (other) => Effect.succeed(other)
  })
  yield* ledger.beginGeneration(pipelineKey, { ...next, role: "candidate", corpus: name, made, built: spec.built, name: displayName })
  return { corpus: name, scope: next.scope, role: "candidate", files: Option.isSome(orphan) ? "unknown" : "new" }
})

/** Finds what the vector database has of the corpus, where the ledger, and possibly the engine, does not know it any more. */
export const findLost = Effect.fn("sync.findLost")(function*(target: Target, spec: CorpusSpec) {
  if (target._tag === "found" && !target.adopted) return undefined
  const lost = yield* (yield* Corpora).lost?.(spec) ?? Effect.undefined
  return target._tag === "found" && lost?.corpus !== target.corpus.name ? undefined : lost
})

export const foundNote = (place: string, files: number): string =>
  `${plural(files, "file")} found in ${place} that this data directory did not know: they are taken in, and none of them is embedded again`

/** Fails where the corpus's vector database cannot be used, before anything is written or embedded for it. */
const checkDatabase = Effect.fnUntraced(function*({ vectorDb }: CorpusSpec, corpus?: CorpusName) {
  const { checkVectors } = yield* Engine
  if (checkVectors !== undefined && vectorDb._tag !== "managed") yield* checkVectors(vectorDb, corpus)
})

const mustBeReplaced = (forcing: ReadonlyArray<Change>, adopted: boolean): ServiceError => {
  const what = forcing.map(({ field, from, to }) => `${field} ${from || "(unset)"} -> ${to}`).join(", ")
  return new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `the corpus cannot be changed in place: ${what} forces replacement`,
    fix: adopted
      ? "see `sluice plan`, which says whose files it holds; give yours another displayName, or build a new one beside it with `sluice run --candidate`"
      : "build the new one beside it with `sluice run --candidate`, check it with `sluice eval --candidate`, and `sluice promote` it; or run again with --replace, which does all of this at once"
  })
}

/** Markers written concurrently. */
const concurrency = 8

/**
 * Moves the ledger's records from the pipeline's former name to its own, and writes the new name into the files' markers,
 * where files can be changed. Returns the number of files; undefined: nothing was recorded under that name, or the
 * pipeline has already run under its own. If killed midway, the next run starts again.
 */
export const takeOverRenamed = Effect.fn("sync.takeOverRenamed")(function*({ pipeline, renamedFrom }: Named) {
  if (renamedFrom === undefined || renamedFrom === pipeline) return undefined
  const engine = yield* Engine
  const ledger = yield* Ledger
  const files = yield* Files
  const [own, old] = [pipelineKeyOf(engine, pipeline), pipelineKeyOf(engine, renamedFrom)]
  const before = yield* ledger.generations(old)
  if (before.length === 0) return undefined
  const now = yield* findGenerations({ pipeline, renamedFrom })
  if (now.pipelineKey === own) {
    // Both names have stored files in one corpus: from here on, those of the old name are known by their markers.
    if (before.some(({ corpus, role }) => role === "live" && corpus === now.live?.corpus)) yield* ledger.forget(old)
    return undefined
  }
  let count = 0
  for (const { role, scope } of before) {
    yield* ledger.entries(scope).pipe(
      Stream.mapEffect(({ file, fingerprint, path, source, state }) => {
        if (file === undefined) return Effect.void
        if (role === "live") count += 1
        if (engine.immutableFiles === true || state !== "done") return Effect.void
        const marker = { source: markerSource(pipeline, source), pathHash: Fingerprint.pathHash(path), fingerprint }
        return files.update(file, { marker }).pipe(ignoreMissing)
      }, { concurrency, unordered: true }),
      Stream.runDrain
    )
  }
  yield* ledger.rename(old, own)
  return count
})

export const takesOverNote = (pipeline: string, files: number): string =>
  `takes over ${plural(files, "file")} of pipeline ${pipeline}, as renamedFrom says; none of them is stored again`
