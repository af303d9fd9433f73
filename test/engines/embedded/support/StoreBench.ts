import type { DatabaseSync } from "node:sqlite"
import type { CorpusOptions } from "../../../../src/domain/Corpus.ts"
import { Names } from "../../../../src/engines/embedded/Names.ts"
import { Search } from "../../../../src/engines/embedded/search/Search.ts"
import { isIntact, StoreDamage } from "../../../../src/engines/embedded/store/Checksum.ts"
import type { CommandKind, Commands, ReplyMessage } from "../../../../src/engines/embedded/store/Commands.ts"
import { Committer } from "../../../../src/engines/embedded/store/Committer.ts"
import { textHash } from "../../../../src/engines/embedded/store/Hash.ts"
import { corpusRow } from "../../../../src/engines/embedded/store/Rows.ts"
import { packVector } from "../../../../src/engines/embedded/store/Vector.ts"
import { openDatabase } from "../../../../src/state/Database.ts"

/** A store without threads and without Effect: commands are committed where the test stands. */
export class StoreBench {
  readonly db: DatabaseSync
  committer: Committer
  search: Search
  readonly #memory: number
  #next = 0

  constructor(dataDir: string, memory = 1 << 20) {
    this.db = openDatabase(dataDir)
    this.#memory = memory
    this.committer = new Committer(this.db, dataDir)
    this.search = this.open()
  }

  /** Forgets everything that is held in memory. */
  reopen(): void {
    this.committer = new Committer(this.db, "")
    this.search = this.open()
  }

  /** One command in a commit of its own. */
  send<K extends CommandKind>(kind: K, payload: Commands[K]["in"]): ReplyMessage | undefined {
    // Kind and payload belong together by the signature.
    return this.committer.commit([this.message(kind, payload)])[0]
  }

  message<K extends CommandKind>(kind: K, payload: Commands[K]["in"]): Parameters<Committer["commit"]>[0][number] {
    return { id: this.#next++, kind, payload } as Parameters<Committer["commit"]>[0][number]
  }

  createCorpus(name: string, options: CorpusOptions = {}): void {
    this.send("createCorpus", { name, displayName: name, vectorDb: { _tag: "managed" }, embedder: "none", options, at: 0 })
  }

  /** The messages that put a file whose chunks are these texts. */
  file(corpus: string, name: string, texts: ReadonlyArray<string>, replaces?: string): Parameters<Committer["commit"]>[0] {
    const chunks = texts.map((text) => ({ text, headings: [], byteStart: 0, byteEnd: 1, tokens: 1, hash: textHash(text) }))
    const vectors = chunks.map(({ hash }) => ({ hash, vector: packVector(new Float32Array(8)) }))
    return [
      this.message("putVectors", { embedder: "none", vectors, at: 0 }),
      this.message("putFile", {
        corpus,
        file: { name, displayName: name, sourceUri: name, sizeBytes: 1, tokens: 1, chunks },
        ...(replaces === undefined ? {} : { replaces }),
        at: 0
      })
    ]
  }

  /** The corpus's row as readers see it. */
  row(name: string): ReturnType<typeof corpusRow> {
    return corpusRow(this.db.prepare("SELECT * FROM corpora WHERE name = ?").get(name) ?? {})
  }

  /** The corpus's row as readers take it: only as it was written. */
  intactRow(name: string): ReturnType<typeof corpusRow> {
    const row = this.db.prepare("SELECT * FROM corpora WHERE name = ?").get(name)
    if (!isIntact("corpora", row)) throw new StoreDamage(`corpus ${name}`)
    return corpusRow(row)
  }

  find(corpus: string, query: string, count = 1_000): ReturnType<Search["run"]> {
    return this.search.run(this.row(corpus), { query, count, alpha: 0, correctSpelling: false, explain: true })
  }

  count(table: string): number {
    return Number(this.db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"])
  }

  /** A search that has read nothing. */
  open(): Search {
    return new Search(this.db, new Names("local", "local"), this.#memory)
  }
}
