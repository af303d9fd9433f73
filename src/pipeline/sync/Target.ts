import { Effect, Option, Stream } from "effect"
import { type Corpus, type CorpusName, type CorpusSpec, sameModel } from "../../domain/Corpus.ts"
import { ServiceError, type StateError } from "../../domain/Errors.ts"
import { Corpora } from "../../ports/Corpora.ts"
import { Ledger } from "../../ports/Ledger.ts"
import { pages } from "../../ports/Paging.ts"
import { ignoreMissing } from "./Applying.ts"

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
): Effect.fn.Return<Target, ServiceError | StateError, Corpora | Ledger> {
  const corpora = yield* Corpora
  const ledger = yield* Ledger
  const recorded = yield* ledger.scope(scope)
  if (recorded !== undefined) {
    const corpus = yield* corpora.get(recorded.corpus).pipe(
      Effect.catchIf((error) => error.code === "NOT_FOUND", () => Effect.void)
    )
    if (corpus !== undefined) return found(corpus, spec, false)
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
  return found(only, spec, true)
})

const found = (corpus: Corpus, spec: CorpusSpec, adopted: boolean): Target => ({
  _tag: "found",
  corpus,
  adopted,
  changes: changesOf(corpus, spec)
})

/** The rules of platform-api section 2.8: what may change, what may be set once, what never changes. */
const changesOf = (corpus: Corpus, spec: CorpusSpec): ReadonlyArray<Change> => {
  const changes: Array<Change> = []
  const differ = (field: string, from: string | undefined, to: string | undefined, forcesReplacement: boolean) => {
    if (to !== undefined && from !== to) changes.push({ field, from: from ?? "", to, forcesReplacement })
  }
  differ("corpus.displayName", corpus.displayName, spec.displayName, false)
  differ("corpus.description", corpus.description, spec.description, false)
  if (!sameModel(corpus.embeddingModel, spec.embeddingModel)) {
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

export interface Ready {
  readonly corpus: CorpusName
  readonly action: "created" | "found" | "replaced"
  /** The ledger knows nothing of what the corpus holds. */
  readonly adopted: boolean
}

/**
 * Makes the target's corpus what the pipeline declares: creates it, updates it, or, when allowed, starts a new one in
 * its place. The old one is deleted by {@link retireReplaced} once the new one is filled.
 */
export const readyTarget = Effect.fn("sync.readyTarget")(function*(
  scope: string,
  spec: CorpusSpec,
  replace: boolean
): Effect.fn.Return<Ready, ServiceError | StateError, Corpora | Ledger> {
  const corpora = yield* Corpora
  const ledger = yield* Ledger
  const target = yield* findTarget(scope, spec)
  if (target._tag === "missing") {
    const { name } = yield* corpora.create(spec)
    yield* ledger.reset(scope, { corpus: name })
    return { corpus: name, action: "created", adopted: false }
  }

  const { adopted, changes, corpus } = target
  const forcing = changes.filter((change) => change.forcesReplacement)
  if (forcing.length > 0) {
    if (!replace) {
      const what = forcing.map((c) => `${c.field} ${c.from || "(unset)"} -> ${c.to}`).join(", ")
      return yield* new ServiceError({
        code: "FAILED_PRECONDITION",
        message: `the corpus cannot be changed in place: ${what} forces replacement`,
        fix: adopted
          ? "see `sluice plan`, which says whose files it holds; give yours another displayName, or run again with --replace to build a new corpus and delete this one"
          : "see `sluice plan`; run again with --replace to build a new corpus and delete this one"
      })
    }
    // A crash may have come between creating the new corpus and recording it.
    const orphan = yield* pages(corpora.list).pipe(
      Stream.filter((other) =>
        other.name !== corpus.name && other.displayName === spec.displayName &&
        changesOf(other, spec).every((change) => !change.forcesReplacement)
      ),
      Stream.runHead
    )
    const { name } = yield* Option.match(orphan, {
      onNone: () => corpora.create(spec),
      onSome: (other) => Effect.succeed(other)
    })
    yield* ledger.reset(scope, { corpus: name, replaces: corpus.name })
    return { corpus: name, action: "replaced", adopted: false }
  }
  if (changes.length > 0) {
    yield* corpora.update(corpus.name, {
      displayName: spec.displayName,
      ...(spec.description === undefined ? {} : { description: spec.description }),
      vectorDb: spec.vectorDb
    })
  }
  if (adopted) yield* ledger.reset(scope, { corpus: corpus.name })
  return { corpus: corpus.name, action: "found", adopted }
})

/** Deletes the corpus that the scope's own took the place of, if there is one. */
export const retireReplaced = Effect.fn("sync.retireReplaced")(function*(scope: string) {
  const ledger = yield* Ledger
  const record = yield* ledger.scope(scope)
  if (record?.replaces === undefined) return
  const corpora = yield* Corpora
  yield* corpora.delete(record.replaces, { force: true }).pipe(ignoreMissing)
  yield* ledger.setScope(scope, { corpus: record.corpus })
})
