import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { Metadata, RagFileName } from "../../../domain/RagFile.ts"
import type { Context } from "../../../domain/Retrieval.ts"
import type { Names } from "../Names.ts"
import { openPage, unpackChunk, type PackedChunk } from "../store/ChunkPage.ts"
import { asBlob, metadataOfRow } from "../store/Rows.ts"
import type { ByteCache } from "../../../search/ByteCache.ts"

/** A chunk as it is read, and the row of its file. */
interface FoundChunk {
  readonly file: number
  readonly packed: PackedChunk
}

/** What a context says of its file. */
interface FileFacts {
  readonly file: RagFileName
  readonly sourceUri: string
  readonly sourceDisplayName: string
  readonly metadata: Metadata | undefined
}

/** Reads chunks back, by their numbers, as contexts. */
export class ChunkReader {
  readonly #page: StatementSync
  readonly #file: StatementSync
  readonly #names: Names
  readonly #cache: ByteCache

  constructor(db: DatabaseSync, cache: ByteCache, names: Names) {
    this.#page = db.prepare("SELECT first_chunk, file, body FROM chunk_pages WHERE first_chunk <= ? ORDER BY first_chunk DESC LIMIT 1")
    this.#file = db.prepare("SELECT name, source_uri, display_name, metadata, title, author FROM files WHERE id = ?")
    this.#names = names
    this.#cache = cache
  }

  /** `generation` is the corpus's: facts about files change with it, texts never. */
  context(corpus: string, generation: number, chunk: number): Omit<Context, "score"> {
    const { file: fileId, packed } = this.#cache.get(`c${chunk}`, () => this.#read(chunk), sizeOf)
    const { metadata, ...file } = this.#facts(corpus, generation, fileId)
    const { tokens: _, ...stored } = unpackChunk(packed)
    return { chunkId: String(chunk), ...file, ...stored, ...(metadata === undefined ? {} : { metadata }) }
  }

  /** Reading one chunk opens its neighbours too: a question that finds one often finds them. */
  #read(chunk: number): FoundChunk {
    const row = this.#page.get(chunk)
    const first = Number(row?.["first_chunk"])
    const file = Number(row?.["file"])
    const page = openPage(asBlob(row?.["body"])).map((packed): FoundChunk => ({ file, packed }))
    page.forEach((neighbour, i) => {
      if (first + i !== chunk) this.#cache.put(`c${first + i}`, neighbour, sizeOf(neighbour))
    })
    const found = page[chunk - first]
    if (found === undefined) throw new RangeError(`no chunk ${chunk}`)
    return found
  }

  #facts(corpus: string, generation: number, file: number): FileFacts {
    return this.#cache.get(
      `f${generation} ${file}`,
      () => {
        const row = this.#file.get(file) ?? {}
        return {
          file: this.#names.file(corpus, String(row["name"])),
          sourceUri: String(row["source_uri"]),
          sourceDisplayName: String(row["display_name"]),
          metadata: metadataOfRow(row)
        }
      },
      () => 1_000
    )
  }
}

const sizeOf = ({ packed: [text] }: FoundChunk): number => text.length * 2 + 300
