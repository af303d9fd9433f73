import { Effect, Stream } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import { defined } from "../../domain/Defined.ts"
import type { ServiceError, StateError } from "../../domain/Errors.ts"
import { plural } from "../../domain/Numbers.ts"
import type { Marker, RagFileName } from "../../domain/RagFile.ts"
import type { Others } from "../../domain/Report.ts"
import type { Corpora } from "../../ports/Corpora.ts"
import type { Engine } from "../../ports/Engine.ts"
import { Files, type HeldFile } from "../../ports/Files.ts"
import { Ledger, type LedgerEntry } from "../../ports/Ledger.ts"
import { pages } from "../../ports/Paging.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { mayBeFetched } from "./ServiceFiles.ts"
import { markerSource, type Named, namesOf, type SyncSpec } from "./Session.ts"
import { findGeneration } from "./Generations.ts"
import { findTarget } from "./Target.ts"

/** A difference between what the ledger says was stored and what the target has. */
export type Difference =
  /** In the ledger but not in the target: someone deleted it there. */
  | { readonly type: "missing"; readonly source: string; readonly path: string; readonly file: RagFileName }
  /** In both, but the target has another version, or one it cannot use. */
  | { readonly type: "differs"; readonly source: string; readonly path: string; readonly file: RagFileName; readonly why: string }
  /** In the target with this pipeline's marker, but not in the ledger. */
  | { readonly type: "stray"; readonly file: RagFileName; readonly displayName: string }
  /**
   * In the target without this pipeline's marker; the pipeline never touches it. `pipeline` is the pipeline in its
   * marker; absent: it has no marker.
   */
  | { readonly type: "foreign"; readonly file: RagFileName; readonly displayName: string; readonly pipeline?: string }
  /** A write that was begun and not confirmed; the next run settles it. */
  | { readonly type: "open"; readonly source: string; readonly path: string }

/** Comparison of the ledger with the target, in numbers of files. */
export interface Diff {
  readonly corpus: "found" | "missing"
  /** Files of others in a corpus that has none of this pipeline's: the next run joins them. */
  readonly joins?: Others
  /** Files that are equal in both. */
  readonly same: number
  readonly differences: Readonly<Record<Difference["type"], number>>
}

/**
 * Compares the ledger with the target, reading both and writing neither. The sources are not read: `plan` does that.
 * Keeps a row in memory for each file the ledger knows.
 */
export const diff = Effect.fn("diff")(function*(
  spec: Named & Pick<SyncSpec, "corpus">,
  observe: (difference: Difference) => Effect.Effect<void> = () => Effect.void
): Effect.fn.Return<Diff, ServiceError | StateError, Corpora | Files | Engine | Ledger> {
  const { inUse, scope } = yield* findGeneration(spec)
  const target = yield* findTarget(inUse, spec.corpus)
  const differences = { missing: 0, differs: 0, stray: 0, foreign: 0, open: 0 }
  const others = countOthers({})
  let same = 0
  yield* compareTarget(scope, spec, {
    // A ledger of another corpus, or of none, knows nothing of this one.
    known: target._tag === "missing" || !target.adopted,
    corpus: target._tag === "missing" ? undefined : target.corpus.name
  }, (comparison) => {
    others.see(comparison)
    if (comparison._tag === "same") return void (same += 1)
    differences[comparison._tag] += 1
    return observe(differenceOf(comparison))
  })
  return defined({ corpus: target._tag, joins: others.joined(), same, differences })
})

/** Comparison of a file in the ledger and in the target; see {@link Difference}. */
export type Comparison =
  | { readonly _tag: "same" }
  | { readonly _tag: "missing"; readonly entry: Known }
  /** `broken`: the target cannot use its version. */
  | { readonly _tag: "differs"; readonly entry: Known; readonly why: string; readonly broken: boolean }
  | { readonly _tag: "stray"; readonly file: HeldFile; readonly marker: Marker }
  | { readonly _tag: "foreign"; readonly file: HeldFile }
  | { readonly _tag: "open"; readonly entry: LedgerEntry }

type Known = LedgerEntry & { readonly file: RagFileName }

/** Page sizes of the target's listing: what any engine supports, and what one supports that lists only the compared fields. */
const pageSize = 100
const heldPageSize = 1_000

/**
 * Compares the ledger with the target's own list of files, reading both and writing neither. Keeps a row in memory for
 * each file the ledger knows.
 *
 * @param target.corpus absent: there is no corpus
 * @param target.known whether the ledger's entries are about this corpus
 */
