import type { DatabaseSync, StatementSync } from "node:sqlite"
import { StateError } from "../../../domain/Errors.ts"
import { asStateError, damagedDatabase, transaction } from "../../../state/Database.ts"
import { LedgerTable } from "../../../state/LedgerTable.ts"
import { runStatements } from "../../../state/LedgerWrites.ts"
import type { Analysis } from "./AnalyzedFile.ts"
import { packPages } from "./ChunkPage.ts"
import type { CommandKind, CommandMessage, Commands, ErrorMessage, ReplyMessage } from "./Commands.ts"
import { Refusal, refuseDamaged, refuseMissing } from "./Commands.ts"
import { CorpusTable } from "./CorpusTable.ts"
import { FileTable } from "./FileTable.ts"
import type { FileWords } from "./FileWords.ts"
import { Index } from "./Index.ts"
import { MetadataTable } from "./MetadataTable.ts"
import { OperationTable } from "./OperationTable.ts"
import { outdatedCorpora } from "./OutdatedIndex.ts"
import { SegmentDamage } from "./SegmentTable.ts"
import { VectorTable, type VectorWork } from "./VectorTable.ts"

export interface CommitterOptions {
  /** Milliseconds for which vectors that no file uses are kept. Default 24 hours. */
  readonly keepVectors?: number | undefined
  /** Most milliseconds that a step of a merge may take. Default 250. */
  readonly mergePatience?: number
  /** Postings of recent segments that are kept in memory until these are merged. Default 1.5 million, 4 bytes each. */
  readonly mostRecent?: number
}

const defaultKeepVectors = 24 * 3600 * 1_000

/** Commits to a corpus after which its segments are merged even though more writes wait, so that queries read a bounded number. */
const mergeEvery = 128

/** How many times larger a segment stays than all younger ones together: a smaller ratio means less merging, but more segments. */
const mergeRatio = { busy: 0.25, idle: 2 } as const

/** Free pages that the database keeps, as a share of all pages. */
const freeShare = 0.02
/** Free pages that the database keeps at least. */
const leastFree = 32
/** Free pages that are given back to the file system at a time. */
const shrinkStep = 512

/** UTF-16 units of the files that are analyzed before the first of them is written. Their analyses are in memory until then. */
const mostAhead = 1 << 20

/** Runs work that may fail for one file. The failure is ignored: the file's own command meets it again, and is refused. */
const tried = (work: () => void): void => {
  try {
    work()
  } catch {
    return
  }
}

type Handlers = { readonly [K in CommandKind]: (payload: Commands[K]["in"]) => Commands[K]["out"] }

/**
 * Applies commands to the database, many in one transaction. Synchronous; runs in the writer's thread.
 *
 * A refused command leaves no trace, and the others of its group are still applied: the group is rolled back and applied again, each
 * command with a savepoint. Using savepoints from the start would copy every page that a command changes to a separate file, five times
 * what is written to the database. An error of the database or the disk fails the whole group, and nothing of it is written.
 */
export class Committer {
  readonly #db: DatabaseSync
  readonly #path: string
  readonly #corpora: CorpusTable
  readonly #files: FileTable
  readonly #index: Index
  readonly #metadata: MetadataTable
  readonly #operations: OperationTable
  readonly #ledger: LedgerTable
  readonly #vectors: VectorTable
  readonly #handlers: Handlers
  readonly #savepoint: StatementSync
  readonly #release: StatementSync
  /** Corpora that changed since their segments were last checked for merging, with the number of commits since then. */
  readonly #unmerged = new Map<number, number>()
  readonly #keepVectors: number
  /** Analyses of the current group's files, by their commands. */
  readonly #ahead = new Map<Commands["putFile"]["in"], Analysis>()
  /** Whether a command of the last group was refused. The next group may have one too, so its commands get savepoints at once. */
  #refused = false
  /** Whether the current group's commands have no savepoints: if one is refused, the group is applied again. */
  #together = false
  /** Why nothing is written any more; undefined while the database is intact. */
  #damaged: StateError | undefined

