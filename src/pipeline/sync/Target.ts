import { Effect, Option, Stream } from "effect"
import { type Corpus, type CorpusName, type CorpusSpec, isElsewhere, sameModel } from "../../domain/Corpus.ts"
import { ServiceError, type StateError } from "../../domain/Errors.ts"
import { Corpora, type LostCorpus } from "../../ports/Corpora.ts"
import { Engine } from "../../ports/Engine.ts"
import { Files } from "../../ports/Files.ts"
import { Ledger } from "../../ports/Ledger.ts"
import { pages } from "../../ports/Paging.ts"
import { ignoreMissing } from "./Failures.ts"
import type { Definition } from "../definition/Definition.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { filesText, markerSource, type Named } from "./Session.ts"

/** The ledger's key: the same pipeline on another target is another scope. */
export const scopeOf = (engine: Pick<Engine["Service"], "target">, pipeline: string): string => `${engine.target}#${pipeline}`

/** Where a corpus that is to take another's place is accounted for until it is whole. */
const buildingScope = (scope: string): string => `${scope}~next`

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

/** The names that a pipeline's runs are accounted for by. */
export const namesIn = ({ name, renamedFrom }: Pick<Definition, "name" | "renamedFrom">): Named => ({ pipeline: name, renamedFrom })

/** The scope that accounts for the pipeline: that of the name it had, until a run has taken that over. */
export const findScope = Effect.fn("sync.findScope")(function*({ pipeline, renamedFrom }: Named) {
  const engine = yield* Engine
  const ledger = yield* Ledger
  const own = scopeOf(engine, pipeline)
  // A run that ended early leaves a record with nothing in it.
  if (renamedFrom === undefined || (yield* ledger.sources(own)).length > 0) return own
  const old = scopeOf(engine, renamedFrom)
  return (yield* ledger.scope(old)) === undefined ? own : old
})

/** Looks for the pipeline's corpus without changing anything. */
export const findTarget = Effect.fn("sync.findTarget")(function*(
  scope: string,
  spec: CorpusSpec
): Effect.fn.Return<Target, ServiceError | StateError, Corpora | Engine | Ledger> {
  const corpora = yield* Corpora
  const engine = yield* Engine
  const record = yield* (yield* Ledger).scope(scope)
  const recorded = record === undefined ? undefined : yield* corpusNamed(record.corpus)
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

/** A corpus that an earlier run began to build in the place of the one that serves. */
interface Building {
  readonly scope: string
  readonly corpus: Corpus
  /** It is what the pipeline declares now; otherwise the declaration has changed once more. */
  readonly fits: boolean
}

/** The rebuild in progress, if there is one. */
export const findBuilding = Effect.fn("sync.findBuilding")(function*(own: string, spec: CorpusSpec) {
  const engine = yield* Engine
  const scope = buildingScope(own)
  const record = yield* (yield* Ledger).scope(scope)
  const corpus = record === undefined ? undefined : yield* corpusNamed(record.corpus)
  return corpus === undefined ? undefined : { scope, corpus, fits: fits(corpus, spec, engine) } satisfies Building
})

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
  /** The corpus that serves meanwhile. Only where one is built in its place. */
  readonly serving?: CorpusName
  /** What was taken in from the database of its vectors: nothing here knew of it. */
  readonly found?: LostCorpus
}

/**
 * Makes the target's corpus what the pipeline declares: creates it, updates it, or, when allowed, begins a new one
 * beside it, or continues with that. The old one serves until {@link promote}.
 */
export const readyTarget = Effect.fn("sync.readyTarget")(function*(
  scope: string,
  spec: CorpusSpec,
  replace: boolean
): Effect.fn.Return<Ready, ServiceError | StateError, Corpora | Engine | Ledger> {
  const corpora = yield* Corpora
  const ledger = yield* Ledger
  yield* retireReplaced(scope)
  const known = yield* findTarget(scope, spec)
  if (known._tag === "missing") yield* checkDatabase(spec)
  const found = yield* findLost(known, spec)
  if (found !== undefined) yield* found.takeIn
  const target = found === undefined ? known : yield* findTarget(scope, spec)
  const building = yield* findBuilding(scope, spec)
  const forcing = target._tag === "missing" ? [] : target.changes.filter((change) => change.forcesReplacement)
  // Begun for a declaration that does not hold any more.
  if (building !== undefined && (forcing.length === 0 || (replace && !building.fits))) {
    yield* corpora.delete(building.corpus.name, { force: true }).pipe(ignoreMissing)
    yield* ledger.forget(building.scope)
  }
  if (target._tag === "missing") {
    const { name } = yield* corpora.create(spec)
    yield* ledger.reset(scope, { corpus: name })
    return { corpus: name, scope, action: "created", adopted: false, resumed: false }
  }

  const { adopted, changes, corpus } = target
  if (forcing.length > 0) {
    if (!replace) return yield* mustBeReplaced(forcing, adopted)
    if (building?.fits === true) {
      return {
        corpus: building.corpus.name,
        scope: building.scope,
        action: "building",
        adopted: false,
        resumed: true,
        serving: corpus.name
      }
    }
    yield* checkDatabase(spec)
    const name = yield* build(scope, spec)
    return { corpus: name, scope: buildingScope(scope), action: "building", adopted: false, resumed: false, serving: corpus.name }
  }
  yield* checkDatabase(spec, corpus.name)
  if (changes.length > 0) {
    const { description, displayName, vectorDb } = spec
    yield* corpora.update(corpus.name, { displayName, description, vectorDb })
  }
  if (adopted) yield* ledger.reset(scope, { corpus: corpus.name })
  return { corpus: corpus.name, scope, action: "found", adopted, resumed: !adopted, found }
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
  if (checkVectors !== undefined && isElsewhere(vectorDb)) yield* checkVectors(vectorDb, corpus)
})

const mustBeReplaced = (forcing: ReadonlyArray<Change>, adopted: boolean): ServiceError => {
  const what = forcing.map(({ field, from, to }) => `${field} ${from || "(unset)"} -> ${to}`).join(", ")
  return new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `the corpus cannot be changed in place: ${what} forces replacement`,
    fix: adopted
      ? "see `sluice plan`, which says whose files it holds; give yours another displayName, or run again with --replace to build a new corpus and then delete this one"
      : "see `sluice plan`; run again with --replace: this corpus serves until a new one is whole, and is then deleted"
  })
}

