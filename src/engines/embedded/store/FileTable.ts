import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { FilePatch } from "../../../domain/RagFile.ts"
import { type PackedPage, unpackChunks } from "./ChunkPage.ts"
import { asBlob, checkedColumns, isIntact, sumOf, sumOfVector } from "./Checksum.ts"
import { type NewFile, type NewVector, refuseDamaged, type Refusal } from "./Commands.ts"
import { fromHex, splitHashes, toHex, unpackHashes } from "./Hash.ts"
import type { IndexedChunk, KeptFile } from "./Index.ts"
import { asJson, packMarker } from "./Rows.ts"

/**
 * Number of new texts in a row after which the next one's vector is made before anybody checks whether it exists: a vector made in vain
 * costs as much as some 20 checks.
 */
const likelyNew = 64

/** Embeddings that are deleted in one transaction. */
const collectStep = 2_000

const refuse = (refusal: Refusal): never => {
  throw refusal
}

/** What the writer needs to know of a stored file. */
export interface StoredFile {
  readonly id: number
  readonly firstChunk: number
  readonly chunks: number
  /** Whether the row is as it was written; otherwise only the file's chunks are known. */
  readonly intact: boolean
}

export interface InsertedFile {
  readonly id: number
  readonly indexed: ReadonlyArray<IndexedChunk>
  readonly made: ReadonlyArray<number>
}

/** The rows of files, of their chunks, and of the embeddings that chunks share, for the writer. */
export class FileTable {
  readonly #take: StatementSync
  readonly #insertFile: StatementSync
  readonly #insertPage: StatementSync
  readonly #find: StatementSync
  readonly #update: StatementSync
  readonly #deleteFile: StatementSync
  readonly #pages: StatementSync
  readonly #deletePages: StatementSync
  readonly #use: StatementSync
  readonly #disuse: StatementSync
  readonly #keepVector: StatementSync
  readonly #putVector: StatementSync
  readonly #dropVector: StatementSync
  readonly #anyUnused: StatementSync
  readonly #collect: StatementSync
  readonly #files: StatementSync
  readonly #embedding: StatementSync
  readonly #lastFile: StatementSync
  readonly #lastEmbedding: StatementSync
  readonly #row: StatementSync
  readonly #seal: StatementSync
  readonly #pagesOf: StatementSync
  readonly #note: StatementSync
  /** Next row id of `files`, once the current transaction has read it: a checksum covers the row's id. */
  #nextFile: number | undefined
  /** Next row id of `embeddings`, once the current transaction has read it. */
  #nextEmbedding: number | undefined
  /** Number of texts since the last one that already had a vector. */
  #newTexts = 0
  /** Files whose rows changed and have no new checksum yet. */
  readonly #unsealed = new Set<number>()