  constructor(
    db: DatabaseSync,
    path: string,
    { keepVectors = defaultKeepVectors, mergePatience, mostRecent }: CommitterOptions = {}
  ) {
    this.#db = db
    this.#keepVectors = keepVectors
    this.#path = path
    this.#corpora = new CorpusTable(db)
    this.#files = new FileTable(db)
    this.#index = new Index(db, mergePatience, mostRecent)
    this.#metadata = new MetadataTable(db)
    this.#operations = new OperationTable(db)
    this.#ledger = new LedgerTable(db)
    this.#vectors = new VectorTable(db)
    this.#savepoint = db.prepare("SAVEPOINT command")
    this.#release = db.prepare("RELEASE command")
    this.#handlers = {
      createCorpus: (payload) => this.#corpora.insert(payload),
      updateCorpus: (payload) => this.#corpora.update(payload),
      deleteCorpus: (payload) => this.#deleteCorpus(payload),
      putVectors: ({ at, embedder, vectors }) => {
        for (const { hash, vector } of vectors) this.#files.putVector(embedder, hash, vector, at)
      },
      putFile: (payload) => this.#putFile(payload),
      beginVersion: ({ corpus: name, failed, file }) =>
        this.#vectors.note(workOf(this.#corpora.find(name), name, file, failed === true ? "delete" : "writing")),
      owner: ({ make }) => this.#vectors.owner(make),
      settleVectors: ({ ids }) => this.#vectors.settle(ids),
      updateFile: (payload) => this.#patchFile(payload),
      deleteFile: (payload) => this.#deleteFile(payload),
      noteDamage: (payload) => this.#noteDamage(payload),
      createSchemas: (payload) => this.#ofCorpus(payload.corpus, (corpus) => this.#metadata.insertSchemas(corpus, payload)),
      deleteSchemas: (payload) => this.#ofCorpus(payload.corpus, (corpus) => this.#metadata.deleteSchemas(corpus, payload)),
      createMetadata: (payload) => this.#ofFile(payload, (corpus, file) => this.#metadata.insert(corpus, file, payload)),
      updateMetadata: (payload) => this.#ofFile(payload, (corpus, file) => this.#metadata.update(corpus, file, payload)),
      deleteMetadata: (payload) => this.#ofFile(payload, (_, file) => this.#metadata.delete(file, payload)),
      rebuildIndex: ({ corpus, outdated }) => {
        const { id } = this.#corpora.find(corpus)
        // A merge may have rebuilt it already.
        if (outdated !== true || outdatedCorpora(db, id).length > 0) this.#rebuild(id)
      },
      writeLedger: ({ change, scope }) => this.#ledger.write(scope, change),
      writeState: ({ statements }) => runStatements(db, statements),
      createOperation: (payload) => this.#operations.insert(payload),
      updateOperation: (payload) => this.#operations.update(payload),
      cancelOperation: (payload) => this.#operations.cancel(payload),
      deleteOperation: (payload) => this.#operations.delete(payload)
    }
  }

  /** Applies a group of commands in order, and returns the result of each. */
  commit(group: ReadonlyArray<CommandMessage>): ReadonlyArray<ReplyMessage> {
    try {
      if (this.#damaged !== undefined) throw this.#damaged
      if (!this.#refused) {
        try {
          this.#together = true
          return this.#commit(group, (message) => this.#applyToGroup(message))
        } catch (cause) {
          if (!(cause instanceof RefusedOne)) throw cause
          this.#discard()
        }
      }
      this.#refused = false
      this.#together = false
      return this.#commit(group, (message) => this.#apply(message))
    } catch (cause) {
      this.#discard()
      const error = this.#errorMessage(cause)
      return group.map(({ id }) => ({ id, ok: false, error }))
    } finally {
      this.#ahead.clear()
    }
  }

  #commit(group: ReadonlyArray<CommandMessage>, apply: (message: CommandMessage) => ReplyMessage): ReadonlyArray<ReplyMessage> {
    return transaction(this.#db, () => {
      this.#files.begin()
      let read = 0
      const replies = group.map((message, at) => {
        if (at >= read) {
          this.#indexAll()
          read = this.#readAhead(group, at)
        }
        return apply(message)
      })
      this.#indexAll()
      for (const corpus of this.#index.flush()) this.#unmerged.set(corpus, (this.#unmerged.get(corpus) ?? 0) + 1)
      this.#seal()
      return replies
    })
  }

  /** @throws {RefusedOne} where a file of the group is refused */
  #indexAll(): void {
    try {
      this.#index.addAll()
    } catch (cause) {
      throw concernsAll(cause) ? this.#noted(cause) : new RefusedOne()
    }
  }

  #discard(): void {
    this.#index.discard()
    this.#corpora.discard()
  }

  /**
   * Analyzes the files of the next commands, up to {@link mostAhead}, and returns the place of the first command after them. Analyzing and
   * writing file by file would make words and rows push each other out of the processor's cache.
   */
  #readAhead(group: ReadonlyArray<CommandMessage>, from: number): number {
    const files: Array<{ readonly payload: Commands["putFile"]["in"]; readonly words: FileWords }> = []
    let end = from
    for (let length = 0; end < group.length; end++) {
      const { kind, payload } = group[end]!
      if (kind !== "putFile") break
      length += payload.file.chunks.reduce((sum, { text }) => sum + text.length, 0)
      if (length > mostAhead) break
      if (payload.analysis === undefined) files.push({ payload, words: this.#wordsOf(payload) })
    }
    for (const { payload: { elsewhere, file }, words } of files) {
      if (elsewhere === undefined) tried(() => file.chunks.forEach((_, place) => words.of(place)))
    }
    for (const { payload, words } of files) tried(() => this.#ahead.set(payload, { pages: packPages(payload.file.chunks), words }))
    return Math.max(end, from + 1)
  }

  /** The words of a file. Vectors are made along the way where most likely all of them are needed. */
  #wordsOf({ file, vectors }: Commands["putFile"]["in"]): FileWords {
    return this.#index.wordsOf(file.chunks, file.title, vectors === "hashed" && this.#files.expectsNew)
  }

  /** Takes a file's analysis, which is then kept by the index alone: those of a large group would add up. */
  #takeAhead(payload: Commands["putFile"]["in"]): Analysis | undefined {
    const ahead = this.#ahead.get(payload)
    this.#ahead.delete(payload)
    return ahead
  }

  #seal(): void {
    this.#files.seal()
    this.#corpora.seal()
  }

  /** Does one step of a merge in its own transaction. Returns whether there may be more to do. */
  merge(pace: keyof typeof mergeRatio): boolean {
    if (this.#damaged !== undefined) return false
    if (this.#index.merging !== undefined) return this.#mergeOnce(this.#index.merging, mergeRatio[pace])
    if (pace === "idle" && this.#index.mayHaveStrays) transaction(this.#db, () => this.#index.sweep())
    for (const [corpus, commits] of this.#unmerged) {
      const many = commits >= mergeEvery
      if (pace === "busy" && !many && !this.#index.isDue(corpus)) continue
      if (this.#mergeOnce(corpus, mergeRatio[pace])) return true
      if (pace === "idle") this.#unmerged.delete(corpus)
      else if (many) this.#unmerged.set(corpus, 0)
    }
    return false
  }

  #mergeOnce(corpus: number, ratio: number): boolean {
    try {
      return transaction(this.#db, () => {
        const step = this.#index.merge(corpus, ratio)
        if (step === "done") this.#corpora.count(corpus, 0, 0)
        this.#seal()
        return step !== "nothing"
      })
    } catch (cause) {
      this.#index.forgetMerge()
      this.#corpora.discard()
      if (!(cause instanceof SegmentDamage)) throw this.#noted(cause)
      transaction(this.#db, () => {
        this.#files.begin()
        this.#rebuild(corpus)
        this.#seal()
      })
      return true
    }
  }

  /** Rebuilds a corpus's index. @throws {StateError} where more than the index is damaged */
  #rebuild(corpus: number): void {
    this.#checkStructure()
    this.#index.rebuild(corpus, this.#files.rebuildable(corpus, this.#corpora.embedder(corpus)))
    this.#corpora.count(corpus, 0, 0)
    // A rebuild leaves many segments, one of each step, which are to be merged.
    this.#unmerged.set(corpus, mergeEvery)
  }

  /** Reads every page of the database: before a repair it must be clear that only rows are damaged, and not the structure. */
  #checkStructure(): void {
    const found = this.#db.prepare("PRAGMA quick_check(1)").get()?.["quick_check"]
    if (found !== "ok") throw this.#noted(damagedDatabase(this.#path, String(found)))
  }

  /** Returns the cause of a failure. Where it says that the database is damaged, nothing is written any more. */
  #noted(cause: unknown): unknown {
    const error = asStateError(cause, this.#path)
    if (error.problem === "damaged") this.#damaged = error
    return cause
  }

  /** Drops some vectors that have been unused for long, in a transaction of its own. Returns whether there may be more. */
  collect(now: number): boolean {
    const since = now - this.#keepVectors * 1_000
    if (this.#damaged !== undefined || !this.#files.hasUnused(since)) return false
    transaction(this.#db, () => this.#files.collect(since))
    return true
  }

  /** Frees some of the space that deleted rows left, where it is much. Returns whether there may be more. */
  shrink(): boolean {
    const pages = (pragma: string): number => Number(Object.values(this.#db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0])
    if (this.#damaged !== undefined || pages("freelist_count") <= Math.max(leastFree, pages("page_count") * freeShare)) return false
    const before = pages("freelist_count")
    this.#db.exec(`PRAGMA incremental_vacuum(${shrinkStep})`)
    // Databases of earlier versions cannot free space, and reuse it instead.
    return pages("freelist_count") < before
  }

  #noteDamage({ files, what }: Commands["noteDamage"]["in"]): void {
    for (const file of files) {
      this.#files.note(file, what)
      const corpus = this.#corpora.ofFile(file)
      if (corpus === undefined) continue
      this.#files.dropDamagedVectors(file, corpus.embedder)
      this.#corpora.count(corpus.id, 0, 0)
    }
  }

  /** Applies a command without a savepoint. @throws {RefusedOne} where it is refused */
  #applyToGroup(message: CommandMessage): ReplyMessage {
    try {
      return { id: message.id, ok: true, value: this.#handle(message) }
    } catch (cause) {
      throw concernsAll(cause) ? this.#noted(cause) : new RefusedOne()
    }
  }

  /** Applies a command with a savepoint, so that it leaves no trace where it is refused. */
  #apply(message: CommandMessage): ReplyMessage {
    this.#savepoint.run()
    this.#corpora.mark()
    try {
      const value = this.#handle(message)
      this.#release.run()
      return { id: message.id, ok: true, value }
    } catch (cause) {
      if (concernsAll(cause)) throw this.#noted(cause)
      this.#refused = true
      this.#db.exec("ROLLBACK TO command; RELEASE command")
      this.#corpora.revert()
      return cause instanceof Missing
        ? { id: message.id, ok: true, value: { missing: cause.hashes } satisfies Commands["putFile"]["out"] }
        : { id: message.id, ok: false, error: this.#errorMessage(cause) }
    }
  }

  #handle<K extends CommandKind>(message: { readonly kind: K; readonly payload: Commands[K]["in"] }): Commands[K]["out"] {
    return this.#handlers[message.kind](message.payload)
  }

  #deleteCorpus({ at, force, name }: Commands["deleteCorpus"]["in"]): void {
    const corpus = this.#corpora.find(name)
    if (corpus.files > 0 && !force) {
      throw new Refusal(
        "FAILED_PRECONDITION",
        `corpus ${name} still has ${corpus.files} files`,
        "delete them first, or force the deletion (--force, force=true)"
      )
    }
    this.#files.deleteAll(corpus.id, corpus.embedder, at)
    this.#index.drop(corpus.id)
    if (corpus.elsewhere !== undefined) this.#vectors.drop(corpus.id, { corpus: name, place: corpus.elsewhere, owner: process.pid })
    this.#corpora.delete(corpus.id)
    this.#unmerged.delete(corpus.id)
  }

  #putFile(payload: Commands["putFile"]["in"]): Commands["putFile"]["out"] {
    const { analysis = this.#takeAhead(payload), at, corpus: name, described, elsewhere, file, ledger, replaces, vectors = [] } = payload
    const corpus = this.#corpora.find(name)
    if (elsewhere !== undefined) {
      if (elsewhere.found !== true) this.#vectors.finish(name, file.name)
      this.#vectors.analyzedBy(corpus.id, elsewhere.analyzers)
    }
    const { pages, words } = analysis ?? { pages: packPages(file.chunks), words: this.#wordsOf(payload) }
    const made = vectors === "hashed" ? (place: number) => words.vectorOf(place) : vectors
    const written = this.#files.insert(corpus.id, corpus.embedder, file, pages, made, at)
    if ("missing" in written) throw new Missing(written.missing)
    // It may be gone already: all that counts is that readers never see both.
    const old = replaces === undefined ? undefined : this.#files.find(corpus.id, replaces)
    if (old !== undefined) {
      this.#metadata.move(old.id, written.id)
      this.#files.delete(corpus.embedder, old, at)
      if (corpus.elsewhere === undefined) this.#index.remove(corpus.id, old.firstChunk, old.chunks)
      else if (replaces !== undefined) this.#vectors.note(workOf(corpus, name, replaces, "delete"))
    }
    if (described !== undefined) this.#metadata.describe(corpus.id, written.id, described)
    this.#corpora.count(corpus.id, old === undefined ? 1 : 0, written.indexed.length - (old?.chunks ?? 0), at)
    if (ledger !== undefined) this.#ledger.write(ledger.scope, ledger.change)
    if (corpus.elsewhere === undefined) {
      const indexed = { chunks: written.indexed, language: file.language, words }
      if (this.#together) this.#index.addLater(corpus.id, indexed)
      else this.#index.add(corpus.id, indexed)
    }
    return { made: written.made }
  }

  #patchFile({ at, corpus: name, name: fileName, patch }: Commands["updateFile"]["in"]): void {
    const corpus = this.#corpora.find(name)
    const file = this.#files.find(corpus.id, fileName)
    if (file === undefined) throw refuseMissing("file", fileName)
    if (!file.intact) throw refuseDamaged(`the record of file ${fileName}`)
    this.#files.update(file.id, patch, at)
    if (patch.described !== undefined) this.#metadata.describe(corpus.id, file.id, patch.described)
    this.#corpora.count(corpus.id, 0, 0, at)
    if (corpus.elsewhere !== undefined) this.#vectors.note(workOf(corpus, name, fileName, "rewrite"))
  }

  /** Changes data of a corpus that filters depend on. */
  #ofCorpus(name: string, change: (corpus: number) => void): void {
    const { id } = this.#corpora.find(name)
    change(id)
    // A new revision, so that readers notice.
    this.#corpora.count(id, 0, 0)
  }

  #ofFile(
    { corpus, file: name }: { readonly corpus: string; readonly file: string },
    change: (corpus: number, file: number) => void
  ): void {
    this.#ofCorpus(corpus, (id) => {
      const file = this.#files.find(id, name)
      if (file === undefined) throw refuseMissing("file", name)
      change(id, file.id)
    })
  }

  #deleteFile({ at, corpus: name, name: fileName }: Commands["deleteFile"]["in"]): void {
    const corpus = this.#corpora.find(name)
    const file = this.#files.find(corpus.id, fileName)
    if (file === undefined) throw refuseMissing("file", fileName)
    this.#files.delete(corpus.embedder, file, at)
    if (corpus.elsewhere === undefined) this.#index.remove(corpus.id, file.firstChunk, file.chunks)
    else this.#vectors.note(workOf(corpus, name, fileName, "delete"))
    this.#corpora.count(corpus.id, -1, -file.chunks, at)
  }

  #errorMessage(cause: unknown): ErrorMessage {
    if (cause instanceof Refusal) {
      return { _tag: "ServiceError", code: cause.code, message: cause.message, fix: cause.fix }
    }
    if (!concernsAll(cause)) {
      // The message may quote the text, which must not appear in errors.
      return {
        _tag: "ServiceError",
        code: "INTERNAL",
        message: `the store could not take it: ${cause instanceof Error ? cause.name : "unknown"}`
      }
    }
    const { fix, message, problem } = asStateError(cause, this.#path)
    return { _tag: "StateError", problem, message, fix }
  }
}

const workOf = (
  { elsewhere = "" }: { readonly elsewhere?: string },
  corpus: string,
  file: string,
  action: VectorWork["action"]
): Omit<VectorWork, "id"> => ({
  corpus,
  file,
  action,
  place: elsewhere,
  owner: process.pid
})

/** Whether an error concerns every command, as errors of the database and the disk do; any other concerns only its own command. */
const concernsAll = (cause: unknown): boolean => cause instanceof StateError || (cause instanceof Error && "errcode" in cause)

/** Thrown where a command of a group without savepoints is refused. */
class RefusedOne extends Error {}

/** Thrown where a file cannot be committed yet, since vectors of these hashes are missing. */
class Missing extends Error {
  readonly hashes: ReadonlyArray<string>

  constructor(hashes: ReadonlyArray<string>) {
    super("missing vectors")
    this.hashes = hashes
  }
}