const longestDisplayName = 128
const buildingSuffix = " (next)"
/** Another name than that of the corpus which serves: whoever looks for that finds one. */
const buildingName = ({ displayName }: CorpusSpec): string =>
  Array.from(displayName).slice(0, longestDisplayName - buildingSuffix.length).join("") + buildingSuffix

/** Begins a corpus beside the one that serves. */
const build = Effect.fnUntraced(function*(own: string, spec: CorpusSpec) {
  const corpora = yield* Corpora
  const engine = yield* Engine
  const displayName = buildingName(spec)
  // A crash may have come between creating it and recording it.
  const orphan = yield* pages(corpora.list).pipe(
    Stream.filter((other) => other.displayName === displayName && fits(other, spec, engine)),
    Stream.runHead
  )
  const { name } = yield* Option.match(orphan, {
    onNone: () => corpora.create({ ...spec, displayName }),
    onSome: (other) => Effect.succeed(other)
  })
  yield* (yield* Ledger).reset(buildingScope(own), { corpus: name })
  return name
})

/**
 * The corpus that was built takes the place of the one that serves, which is then deleted. Killed at any point, the next
 * run continues from there: until the ledger's one step the old corpus serves, and from then on the new one.
 */
export const promote = Effect.fn("sync.promote")(function*(own: string, { displayName }: CorpusSpec, { corpus, scope, serving }: Ready) {
  if (serving === undefined) return
  const corpora = yield* Corpora
  yield* corpora.update(corpus, { displayName })
  yield* (yield* Ledger).promote(scope, own, { corpus, replaces: serving })
  yield* retireReplaced(own)
})

/** Deletes the corpus that the scope's own took the place of, if there is one. */
const retireReplaced = Effect.fn("sync.retireReplaced")(function*(scope: string) {
  const ledger = yield* Ledger
  const record = yield* ledger.scope(scope)
  if (record?.replaces === undefined) return
  const corpora = yield* Corpora
  yield* corpora.delete(record.replaces, { force: true }).pipe(ignoreMissing)
  yield* ledger.setScope(scope, { corpus: record.corpus })
})

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
  `takes over ${filesText(files)} of pipeline ${pipeline}, as renamedFrom says; nothing of it is stored anew`