  constructor(db: DatabaseSync) {
    this.#take = db.prepare("UPDATE counters SET value = value + ? WHERE name = 'chunk' RETURNING value")
    this.#insertFile = db.prepare(
      `INSERT INTO files (id, corpus, name, display_name, description, source_uri, size_bytes, marker, metadata, permissions,
        first_chunk, chunks, tokens, pages, language, title, author, created, updated, sum)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
    )
    this.#insertPage = db.prepare("INSERT INTO chunk_pages (first_chunk, file, chunks, hashes, body, sum) VALUES (?, ?, ?, ?, ?, ?)")
    this.#find = db.prepare(`SELECT ${checkedColumns("files")} FROM files WHERE corpus = ? AND name = ?`)
    this.#update = db.prepare(
      `UPDATE files SET display_name = coalesce(?, display_name), description = coalesce(?, description),
        source_uri = coalesce(?, source_uri), marker = coalesce(?, marker), metadata = CASE WHEN ? THEN NULL ELSE coalesce(?, metadata) END,
        permissions = CASE WHEN ? THEN NULL ELSE coalesce(?, permissions) END, updated = ? WHERE id = ?`
    )
    this.#deleteFile = db.prepare("DELETE FROM files WHERE id = ?")
    this.#pages = db.prepare(
      `SELECT ${checkedColumns("chunk_pages")} FROM chunk_pages WHERE first_chunk >= ? AND first_chunk < ? ORDER BY first_chunk`
    )
    this.#deletePages = db.prepare("DELETE FROM chunk_pages WHERE first_chunk >= ? AND first_chunk < ?")
    this.#use = db.prepare("UPDATE embeddings SET uses = uses + 1 WHERE hash = ? AND embedder = ? RETURNING id")
    this.#disuse = db.prepare("UPDATE embeddings SET uses = uses - 1, added = ? WHERE hash = ? AND embedder = ? AND uses > 0")
    // A vector that no chunk uses yet is about to be used: it counts as new.
    this.#keepVector = db.prepare("UPDATE embeddings SET added = max(added, ?) WHERE hash = ? AND embedder = ?")
    this.#putVector = db.prepare(
      `INSERT INTO embeddings (id, embedder, hash, uses, added, vector, sum) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (hash, embedder) DO NOTHING`
    )
    this.#dropVector = db.prepare("DELETE FROM embeddings WHERE id = ?")
    this.#anyUnused = db.prepare("SELECT 1 FROM embeddings WHERE uses = 0 AND added < ? LIMIT 1")
    this.#collect = db.prepare(
      `DELETE FROM embeddings WHERE id IN (SELECT id FROM embeddings WHERE uses = 0 AND added < ? LIMIT ${collectStep})`
    )
    this.#files = db.prepare(`SELECT ${checkedColumns("files")} FROM files WHERE corpus = ? ORDER BY first_chunk`)
    this.#embedding = db.prepare(`SELECT ${checkedColumns("embeddings")} FROM embeddings WHERE hash = ? AND embedder = ?`)
    this.#lastFile = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'files'")
    this.#lastEmbedding = db.prepare("SELECT max(id) AS id FROM embeddings")
    this.#row = db.prepare("SELECT * FROM files WHERE id = ?")
    this.#seal = db.prepare("UPDATE files SET sum = ? WHERE id = ?")
    this.#pagesOf = db.prepare(`SELECT ${checkedColumns("chunk_pages")} FROM chunk_pages WHERE file = ? ORDER BY first_chunk`)
    this.#note = db.prepare(
      "INSERT INTO damage (file, what) SELECT id, ? FROM files WHERE id = ? ON CONFLICT (file) DO UPDATE SET what = excluded.what"
    )
  }

  /** Whether the next text most likely has no vector yet. */
  get expectsNew(): boolean {
    return this.#newTexts >= likelyNew
  }

  /** Starts a transaction. */
  begin(): void {
    this.#nextFile = undefined
    this.#nextEmbedding = undefined
    this.#unsealed.clear()
  }

  /**
   * Writes a file and its chunks. Returns its row id, the chunks for the index, and the places of the chunks that `vectors` made a vector
   * for, where it makes them. Fails with the hashes whose vectors are missing; the caller must then roll back.
   */
  insert(
    corpus: number,
    embedder: string,
    file: Omit<NewFile, "chunks">,
    pages: ReadonlyArray<PackedPage>,
    vectors: ReadonlyArray<NewVector> | ((place: number) => Uint8Array),
    at: number
  ): InsertedFile | { readonly missing: ReadonlyArray<string> } {
    const hashes = pages.flatMap((page) => splitHashes(page.hashes))
    const count = hashes.length
    const first = Number(this.#take.get(count)?.["value"]) - count
    const missing: Array<string> = []
    const made: Array<number> = []
    const indexed: Array<IndexedChunk> = []
    const fresh = new Map(typeof vectors === "function" ? [] : vectors.map(({ hash, vector }) => [hash, vector]))
    for (let i = 0; i < count; i++) {
      const hash = hashes[i] as Uint8Array
      let embedding: number | undefined
      if (typeof vectors !== "function") {
        const vector = fresh.size === 0 ? undefined : fresh.get(toHex(hash))
        // The caller checked before it made a vector, so most likely none exists yet.
        embedding = (vector === undefined ? undefined : this.#insertVector(embedder, hash, vector, 1, at)) ?? this.#used(embedder, hash)
      } else {
        embedding = this.expectsNew ? undefined : this.#used(embedder, hash)
        const added = embedding === undefined ? this.#insertVector(embedder, hash, vectors(i), 1, at) : undefined
        embedding ??= added ?? this.#used(embedder, hash)
        this.#newTexts = added === undefined ? 0 : this.#newTexts + 1
        if (added !== undefined) made.push(i)
      }
      if (embedding === undefined) missing.push(toHex(hash))
      indexed.push({ number: first + i, embedding: embedding ?? 0 })
    }
    if (missing.length > 0) return { missing }
    this.#nextFile ??= Number(this.#lastFile.get()?.["seq"] ?? 0) + 1
    const id = this.#nextFile++
    const columns = {
      id,
      corpus,
      name: file.name,
      display_name: file.displayName,
      description: file.description ?? null,
      source_uri: file.sourceUri,
      size_bytes: file.sizeBytes,
      marker: packMarker(file.marker),
      metadata: asJson(file.metadata),
      permissions: asJson(file.permissions),
      first_chunk: first,
      chunks: count,
      tokens: file.tokens,
      pages: file.pages ?? null,
      language: file.language ?? null,
      title: file.title ?? null,
      author: file.author ?? null,
      created: at,
      updated: at
    }
    const row = { ...columns, sum: sumOf("files", columns) }
    this.#insertFile.run(...Object.values(row))
    for (const page of pages) {
      const chunkPage = { first_chunk: first + page.first, file: id, chunks: page.count, hashes: page.hashes, body: page.body }
      this.#insertPage.run(...Object.values(chunkPage), sumOf("chunk_pages", chunkPage))
    }
    return { id, indexed, made }
  }

  /** Finds a file by name. @throws {Refusal} DATA_LOSS where neither its row nor its chunks reliably say which chunks it has */
  find(corpus: number, name: string): StoredFile | undefined {
    const row = this.#find.get(corpus, name)
    if (row === undefined) return undefined
    const id = Number(row["id"])
    if (this.#unsealed.has(id) || isIntact("files", row)) {
      return { id, firstChunk: Number(row["first_chunk"]), chunks: Number(row["chunks"]), intact: true }
    }
    return this.#spanOf(id) ?? refuse(refuseDamaged(`the record of file ${name}`))
  }

  /** The chunks of a file, by its pages alone, which must be intact and consecutive. */
  #spanOf(id: number): StoredFile | undefined {
    const pages = this.#pagesOf.all(id)
    const firstChunk = Number(pages[0]?.["first_chunk"] ?? 0)
    let end = firstChunk
    for (const page of pages) {
      if (!isIntact("chunk_pages", page) || page["first_chunk"] !== end) return undefined
      end += Number(page["chunks"])
    }
    return pages.length === 0 ? undefined : { id, firstChunk, chunks: end - firstChunk, intact: false }
  }

  /** Updates the fields that the patch has. */
  update(file: number, patch: FilePatch, at: number): void {
    this.#update.run(
      patch.displayName ?? null,
      patch.description ?? null,
      patch.sourceUri ?? null,
      packMarker(patch.marker),
      patch.metadata === null ? 1 : 0,
      asJson(patch.metadata),
      patch.permissions === null ? 1 : 0,
      asJson(patch.permissions),
      at,
      file
    )
    this.#unsealed.add(file)
  }

  /** Writes a new checksum for every changed row. It is the last step of a transaction. */
  seal(): void {
    for (const id of this.#unsealed) {
      const row = this.#row.get(id)
      if (row !== undefined) this.#seal.run(sumOf("files", row), id)
    }
    this.#unsealed.clear()
  }

  /** Marks a file as damaged, until it is put again or deleted. */
  note(file: number, what: string): void {
    this.#note.run(what, file)
  }

  /** Deletes a file with its chunks. Unused embeddings stay, for {@link collect}. */
  delete(embedder: string, file: StoredFile, at: number): void {
    const end = file.firstChunk + file.chunks
    for (const row of this.#pages.all(file.firstChunk, end)) {
      // Hashes that may be wrong are not counted down: a vector that is kept in vain costs less than one that is missing.
      if (!isIntact("chunk_pages", row)) continue
      for (const hash of unpackHashes(asBlob(row["hashes"]))) this.#disuse.run(at, fromHex(hash), embedder)
    }
    this.#deletePages.run(file.firstChunk, end)
    this.#deleteFile.run(file.id)
  }

  putVector(embedder: string, hash: string, vector: Uint8Array, at: number): void {
    const key = fromHex(hash)
    if (this.#keepVector.run(at, key, embedder).changes === 0) this.#insertVector(embedder, key, vector, 0, at)
  }

  /** Counts one more use of a text's vector and returns its row id; undefined where the text has none. */
  #used(embedder: string, hash: Uint8Array): number | undefined {
    const id = this.#use.get(hash, embedder)?.["id"]
    return id === undefined ? undefined : Number(id)
  }

  /** Writes a vector and returns its row id; undefined, and nothing written, where the text already has one. */
  #insertVector(embedder: string, hash: Uint8Array, vector: Uint8Array, uses: number, at: number): number | undefined {
    this.#nextEmbedding ??= Number(this.#lastEmbedding.get()?.["id"] ?? 0) + 1
    const id = this.#nextEmbedding
    const { changes } = this.#putVector.run(id, embedder, hash, uses, at, vector, sumOfVector(id, embedder, hash, vector))
    if (changes === 0) return undefined
    this.#nextEmbedding++
    return id
  }

  /** Whether some embedding has been unused since before `since`. */
  hasUnused(since: number): boolean {
    return this.#anyUnused.get(since) !== undefined
  }

  /** Deletes some of the embeddings that have been unused since before `since`. */
  collect(since: number): void {
    this.#collect.run(since)
  }

  /** Deletes vectors of a file that are not as they were written; the next run embeds their texts again. */
  dropDamagedVectors(file: number, embedder: string): void {
    for (const page of this.#pagesOf.all(file)) {
      if (!isIntact("chunk_pages", page)) continue
      for (const hash of unpackHashes(asBlob(page["hashes"]))) {
        const row = this.#embedding.get(fromHex(hash), embedder)
        if (row !== undefined && !isIntact("embeddings", row)) this.#dropVector.run(Number(row["id"]))
      }
    }
  }

  /** Deletes every file of a corpus. @throws {Refusal} DATA_LOSS like {@link find} */
  deleteAll(corpus: number, embedder: string, at: number): void {
    for (const row of this.#files.all(corpus)) {
      const file = this.find(corpus, String(row["name"]))
      if (file !== undefined) this.delete(embedder, file, at)
    }
  }

  /** The chunks of every file, in the order of their numbers. @throws {Refusal} DATA_LOSS */
  *rebuildable(corpus: number, embedder: string): Generator<KeptFile> {
    for (const row of this.#files.iterate(corpus)) {
      const name = String(row["display_name"])
      if (!isIntact("files", row)) throw refuseDamaged(`the record of file ${name}`)
      const first = Number(row["first_chunk"])
      const { language, title } = row
      const chunks: Array<KeptFile["chunks"][number]> = []
      for (const page of this.#pages.all(first, first + Number(row["chunks"]))) {
        if (!isIntact("chunk_pages", page)) throw refuseDamaged(`the text of file ${name}`)
        const hashes = unpackHashes(asBlob(page["hashes"]))
        unpackChunks(asBlob(page["body"])).forEach(({ headings, text }, i) => {
          const embedding = Number(this.#embedding.get(fromHex(hashes[i] ?? ""), embedder)?.["id"] ?? 0)
          chunks.push({ number: Number(page["first_chunk"]) + i, embedding, text, headings })
        })
      }
      yield {
        chunks,
        language: typeof language === "string" ? language : undefined,
        title: typeof title === "string" ? title : undefined
      }
    }
  }
}
