import type { DatabaseSync, StatementSync } from "node:sqlite"
import { asStateError, transaction } from "../../../state/Database.ts"
import { LedgerTable } from "../../../state/LedgerTable.ts"
import type { CommandKind, CommandMessage, Commands, ErrorMessage, ReplyMessage } from "./Commands.ts"
import { Refusal, refuseMissing } from "./Commands.ts"
import { CorpusTable } from "./CorpusTable.ts"
import { FileTable } from "./FileTable.ts"
import { Index } from "./Index.ts"
import { OperationTable } from "./OperationTable.ts"
import { SegmentDamage } from "./SegmentMerger.ts"

/** Microseconds for which vectors that no file came to use are kept: a run that died may be run again. */
const unusedVectorLife = 24 * 3600 * 1e6

/** Commits to a corpus after which its segments are merged though more writes wait: what a query reads stays bounded. */
const mergeEvery = 128

/** How much larger a segment stays than all younger ones together; less of it means less merging, but more segments. */
const mergeRatio = { busy: 0.25, idle: 2 } as const

type Handlers = { readonly [K in CommandKind]: (payload: Commands[K]["in"]) => Commands[K]["out"] }

/**
 * Applies commands to the database, many in one transaction. Synchronous; runs in the writer's thread.
 *
 * Within a group each command has a savepoint: one that is refused leaves no trace and costs the others nothing.
 * An error of the database or the disk fails the group as a whole, and then nothing of it was written.
 */
export class Committer {
  readonly #db: DatabaseSync
  readonly #path: string
  readonly #corpora: CorpusTable
  readonly #files: FileTable
  readonly #index: Index
  readonly #operations: OperationTable
  readonly #ledger: LedgerTable
  readonly #handlers: Handlers
  readonly #savepoint: StatementSync
  readonly #release: StatementSync
  /** Corpora that changed since their segments were last looked at, and how many commits ago that was. */
  readonly #unmerged = new Map<number, number>()

