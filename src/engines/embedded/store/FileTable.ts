import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { FilePatch } from "../../../domain/RagFile.ts"
import { chunkPages, packChunks, unpackChunks } from "./ChunkPage.ts"
import type { NewFile } from "./Commands.ts"
import { fromHex, packHashes, unpackHashes } from "./Hash.ts"
import type { IndexedChunk, RebuildFile } from "./Index.ts"
import { asBlob, asJson, type Row } from "./Rows.ts"

/** What the writer needs to know of a stored file. */
export interface StoredFile {
  readonly id: number
  readonly firstChunk: number
  readonly chunks: number
}

/** The rows of files, their chunks and the embeddings these share, for the writer. */
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
  readonly #deleteLastUse: StatementSync
  readonly #disuse: StatementSync
  readonly #putVector: StatementSync
  readonly #sweep: StatementSync
  readonly #swept: StatementSync
  readonly #files: StatementSync
  readonly #embedding: StatementSync

  constructor(db: DatabaseSync) {
    this.#take = db.prepare("UPDATE counters SET value = value + ? WHERE name = 'chunk' RETURNING value")
    this.#insertFile = db.prepare(
      `INSERT INTO files (corpus, name, display_name, description, source_uri, size_bytes, marker, metadata, permissions,
        first_chunk, chunks, tokens, pages, language, title, author, created, updated)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`
    )
    this.#insertPage = db.prepare("INSERT INTO chunk_pages (first_chunk, file, chunks, hashes, body) VALUES (?, ?, ?, ?, ?)")
    this.#find = db.prepare("SELECT id, first_chunk, chunks FROM files WHERE corpus = ? AND name = ?")
    this.#update = db.prepare(
      `UPDATE files SET display_name = coalesce(?, display_name), description = coalesce(?, description),
        source_uri = coalesce(?, source_uri), marker = coalesce(?, marker), metadata = coalesce(?, metadata),
        permissions = coalesce(?, permissions), updated = ? WHERE id = ?`
    )
    this.#deleteFile = db.prepare("DELETE FROM files WHERE id = ?")
    this.#pages = db.prepare(
      "SELECT first_chunk, hashes, body FROM chunk_pages WHERE first_chunk >= ? AND first_chunk < ? ORDER BY first_chunk"
    )
    this.#deletePages = db.prepare("DELETE FROM chunk_pages WHERE first_chunk >= ? AND first_chunk < ?")
    this.#use = db.prepare("UPDATE embeddings SET uses = uses + 1 WHERE hash = ? AND embedder = ? RETURNING id")
    this.#deleteLastUse = db.prepare("DELETE FROM embeddings WHERE hash = ? AND embedder = ? AND uses <= 1")
    this.#disuse = db.prepare("UPDATE embeddings SET uses = uses - 1 WHERE hash = ? AND embedder = ?")
    this.#putVector = db.prepare(
      "INSERT INTO embeddings (embedder, hash, uses, added, vector) VALUES (?, ?, 0, ?, ?) ON CONFLICT (hash, embedder) DO NOTHING"
    )
    this.#sweep = db.prepare("DELETE FROM embeddings WHERE uses = 0 AND added < ?")
    this.#swept = db.prepare("UPDATE counters SET value = ? WHERE name = 'sweep' AND value < ?")
    this.#files = db.prepare("SELECT id, first_chunk, chunks, language FROM files WHERE corpus = ? ORDER BY first_chunk")
    this.#embedding = db.prepare("SELECT id FROM embeddings WHERE hash = ? AND embedder = ?")
  }

  /**
   * Writes a file and its chunks, and returns its row and the chunks as they go to the index. Fails with the hashes whose
   * vectors are not there, leaving it to the caller to roll back.
   */
  insert(
    corpus: number,
    embedder: string,
    file: NewFile,
    at: number
  ): { readonly file: Row; readonly indexed: ReadonlyArray<IndexedChunk> } | { readonly missing: ReadonlyArray<string> } {
    const count = file.chunks.length
    const first = Number(this.#take.get(count)?.["value"]) - count
    const missing: Array<string> = []
    const indexed = file.chunks.map((chunk, i): IndexedChunk => {
      const row = this.#use.get(fromHex(chunk.hash), embedder)
      if (row === undefined) missing.push(chunk.hash)
      return { number: first + i, embedding: Number(row?.["id"]), text: chunk.text, headings: chunk.headings }
    })
    if (missing.length > 0) return { missing }
    const row = this.#insertFile.get(
      corpus,
      file.name,
      file.displayName,
      file.description ?? null,
      file.sourceUri,
      file.sizeBytes,
      asJson(file.marker),
      asJson(file.metadata),
      asJson(file.permissions),
      first,
      count,
      file.tokens,
      file.pages ?? null,
      file.language ?? null,
      file.title ?? null,
      file.author ?? null,
      at,
      at
    ) ?? {}
    const id = Number(row["id"])
    for (const page of chunkPages(file.chunks)) {
      const hashes = packHashes(page.chunks.map((chunk) => chunk.hash))
      this.#insertPage.run(first + page.first, id, page.chunks.length, hashes, packChunks(page.chunks))
    }
    return { file: row, indexed }
  }

  find(corpus: number, name: string): StoredFile | undefined {
    const row = this.#find.get(corpus, name)
    return row === undefined
      ? undefined
      : { id: Number(row["id"]), firstChunk: Number(row["first_chunk"]), chunks: Number(row["chunks"]) }
  }

  /** Changes what the patch names. */
  update(file: number, patch: FilePatch, at: number): void {
    this.#update.run(
      patch.displayName ?? null,
      patch.description ?? null,
      patch.sourceUri ?? null,
      asJson(patch.marker),
      asJson(patch.metadata),
      asJson(patch.permissions),
      at,
      file
    )
  }

  /** Deletes a file with its chunks, and the embeddings nobody else uses. */
  delete(embedder: string, file: StoredFile): void {
    const end = file.firstChunk + file.chunks
    for (const row of this.#pages.all(file.firstChunk, end)) {
      for (const hash of unpackHashes(asBlob(row["hashes"]))) {
        if (this.#deleteLastUse.run(fromHex(hash), embedder).changes === 0) this.#disuse.run(fromHex(hash), embedder)
      }
    }
    this.#deletePages.run(file.firstChunk, end)
    this.#deleteFile.run(file.id)
  }

  putVector(embedder: string, hash: string, vector: Uint8Array, at: number): void {
    this.#putVector.run(embedder, fromHex(hash), at, vector)
  }

  /** Once in `life`, drops embeddings that were paid for longer than `life` ago and that no file came to use. */
  sweep(now: number, life: number): void {
    if (this.#swept.run(now, now - life).changes > 0) this.#sweep.run(now - life)
  }

  /** Deletes every file of a corpus. */
  deleteAll(corpus: number, embedder: string): void {
    for (const row of this.#files.all(corpus)) {
      this.delete(embedder, { id: Number(row["id"]), firstChunk: Number(row["first_chunk"]), chunks: Number(row["chunks"]) })
    }
  }

  /** Every file's chunks, in order of their numbers. */
  *rebuildable(corpus: number, embedder: string): Generator<RebuildFile> {
    for (const row of this.#files.all(corpus)) {
      const first = Number(row["first_chunk"])
      const language = row["language"]
      const chunks: Array<IndexedChunk> = []
      for (const page of this.#pages.all(first, first + Number(row["chunks"]))) {
        const hashes = unpackHashes(asBlob(page["hashes"]))
        unpackChunks(asBlob(page["body"])).forEach(({ headings, text }, i) => {
          const embedding = Number(this.#embedding.get(fromHex(hashes[i] ?? ""), embedder)?.["id"] ?? 0)
          chunks.push({ number: Number(page["first_chunk"]) + i, embedding, text, headings })
        })
      }
      yield { chunks, language: typeof language === "string" ? language : undefined }
    }
  }
}
