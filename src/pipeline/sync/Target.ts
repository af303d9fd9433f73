import { Clock, Context, Effect, Option, Stream } from "effect"
import { type Corpus, type CorpusName, type CorpusSpec, sameModel } from "../../domain/Corpus.ts"
import { ServiceError, type StateError } from "../../domain/Errors.ts"
import { Corpora, type LostCorpus } from "../../ports/Corpora.ts"
import { Engine } from "../../ports/Engine.ts"
import { Files } from "../../ports/Files.ts"
import { type Generation, Ledger } from "../../ports/Ledger.ts"
import { pages } from "../../ports/Paging.ts"
import { decodeBuilt, describes } from "./Built.ts"
import { ignoreMissing } from "./Failures.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { displayNameOf, findGenerations, nextGeneration, scopeOf, settleGenerations } from "./Generations.ts"
import { filesText, markerSource, type Named, type SyncSpec } from "./Session.ts"

/** Accounts for nothing: of a corpus that is not there yet, or that was found by its name, the ledger knows nothing. */
export const emptyScope = (scope: string): string => `${scope}#new`

/** How the declared corpus stands to the one in the target. */
export type Target =
  | { readonly _tag: "missing" }
  /** Known to the ledger, or found by its display name (`adopted`). */
  | { readonly _tag: "found"; readonly corpus: Corpus; readonly adopted: boolean; readonly changes: ReadonlyArray<Change> }

/** One difference between the declared corpus and the existing one. */
export interface Change {
  readonly field: string
  readonly from: string
  readonly to: string
  /** It cannot be changed in place: the corpus has to be built anew. */
  readonly forcesReplacement: boolean
}

/** Looks for the corpus of a generation, or for one of the pipeline's name where none is recorded, without changing anything. */
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

