import { Effect, Stream } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import type { Marker, RagFile, RagFileName } from "../../domain/RagFile.ts"
import type { Others } from "../../domain/Report.ts"
import { Files } from "../../ports/Files.ts"
import { pages } from "../../ports/Paging.ts"
import { Ledger } from "../../ports/Ledger.ts"
import { type Named, namesOf, type SyncSource, type SyncSpec } from "./SyncSpec.ts"

/** The pipeline that a mark names: what comes before the source, as neither name may hold a slash. */
export const pipelineOf = ({ source }: Marker): string => source.split("/")[0] ?? ""

/** Counts the files of a corpus that are not the pipeline's, as a listing passes by. */
export const countOthers = (pipeline: Named & Partial<Pick<SyncSpec, "sources">>) => {
  const { sources = [] } = pipeline
  const names = namesOf(pipeline)
  const pipelines = new Map<string, number>()
  let unmarked = 0
  let own = false
  const found = (): Others | undefined => {
    const files = [...pipelines.values()].reduce((sum, n) => sum + n, unmarked)
    return files === 0 ? undefined : { files, pipelines: Object.fromEntries(pipelines), unmarked }
  }
  return {
    see: (file: RagFile): void => {
      const { marker } = file
      const owner = marker === undefined ? undefined : pipelineOf(marker)
      if (owner === undefined) unmarked += sources.some((source) => fetched(source, file)) ? 0 : 1
      else if (names.includes(owner)) own = true
      else pipelines.set(owner, (pipelines.get(owner) ?? 0) + 1)
    },
    /** The ledger knows of something that the pipeline put there. */
    seeOwn: (): void => void (own = true),
    found,
    /** Those that a pipeline new to the corpus joins: nothing where it has files of its own there. */
    joined: (): Others | undefined => (own ? undefined : found())
  }
}

/** The service's own addresses of what it fetched from Drive. */
export const isOfDrive = (uri: string): boolean => /^https:\/\/(?:drive|docs)\.google\.com\//.test(uri)

/** Whether a file without a mark may be what the service fetched of a source: its address is one of the source's. */
const fetched = ({ imports, staging }: SyncSource, { sourceUri }: RagFile): boolean =>
  (staging !== undefined && sourceUri.startsWith(`${staging.replace(/\/+$/, "")}/`)) ||
  (imports?._tag === "storage" && imports.uris.some((uri) => sourceUri.startsWith(uri.replace(/\*.*$/, "")))) ||
  (imports?._tag === "googleDrive" && isOfDrive(sourceUri))

/**
 * {@link countOthers} over a listing of its own.
 *
 * @param scope what the ledger accounts for in the corpus: it is the pipeline's, with or without a mark
 */
export const othersIn = Effect.fnUntraced(function*(corpus: CorpusName, spec: Named & Pick<SyncSpec, "sources">, scope: string) {
  const files = yield* Files
  const others = countOthers(spec)
  const known = new Set<RagFileName>()
  yield* (yield* Ledger).entries(scope).pipe(Stream.runForEach(({ file }) => Effect.sync(() => void (file !== undefined && known.add(file)))))
  yield* pages((page) => files.list(corpus, page)).pipe(Stream.runForEach((file) => Effect.sync(() => known.has(file.name) ? others.seeOwn() : others.see(file))))
  return others.found()
})

/** Whose files those are, for a person. */
const othersText = ({ files, pipelines, unmarked }: Others): string => {
  const whose = [
    ...Object.entries(pipelines).map(([pipeline, n]) => `${n} of pipeline ${pipeline}`),
    ...(unmarked === 0 ? [] : [`${unmarked} without a pipeline's mark`])
  ]
  return `${files} ${files === 1 ? "file" : "files"} of others (${whose.join(", ")})`
}

/** What a pipeline does that finds a corpus of its name with files of others in it. */
export const joinsNote = (corpus: string, others: Others): string =>
  `joins corpus ${corpus}, which holds ${othersText(others)}; what both store is found twice, and another corpus.displayName keeps them apart${renamedHint(others)}`

/** A renamed pipeline looks like another one that shares the corpus: only a person can tell. */
const renamedHint = ({ pipelines }: Others): string => {
  const [first] = Object.entries(pipelines).toSorted(([, a], [, b]) => b - a)
  return first === undefined ? "" : `; if this pipeline was called ${first[0]} before, \`renamedFrom: ${first[0]}\` in its file takes those over`
}

export const replacesNote = (corpus: string, others: Others): string =>
  `a run with --replace deletes corpus ${corpus} with ${othersText(others)}; another corpus.displayName keeps them`