  constructor(db: DatabaseSync, path: string) {
    this.#db = db
    this.#path = path
    this.#corpora = new CorpusTable(db)
    this.#files = new FileTable(db)
    this.#index = new Index(db)
    this.#operations = new OperationTable(db)
    this.#ledger = new LedgerTable(db)
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
      updateFile: (payload) => this.#patchFile(payload),
      deleteFile: (payload) => this.#deleteFile(payload),
      rebuildIndex: ({ corpus }) => this.#rebuild(this.#corpora.find(corpus).id),
      writeLedger: ({ change, scope }) => this.#ledger.write(scope, change),
      createOperation: (payload) => this.#operations.insert(payload),
      updateOperation: (payload) => this.#operations.update(payload),
      cancelOperation: (payload) => this.#operations.cancel(payload),
      deleteOperation: (payload) => this.#operations.delete(payload)
    }
  }

  /** Applies a group of commands, in order, and says how each ended. */
  commit(group: ReadonlyArray<CommandMessage>): ReadonlyArray<ReplyMessage> {
    try {
      return transaction(this.#db, () => {
        const replies = group.map((message) => this.#apply(message))
        for (const corpus of this.#index.flush()) this.#unmerged.set(corpus, (this.#unmerged.get(corpus) ?? 0) + 1)
        return replies
      })
    } catch (cause) {
      this.#index.discard()
      const error = this.#errorMessage(cause)
      return group.map(({ id }) => ({ id, ok: false, error }))
    }
  }

  /** One merge, in a transaction of its own. True where there may be more to do. */
  merge(pace: keyof typeof mergeRatio): boolean {
    for (const [corpus, commits] of this.#unmerged) {
      if (pace === "busy" && commits < mergeEvery) continue
      if (this.#mergeOnce(corpus, mergeRatio[pace])) return true
      if (pace === "busy") this.#unmerged.set(corpus, 0)
      else this.#unmerged.delete(corpus)
    }
    return false
  }

  #mergeOnce(corpus: number, ratio: number): boolean {
    try {
      return transaction(this.#db, () => {
        const merged = this.#index.merge(corpus, ratio)
        if (merged) this.#corpora.bump(corpus)
        return merged
      })
    } catch (cause) {
      if (!(cause instanceof SegmentDamage)) throw cause
      transaction(this.#db, () => this.#rebuild(corpus))
      return true
    }
  }

  #rebuild(corpus: number): void {
    this.#index.rebuild(corpus, this.#files.rebuildable(corpus, this.#corpora.embedder(corpus)))
    this.#corpora.bump(corpus)
  }

  /** Drops what earlier processes left behind. */
  tidy(now: number): void {
    transaction(this.#db, () => this.#files.sweep(now, unusedVectorLife))
  }

  #apply(message: CommandMessage): ReplyMessage {
    this.#savepoint.run()
    try {
      const value = this.#handle(message)
      this.#release.run()
      return { id: message.id, ok: true, value }
    } catch (cause) {
      if (!(cause instanceof Refusal || cause instanceof Missing)) throw cause
      this.#db.exec("ROLLBACK TO command; RELEASE command")
      return cause instanceof Missing
        ? { id: message.id, ok: true, value: { missing: cause.hashes } satisfies Commands["putFile"]["out"] }
        : { id: message.id, ok: false, error: this.#errorMessage(cause) }
    }
  }

  #handle<K extends CommandKind>(message: { readonly kind: K; readonly payload: Commands[K]["in"] }): Commands[K]["out"] {
    return this.#handlers[message.kind](message.payload)
  }

  #deleteCorpus({ force, name }: Commands["deleteCorpus"]["in"]): void {
    const corpus = this.#corpora.find(name)
    if (corpus.files > 0 && !force) {
      throw new Refusal("FAILED_PRECONDITION", `corpus ${name} still has ${corpus.files} files`, "delete them first, or force the deletion (--force, force=true)")
    }
    this.#files.deleteAll(corpus.id, corpus.embedder)
    this.#index.drop(corpus.id)
    this.#corpora.delete(corpus.id)
    this.#unmerged.delete(corpus.id)
  }

  #putFile({ at, corpus: name, file, replaces }: Commands["putFile"]["in"]): Commands["putFile"]["out"] {
    const corpus = this.#corpora.find(name)
    const written = this.#files.insert(corpus.id, corpus.embedder, file, at)
    if ("missing" in written) throw new Missing(written.missing)
    // Gone already is as good: what counts is that readers do not see both.
    const old = replaces === undefined ? undefined : this.#files.find(corpus.id, replaces)
    if (old !== undefined) {
      this.#files.delete(corpus.embedder, old)
      this.#index.remove(corpus.id, old.firstChunk, old.chunks)
    }
    this.#corpora.count(corpus.id, old === undefined ? 1 : 0, file.chunks.length - (old?.chunks ?? 0))
    this.#index.add(corpus.id, written.indexed, file.language)
    this.#corpora.bump(corpus.id)
    return { file: written.file }
  }

  #patchFile({ at, corpus: name, name: fileName, patch }: Commands["updateFile"]["in"]): void {
    const corpus = this.#corpora.find(name)
    const file = this.#files.find(corpus.id, fileName)
    if (file === undefined) throw refuseMissing("file", fileName)
    this.#files.update(file.id, patch, at)
    this.#corpora.bump(corpus.id)
  }

  #deleteFile({ corpus: name, name: fileName }: Commands["deleteFile"]["in"]): void {
    const corpus = this.#corpora.find(name)
    const file = this.#files.find(corpus.id, fileName)
    if (file === undefined) throw refuseMissing("file", fileName)
    this.#files.delete(corpus.embedder, file)
    this.#index.remove(corpus.id, file.firstChunk, file.chunks)
    this.#corpora.count(corpus.id, -1, -file.chunks)
    this.#corpora.bump(corpus.id)
  }

  #errorMessage(cause: unknown): ErrorMessage {
    if (cause instanceof Refusal) {
      return { _tag: "ServiceError", code: cause.code, message: cause.message, ...(cause.fix === undefined ? {} : { fix: cause.fix }) }
    }
    const { fix, message, problem } = asStateError(cause, this.#path)
    return { _tag: "StateError", problem, message, fix }
  }
}

/** A file cannot be committed yet: vectors of these hashes are not there. */
class Missing extends Error {
  readonly hashes: ReadonlyArray<string>

  constructor(hashes: ReadonlyArray<string>) {
    super("missing vectors")
    this.hashes = hashes
  }
}