/** What of a corpus may change, what may be set once, and what a new corpus is needed for. */
const changesOf = (corpus: Corpus, spec: CorpusSpec, engine: EngineFacts): ReadonlyArray<Change> => {
  const changes: Array<Change> = []
  const differ = (field: string, from: string | undefined, to: string | undefined, forcesReplacement: boolean) => {
    if (to !== undefined && from !== to) changes.push({ field, from: from ?? "", to, forcesReplacement })
  }
  differ("corpus.displayName", corpus.displayName, spec.displayName, false)
  differ("corpus.description", corpus.description, spec.description, false)
  if (engine.embedder !== undefined && corpus.embedder !== undefined) {
    // The model that the file names is not all: its dimensions, its version, or that none is named any more.
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

/** A candidate that is there, and whether it is what the pipeline declares now. */
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
  /** The key under which the ledger accounts for it. */
  readonly scope: string
  readonly action: "created" | "found" | "building"
  /** The ledger knows nothing of what the corpus holds. */
  readonly adopted: boolean
  /** An earlier run wrote to it: what that left open is to be settled. */
  readonly resumed: boolean
  /** It is a candidate: the corpus that serves is another one. */
  readonly candidate: boolean
  /** What was taken in from the database of its vectors: nothing here knew of it. */
  readonly found?: LostCorpus
}

/**
 * Makes a corpus of the target what the pipeline declares, to write to it: the one that serves, created or changed in
 * place; or, for `candidate`, one beside it, begun or continued. `replace` is that where it cannot be changed in place,
 * and otherwise the one that serves.
 */
export const readyTarget = Effect.fn("sync.readyTarget")(function*(
  key: string,
  spec: Declared,
  into: "live" | "candidate" | "replace"
): Effect.fn.Return<Ready, ServiceError | StateError, Corpora | Engine | Ledger> {
  const corpora = yield* Corpora
  const ledger = yield* Ledger
  yield* settleGenerations(key, spec.corpus)
  const all = yield* ledger.generations(key)
  const live = all.find(({ role }) => role === "live")
  const opened = yield* OpenedFor
  // Where none served, the first run makes one, with which later runs go on; others may run in the same opening, to be tried.
  const isOpened = opened?.live !== undefined && scopeOf(yield* Engine, opened.pipeline) === key
  if (isOpened && opened.live !== live?.scope) return yield* generationSwitched
  const known = yield* findTarget(live, spec.corpus)
  if (known._tag === "missing" && into !== "candidate") yield* checkDatabase(spec.corpus)
  const found = into === "candidate" ? undefined : yield* findLost(known, spec.corpus)
  if (found !== undefined) yield* found.takeIn
  const target = found === undefined ? known : yield* findTarget(live, spec.corpus)
  const made = yield* Clock.currentTimeMillis
  if (into === "candidate") {
    // It was found by its name: from now on the ledger knows which one serves.
    if (target._tag === "found" && target.adopted) yield* adopt(key, all, live, target.corpus, made)
    return yield* readyCandidate(key, spec, made)
  }
  if (target._tag === "missing") {
    const { name } = yield* corpora.create(spec.corpus)
    // One that somebody deleted there has its place again.
    const { number, scope } = live ?? nextGeneration({ all, key })
    const { built, corpus: { displayName } } = spec
    yield* ledger.beginGeneration(key, { number, scope, role: "live", corpus: name, made, built, name: displayName })
    return { corpus: name, scope, action: "created", adopted: false, resumed: false, candidate: false }
  }

  const { adopted, changes, corpus } = target
  const forcing = changes.filter((change) => change.forcesReplacement)
  if (forcing.length > 0) {
    if (into !== "replace") return yield* mustBeReplaced(forcing, adopted)
    if (adopted) yield* adopt(key, all, live, corpus, made)
    return yield* readyCandidate(key, spec, made)
  }
  yield* checkDatabase(spec.corpus, corpus.name)
  if (changes.length > 0) {
    const { description, displayName, vectorDb } = spec.corpus
    yield* corpora.update(corpus.name, { displayName, description, vectorDb })
  }
  const { scope } = adopted ? yield* adopt(key, all, live, corpus, made) : live ?? nextGeneration({ all, key })
  if (spec.built !== undefined && spec.built !== live?.built) {
    yield* ledger.noteGeneration(scope, { built: spec.built, name: spec.corpus.displayName })
  }
  return { corpus: corpus.name, scope, action: "found", adopted, resumed: !adopted, candidate: false, found }
})

/** Another corpus serves than when the pipeline was opened: whoever opens it again writes to that one, by its settings. */
export const generationSwitched = new ServiceError({
  code: "ABORTED",
  message: "another process promoted a candidate, or went back to an earlier generation, while this one opened the pipeline",
  fix: "run again"
})

/** Opens the pipeline again, with `effect`, where it was opened for a corpus that does not serve any more. */
export const reopening = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  // A schedule would be made at every question, and is for errors that nearly never come.
  Effect.catchIf(effect, (error) => error === generationSwitched, () => reopening(effect))

/** The pipeline that was opened, and its live generation then, whose settings it has. */
export const OpenedFor = Context.Reference<{ readonly pipeline: string; readonly live: string | undefined } | undefined>(
  "sluice/pipeline/sync/OpenedFor",
  {
    defaultValue: () => undefined
  }
)

/** Notes a corpus that was found by its name as the one that serves. */
const adopt = Effect.fnUntraced(function*(
  key: string,
  all: ReadonlyArray<Generation>,
  live: Generation | undefined,
  { displayName, name }: Corpus,
  made: number
) {
  const place = live ?? nextGeneration({ all, key })
  const generation: Generation = { number: place.number, scope: place.scope, role: "live", corpus: name, made, name: displayName }
  yield* (yield* Ledger).beginGeneration(key, generation)
  return generation
})

/** The candidate that is there, where it is what is declared; otherwise a new one takes its place. */
const readyCandidate = Effect.fnUntraced(function*(key: string, spec: Declared, made: number): Effect.fn.Return<
  Ready,
  ServiceError | StateError,
  Corpora | Engine | Ledger
> {
  const corpora = yield* Corpora
  const ledger = yield* Ledger
  const engine = yield* Engine
  const known = (yield* ledger.generations(key)).find(({ role }) => role === "candidate")
  const building = yield* findCandidate(known, spec)
  if (building?.fits === true) {
    const { corpus, generation: { scope } } = building
    return { corpus: corpus.name, scope, action: "building", adopted: false, resumed: true, candidate: true }
  }
  if (known !== undefined) {
    yield* ledger.assign(key, { [known.scope]: "retired" })
    yield* settleGenerations(key, spec.corpus)
  }
  yield* checkDatabase(spec.corpus)
  const next = nextGeneration({ all: yield* ledger.generations(key), key })
  const displayName = displayNameOf({ ...next, role: "candidate" }, spec.corpus)
  // A crash may have come between creating it and recording it.
  const orphan = yield* pages(corpora.list).pipe(
    Stream.filter((other) => other.displayName === displayName && fits(other, spec.corpus, engine)),
    Stream.runHead
  )
  const { name } = yield* Option.match(orphan, {
    onNone: () => corpora.create({ ...spec.corpus, displayName }),
    onSome: (other) => Effect.succeed(other)
  })
  yield* ledger.beginGeneration(key, { ...next, role: "candidate", corpus: name, made, built: spec.built, name: displayName })
  return { corpus: name, scope: next.scope, action: "building", adopted: Option.isSome(orphan), resumed: false, candidate: true }
})

/** What the database of the corpus's vectors has of it, where neither the ledger nor, it may be, the engine knows it any more. */
export const findLost = Effect.fn("sync.findLost")(function*(target: Target, spec: CorpusSpec) {
  if (target._tag === "found" && !target.adopted) return undefined
  const lost = yield* (yield* Corpora).lost?.(spec) ?? Effect.undefined
  return target._tag === "found" && lost?.corpus !== target.corpus.name ? undefined : lost
})

export const foundNote = (place: string, files: number): string =>
  `${
    filesText(files)
  } found in ${place}, which this data directory does not know of: they are taken in, and nothing of them is embedded again`

/** Fails where the database of the corpus's vectors cannot be used, before anything is written or embedded for it. */
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
      : "build the new one beside it with `sluice run --candidate`, look at it with `sluice eval --candidate`, and `sluice promote` it; or run again with --replace, which does it in one go"
  })
}

/** Files whose markers are written at once. */
const concurrency = 8

/**
 * Moves what the ledger has under the name that the pipeline had to its own, and writes the new name into the files'
 * markers where files can be changed. Answers how many files there are; undefined: nothing was under that name, or the
 * pipeline has run under its own already. Killed on the way, the next run starts it again.
 */
export const takeOverRenamed = Effect.fn("sync.takeOverRenamed")(function*({ pipeline, renamedFrom }: Named) {
  if (renamedFrom === undefined || renamedFrom === pipeline) return undefined
  const engine = yield* Engine
  const ledger = yield* Ledger
  const files = yield* Files
  const [own, old] = [scopeOf(engine, pipeline), scopeOf(engine, renamedFrom)]
  const before = yield* ledger.generations(old)
  if (before.length === 0) return undefined
  const now = yield* findGenerations({ pipeline, renamedFrom })
  if (now.key === own) {
    // Both have put files into one corpus: those of the old name are known by their markers from here on.
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
  `takes over ${filesText(files)} of pipeline ${pipeline}, as renamedFrom says; nothing of it is stored anew`
