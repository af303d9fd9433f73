import { Effect, Option, Stream } from "effect"
import { type Corpus, type CorpusName, type CorpusSpec, sameModel } from "../../domain/Corpus.ts"
import { ServiceError, type StateError } from "../../domain/Errors.ts"
import { Corpora } from "../../ports/Corpora.ts"
import { Ledger } from "../../ports/Ledger.ts"
import { pages } from "../../ports/Paging.ts"
import { Engine } from "../../ports/Engine.ts"
import { ignoreMissing } from "./Applying.ts"
import { holdReason } from "./Deleting.ts"
import type { SyncSpec } from "./SyncSpec.ts"

/** How the declared corpus stands to the one in the target. */
export type Target =
  | { readonly _tag: "missing" }
  /** Known to the ledger, or found by its display name. */
  | { readonly _tag: "found"; readonly corpus: Corpus; readonly adopted: boolean; readonly changes: ReadonlyArray<Change> }

/** One difference between the declared corpus and the existing one. */
export interface Change {
  readonly field: string
  readonly from: string
  readonly to: string
  /** It cannot be changed in place: the corpus has to be built anew. */
  readonly forcesReplacement: boolean
}

/** Looks for the pipeline's corpus without touching anything. */
export const findTarget = Effect.fn("sync.findTarget")(function*(
  scope: string,
  spec: CorpusSpec
): Effect.fn.Return<Target, ServiceError | StateError, Corpora | Engine | Ledger> {
  const corpora = yield* Corpora
  const ledger = yield* Ledger
  const engine = yield* Engine
  const recorded = yield* ledger.scope(scope)
  if (recorded !== undefined) {
    const corpus = yield* corpora.get(recorded.corpus).pipe(
      Effect.catchIf((error) => error.code === "NOT_FOUND", () => Effect.void)
    )
    if (corpus !== undefined) return found(corpus, spec, engine, false)
  }
  const named = yield* pages(corpora.list).pipe(
    Stream.filter((corpus) => corpus.displayName === spec.displayName),
    Stream.take(2),
    Stream.runCollect
  )
  const [only, another] = named
  if (only === undefined) return { _tag: "missing" }
  if (another !== undefined) {
    return yield* new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `several corpora are called "${spec.displayName}", and none is recorded as this pipeline's`,
      fix: "give the corpus another displayName, or delete the ones you do not need (sluice corpora list)"
    })
  }
  return found(only, spec, engine, true)
})

