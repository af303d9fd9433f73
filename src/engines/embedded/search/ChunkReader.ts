import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { Metadata, RagFileName } from "../../../domain/RagFile.ts"
import type { Context } from "../../../domain/Retrieval.ts"
import type { Names } from "../Names.ts"
import { intactPageOf, unpackChunk, type PackedChunk } from "../store/ChunkPage.ts"
import { areIntact, checkedColumns, columnAt, preparedValues, StoreDamage } from "../store/Checksum.ts"
import { metadataOfValues } from "../store/Rows.ts"
import type { ByteCache } from "../../../search/ByteCache.ts"

/** A chunk as it is stored, with the row id of its file. */
interface FoundChunk {
  readonly file: number
  readonly packed: PackedChunk
}

/** What a context says about its file. */
interface FileFacts {
  readonly file: RagFileName
  readonly sourceUri: string
  readonly sourceDisplayName: string
  readonly metadata: Metadata | undefined
  readonly firstChunk: number
}

/** Reads chunks by their numbers, as contexts. */
export class ChunkReader {
  readonly #page: ReturnType<typeof preparedValues>
  readonly #file: ReturnType<typeof preparedValues>
  readonly #fileOf: StatementSync
  readonly #names: Names
  readonly #cache: ByteCache

  constructor(db: DatabaseSync, cache: ByteCache, names: Names) {
    this.#page = preparedValues(
      db,
      `SELECT ${checkedColumns("chunk_pages")} FROM chunk_pages WHERE first_chunk <= ? ORDER BY first_chunk DESC LIMIT 1`
    )
    this.#file = preparedValues(db, `SELECT ${checkedColumns("files")} FROM files WHERE id = ?`)
    this.#fileOf = db.prepare("SELECT id, display_name FROM files WHERE first_chunk <= ? AND first_chunk + chunks > ?")
    this.#names = names
    this.#cache = cache
  }

  /** A chunk as a context. `revision` is the corpus's: facts about files may change with it, texts never do. @throws {StoreDamage} */
  context(corpus: string, revision: number, chunk: number): Omit<Context, "score"> {
    const { file: fileId, packed } = this.#cache.get(`c${chunk}`, () => this.#read(chunk), sizeOf)
    const { firstChunk, metadata, ...file } = this.#facts(corpus, revision, fileId)
    const { tokens: _, ...stored } = unpackChunk(packed)
    return { chunkId: String(chunk), ...file, ordinal: chunk - firstChunk, ...stored, ...(metadata === undefined ? {} : { metadata }) }
  }

  /** Address of a chunk's file, to order equals by. Files with the same address differ in nothing but their age. */
  pathOf(corpus: string, revision: number, chunk: number): string {
    const file = this.#cache.get(`n${chunk}`, () => {
      const page = this.#page.get(chunk)
      if (!areIntact("chunk_pages", page)) throw this.damaged(chunk, "text")
      return Number(page[fileAt])
    }, () => 100)
    return this.#facts(corpus, revision, file).sourceUri
  }

  /** Reads the page of a chunk, and keeps all chunks of it: a question that finds one chunk often finds its neighbours. */
  #read(chunk: number): FoundChunk {
    const row = this.#page.get(chunk)
    const first = Number(row?.[firstAt])
    const packed = intactPageOf(row)
    if (row === undefined || packed === undefined || chunk >= first + Number(row[chunksAt])) throw this.damaged(chunk, "text")
    const file = Number(row[fileAt])
    const page = packed.map((packed): FoundChunk => ({ file, packed }))
    page.forEach((neighbour, i) => {
      if (first + i !== chunk) this.#cache.put(`c${first + i}`, neighbour, sizeOf(neighbour))
    })
    const found = page[chunk - first]
    if (found === undefined) throw this.damaged(chunk, "text")
    return found
  }

  /** The error to throw where a chunk's text or vector is missing or not as it was written. It names the chunk's file. */
  damaged(chunk: number, what: "text" | "vector"): StoreDamage {
    const file = this.#fileOf.get(chunk, chunk)
    const name = file === undefined ? `an unknown file (chunk ${chunk})` : String(file["display_name"])
    return new StoreDamage(`a ${what} of ${name} is damaged in the database`, file === undefined ? undefined : Number(file["id"]))
  }

  #facts(corpus: string, revision: number, file: number): FileFacts {
    return this.#cache.get(
      `f${revision} ${file}`,
      () => {
        const row = this.#file.get(file)
        if (!areIntact("files", row)) {
          throw new StoreDamage(`the record of ${String(row?.[displayNameAt] ?? `file ${file}`)} is damaged in the database`, file)
        }
        return {
          file: this.#names.file(corpus, String(row[nameAt])),
          sourceUri: String(row[sourceUriAt]),
          sourceDisplayName: String(row[displayNameAt]),
          metadata: metadataOfValues(row),
          firstChunk: Number(row[firstChunkAt])
        }
      },
      () => 1_000
    )
  }
}

const firstAt = columnAt("chunk_pages", "first_chunk")
const fileAt = columnAt("chunk_pages", "file")
const chunksAt = columnAt("chunk_pages", "chunks")

const nameAt = columnAt("files", "name")
const displayNameAt = columnAt("files", "display_name")
const sourceUriAt = columnAt("files", "source_uri")
const firstChunkAt = columnAt("files", "first_chunk")

const sizeOf = ({ packed: [text] }: FoundChunk): number => text.length * 2 + 300
