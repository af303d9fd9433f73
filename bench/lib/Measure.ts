import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import type { Chunking } from "../../src/domain/Chunking.ts"
import { defaultLimits } from "../../src/text/Prepared.ts"
import { prepareFile } from "../../src/text/pool/PrepareFile.ts"
import { type Finished, succeed } from "./Process.ts"
import { quantile, warmUpQueries } from "./Statistics.ts"
import type { Answered, Subject, Synced } from "./Subject.ts"
import type { Edit, TextCorpus } from "./TextCorpus.ts"

/** Figures of one subject. Times are medians over the repetitions, memory is the maximum. */
export interface SubjectFigures {
  readonly cold: Synced
  /** Sync of an unchanged folder. Absent for a subject that does not look for changes. */
  readonly unchanged?: Synced
  /** Sync of a slightly edited folder. Absent for a subject that does not look for changes. */
  readonly edited?: Synced
  /** Number of texts embedded after all edits together. Absent for a subject that does not look for changes. */
  readonly embeddedAfterEdits?: number
  readonly answered: Answered
  /** Bytes of the store after all syncs. */
  readonly storeBytes: number
}

export interface Task {
  readonly docs: string
  /** Folder below which stores are made. */
  readonly workspace: string
  readonly corpus: TextCorpus
  readonly queries: number
  readonly repeat: number
  readonly note: (doing: string) => void
}

const editedFraction = 0.01

/**
 * Measures subjects: cold syncs into new stores, then syncs of an unchanged and a slightly edited folder into the last store,
 * then queries. Subjects take turns in every step, so that a machine that slows down affects all of them.
 */
export const measure = async (
  subjects: ReadonlyArray<Subject>,
  task: Task
): Promise<{ readonly figures: ReadonlyArray<SubjectFigures>; readonly edits: ReadonlyArray<Edit> }> => {
  const store = (subject: Subject, round: number): string => join(task.workspace, `${subject.name}-${round}`)
  const last = task.repeat - 1
  /** Syncs every subject in each round, and returns their results by round. */
  const syncs = (
    doing: string,
    of: ReadonlyArray<Subject>,
    at: (round: number) => number,
    before: (round: number) => void = () => undefined
  ) =>
    rounds(task.repeat, async (round) => {
      before(round)
      const synced = await inTurn(of, (subject) => {
        task.note(`${doing}: ${subject.name}, ${round + 1} of ${task.repeat}`)
        return subject.sync(task.docs, store(subject, at(round)))
      })
      return new Map(of.map((subject, at) => [subject, synced[at]!]))
    })
  const looking = subjects.filter(({ looksForChanges }) => looksForChanges)
  const cold = await syncs("from nothing", subjects, (round) => round)
  const unchanged = await syncs("nothing changed", looking, () => last)
  const edits: Array<Edit> = []
  const edited = await syncs("1% edited", looking, () => last, (round) => {
    edits.push(...task.corpus.edit(task.docs, editedFraction, round + 1))
  })
  const of = (subject: Subject, rounds: ReadonlyArray<ReadonlyMap<Subject, Synced>>): ReadonlyArray<Synced> =>
    rounds.flatMap((round) => round.get(subject) ?? [])
  const queries = task.corpus.queries(warmUpQueries + task.queries)
  const answered = await inTurn(subjects, (subject) => {
    task.note(`${task.queries} queries: ${subject.name}`)
    return subject.query(store(subject, last), queries)
  })
  const figures = subjects.map((subject, at): SubjectFigures => {
    const figures = { cold: median(of(subject, cold)), answered: answered[at]!, storeBytes: folderBytes(store(subject, last)) }
    return subject.looksForChanges
      ? {
        ...figures,
        unchanged: median(of(subject, unchanged)),
        edited: median(of(subject, edited)),
        embeddedAfterEdits: of(subject, edited).reduce((sum, { embedded }) => sum + embedded, 0)
      }
      : figures
  })
  return { figures, edits }
}

/** Measures cold syncs into new stores only. */
export const measureCold = async (subject: Subject, { docs, note, repeat, workspace }: Task): Promise<Synced> =>
  median(
    await rounds(repeat, (round) => {
      note(`from nothing, default chunks: ${subject.name}, ${round + 1} of ${repeat}`)
      return subject.sync(docs, join(workspace, `default-${round}`))
    })
  )

/** Measures a Node program, run several times in separate processes. */
export const measureProgram = async (
  args: ReadonlyArray<string>,
  repeat: number
): Promise<Pick<Finished, "seconds" | "peakRss" | "cpu">> => median(await rounds(repeat, () => succeed(process.execPath, args)))

/** Number of chunks in edited pages whose text the page did not contain before: those that an ideal sync embeds. */
export const changedChunks = async (edits: ReadonlyArray<Edit>, chunking: Chunking): Promise<number> => {
  const chunksOf = async (name: string, text: string): Promise<ReadonlyArray<string>> => {
    const { chunks } = await prepareFile({ content: Buffer.from(text), name, chunking }, defaultLimits)
    return chunks.map((chunk) => chunk.text)
  }
  let changed = 0
  for (const { after, before, path } of edits) {
    const known = new Set(await chunksOf(path, before))
    changed += (await chunksOf(path, after)).filter((text) => !known.has(text)).length
  }
  return changed
}

const rounds = async <A>(count: number, run: (round: number) => Promise<A>): Promise<ReadonlyArray<A>> => {
  const results: Array<A> = []
  for (let round = 0; round < count; round++) results.push(await run(round))
  return results
}

const inTurn = <A, B>(items: ReadonlyArray<A>, run: (item: A) => Promise<B>): Promise<ReadonlyArray<B>> =>
  rounds(items.length, (at) => run(items[at]!))

/** The run with the median time, with the maximum memory of all runs. */
const median = <A extends { readonly seconds: number; readonly peakRss?: number }>(runs: ReadonlyArray<A>): A => {
  const middle = quantile(runs.map(({ seconds }) => seconds), 0.5)
  const typical = runs.find(({ seconds }) => seconds === middle)!
  const peaks = runs.flatMap(({ peakRss }) => (peakRss === undefined ? [] : [peakRss]))
  return peaks.length === 0 ? typical : { ...typical, peakRss: Math.max(...peaks) }
}

const folderBytes = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