const found = (corpus: Corpus, spec: CorpusSpec, engine: EngineFacts, adopted: boolean): Target => ({
  _tag: "found",
  corpus,
  adopted,
  changes: changesOf(corpus, spec, engine)
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

/** Where a corpus that is to take another's place is accounted for until it is whole. */
export const buildingScope = (scope: string): string => `${scope}~next`

const longestDisplayName = 128
const buildingSuffix = " (next)"
/** Another name than that of the corpus which serves: whoever looks for that finds one. */
const buildingName = ({ displayName }: CorpusSpec): string =>
  Array.from(displayName).slice(0, longestDisplayName - buildingSuffix.length).join("") + buildingSuffix

/** A corpus that an earlier run began to build in the place of the one that serves. */
interface Building {
  readonly scope: string
  readonly corpus: Corpus
  /** It is what the pipeline declares now; otherwise the declaration has changed once more. */
  readonly fits: boolean
}

/** The rebuild under way, if there is one. */
export const findBuilding = Effect.fn("sync.findBuilding")(function*(own: string, spec: CorpusSpec) {
  const corpora = yield* Corpora
  const engine = yield* Engine
  const scope = buildingScope(own)
  const record = yield* (yield* Ledger).scope(scope)
  if (record === undefined) return undefined
  const corpus = yield* corpora.get(record.corpus).pipe(Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.void))
  return corpus === undefined ? undefined : { scope, corpus, fits: fits(corpus, spec, engine) } satisfies Building
})

const fits = (corpus: Corpus, spec: CorpusSpec, engine: EngineFacts): boolean =>
  changesOf(corpus, spec, engine).every((change) => !change.forcesReplacement)

export interface Ready {
  readonly corpus: CorpusName
  /** Under which the ledger accounts for it. */
  readonly scope: string
  readonly action: "created" | "found" | "building"
  /** The ledger knows nothing of what the corpus holds. */
  readonly adopted: boolean
  /** An earlier run wrote to it: what that left open is to be settled. */
  readonly resumed: boolean
  /** The corpus that serves meanwhile. Only where one is built in its place. */
  readonly serving?: CorpusName
}

/**
 * Makes the target's corpus what the pipeline declares: creates it, updates it, or, when allowed, begins a new one
 * beside it, or goes on with that. The old one serves until {@link promote}.
 */
export const readyTarget = Effect.fn("sync.readyTarget")(function*(
  scope: string,
  spec: CorpusSpec,
  replace: boolean
): Effect.fn.Return<Ready, ServiceError | StateError, Corpora | Engine | Ledger> {
  const corpora = yield* Corpora
  const ledger = yield* Ledger
  yield* retireReplaced(scope)
  const target = yield* findTarget(scope, spec)
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
    if (!replace) {
      const what = forcing.map((c) => `${c.field} ${c.from || "(unset)"} -> ${c.to}`).join(", ")
      return yield* new ServiceError({
        code: "FAILED_PRECONDITION",
        message: `the corpus cannot be changed in place: ${what} forces replacement`,
        fix: adopted
          ? "see `sluice plan`, which says whose files it holds; give yours another displayName, or run again with --replace to build a new corpus and then delete this one"
          : "see `sluice plan`; run again with --replace: this corpus serves until a new one is whole, and is then deleted"
      })
    }
    if (building?.fits === true) {
      return { corpus: building.corpus.name, scope: building.scope, action: "building", adopted: false, resumed: true, serving: corpus.name }
    }
    const name = yield* begin(scope, spec)
    return { corpus: name, scope: buildingScope(scope), action: "building", adopted: false, resumed: false, serving: corpus.name }
  }
  if (changes.length > 0) {
    yield* corpora.update(corpus.name, {
      displayName: spec.displayName,
      description: spec.description,
      vectorDb: spec.vectorDb
    })
  }
  if (adopted) yield* ledger.reset(scope, { corpus: corpus.name })
  return { corpus: corpus.name, scope, action: "found", adopted, resumed: !adopted }
})

/** Begins a corpus beside the one that serves. */
const begin = Effect.fnUntraced(function*(own: string, spec: CorpusSpec) {
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
 * run goes on from there: until the ledger's one step the old corpus serves, and from then on the new one.
 */
export const promote = Effect.fn("sync.promote")(function*(own: string, spec: CorpusSpec, { corpus, scope, serving }: Ready) {
  if (serving === undefined) return
  const corpora = yield* Corpora
  yield* corpora.update(corpus, { displayName: spec.displayName })
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

/**
 * Why a corpus that was built may not serve yet: by the rule that holds deletes, of the files that the one which serves
 * has and the new one has not. Undefined: it may.
 */
export const whyNotPromoted = Effect.fnUntraced(function*(
  own: string,
  { scope }: Ready,
  { maxDelete, sources }: Pick<SyncSpec, "maxDelete" | "sources">
) {
  const ledger = yield* Ledger
  const stored = (of: string) =>
    ledger.entries(of).pipe(
      Stream.filter(({ file }) => file !== undefined),
      Stream.runFold(() => new Map<string, number>(), (counts, { source }) => counts.set(source, (counts.get(source) ?? 0) + 1))
    )
  const before = yield* stored(own)
  const now = yield* stored(scope)
  for (const [source, known] of before) {
    const missing = known - (now.get(source) ?? 0)
    const why = missing > 0 ? holdReason({ known, missing }, maxDelete, sources.some(({ id }) => id === source)) : undefined
    if (why !== undefined) return `${source}: ${why}`
  }
  return undefined
})