export const compareTarget = Effect.fn("sync.compareTarget")(function*<E = never, R = never>(
  scope: string,
  pipeline: Named,
  target: { readonly corpus?: CorpusName; readonly known: boolean },
  observe: (comparison: Comparison) => Effect.Effect<void, E, R> | void
) {
  const ledger = yield* Ledger
  const files = yield* Files
  const known = new Map<RagFileName, Known>()
  /** An effect for each file would take longer than comparing it: most are equal, and need nothing. */
  const observeAll = <A>(items: ReadonlyArray<A>, compare: (item: A) => Comparison | undefined): Effect.Effect<void, E, R> => {
    const wanted: Array<Effect.Effect<void, E, R>> = []
    for (const item of items) {
      const comparison = compare(item)
      const effect = comparison === undefined ? undefined : observe(comparison)
      if (Effect.isEffect(effect)) wanted.push(effect)
    }
    // Both lists are read in this thread: between their pages, other work gets the event loop, the heap's guard included.
    return Effect.andThen(Effect.yieldNow, Effect.forEach(wanted, (effect) => effect, { discard: true }))
  }
  if (target.known) {
    yield* ledger.entries(scope).pipe(Stream.runForEachArray((entries) =>
      observeAll(entries, (entry) => {
        const { file } = entry
        if (file !== undefined) known.set(file, { ...entry, file })
        return entry.state === "intent" ? { _tag: "open", entry } : undefined
      })
    ))
  }
  if (target.corpus !== undefined) {
    const { corpus } = target
    const marks = namesOf(pipeline).map((name) => markerSource(name, ""))
    const { held } = files
    const found: Stream.Stream<HeldFile, ServiceError> = held === undefined
      ? pages((page) => files.list(corpus, page), pageSize)
      : pages((page) => held(corpus, page), heldPageSize)
    const compare = (file: HeldFile): Comparison => {
      const entry = known.get(file.name)
      known.delete(file.name)
      const { marker } = file
      if (entry === undefined) {
        return marker !== undefined && marks.some((mark) => marker.source.startsWith(mark))
          ? { _tag: "stray", file, marker }
          : { _tag: "foreign", file }
      }
      const why = whyDifferent(file, entry)
      return why === undefined ? { _tag: "same" } : { _tag: "differs", entry, why, broken: file.state === "ERROR" }
    }
    yield* Stream.runForEachArray(found, (files) => observeAll(files, compare))
  }
  yield* observeAll([...known.values()], (entry) => ({ _tag: "missing", entry }))
})

const whyDifferent = ({ errorStatus, marker, state }: HeldFile, entry: Known): string | undefined => {
  if (state === "ERROR") return errorStatus ?? "the target could not process it"
  // The ledger knows the target's version only of entries that are done. Metadata rules leave markers that cannot be changed as they are.
  return entry.state === "done" && marker !== undefined &&
      !Fingerprint.sameButRules(Fingerprint.parse(marker.fingerprint), Fingerprint.parse(entry.fingerprint))
    ? "the target holds another version"
    : undefined
}

const differenceOf = (comparison: Exclude<Comparison, { readonly _tag: "same" }>): Difference => {
  switch (comparison._tag) {
    case "missing":
    case "differs": {
      const { file, path, source } = comparison.entry
      return comparison._tag === "missing"
        ? { type: "missing", source, path, file }
        : { type: "differs", source, path, file, why: comparison.why }
    }
    case "open":
      return { type: "open", source: comparison.entry.source, path: comparison.entry.path }
    case "stray": {
      const { displayName, name } = comparison.file
      return { type: "stray", file: name, displayName }
    }
    case "foreign": {
      const { displayName, marker, name } = comparison.file
      return { type: "foreign", file: name, displayName, pipeline: marker === undefined ? undefined : pipelineOf(marker) }
    }
  }
}

/** The pipeline that a marker names: the part before the source, as neither name may contain a slash. */
const pipelineOf = ({ source }: Marker): string => source.split("/")[0] ?? ""

/** Counts the files of a corpus that are not the pipeline's, while a comparison runs. */
export const countOthers = ({ sources = [] }: Partial<Pick<SyncSpec, "sources">>) => {
  const pipelines = new Map<string, number>()
  let unmarked = 0
  let own = false
  const found = (): Others | undefined => {
    const files = [...pipelines.values()].reduce((sum, n) => sum + n, unmarked)
    return files === 0 ? undefined : { files, pipelines: Object.fromEntries(pipelines), unmarked }
  }
  return {
    see: (comparison: Comparison): void => {
      if (comparison._tag !== "foreign") return void (own = true)
      const { file } = comparison
      if (file.marker === undefined) unmarked += sources.some((source) => mayBeFetched(source, file)) ? 0 : 1
      else pipelines.set(pipelineOf(file.marker), (pipelines.get(pipelineOf(file.marker)) ?? 0) + 1)
    },
    found,
    /** Files that a pipeline new to the corpus joins: undefined where it has files of its own there. */
    joined: (): Others | undefined => (own ? undefined : found())
  }
}

/**
 * Counts the files of others in a whole corpus; see {@link countOthers}.
 *
 * @param scope the ledger's key of the corpus: its entries are the pipeline's, with or without a marker
 */
export const findOthers = Effect.fnUntraced(function*(scope: string, corpus: CorpusName, spec: Named & Pick<SyncSpec, "sources">) {
  const others = countOthers(spec)
  yield* compareTarget(scope, spec, { corpus, known: true }, (comparison) => others.see(comparison))
  return others.found()
})

/** Describes whose files these are. */
const othersText = ({ files, pipelines, unmarked }: Others): string => {
  const whose = [
    ...Object.entries(pipelines).map(([pipeline, n]) => `${n} of pipeline ${pipeline}`),
    ...(unmarked === 0 ? [] : [`${unmarked} without a pipeline's mark`])
  ]
  return `${plural(files, "file")} of others (${whose.join(", ")})`
}

/** Note for a pipeline that finds a corpus of its name with files of others in it. */
export const joinsNote = (corpus: string, others: Others): string =>
  `joins corpus ${corpus}, which holds ${
    othersText(others)
  }; documents that both store are found twice; another corpus.displayName keeps them apart${renamedHint(others)}`

/** A renamed pipeline looks like another pipeline that shares the corpus: only a person can distinguish them. */
const renamedHint = ({ pipelines }: Others): string => {
  const [first] = Object.entries(pipelines).toSorted(([, a], [, b]) => b - a)
  return first === undefined
    ? ""
    : `; if this pipeline was called ${first[0]} before, \`renamedFrom: ${first[0]}\` in its file takes those over`
}

export const replacesNote = (corpus: string, others: Others): string =>
  `a run with --replace deletes corpus ${corpus} with ${othersText(others)}; another corpus.displayName keeps them`
