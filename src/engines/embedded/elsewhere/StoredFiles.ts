import { Effect } from "effect"
import { defined } from "../../../domain/Defined.ts"
import { ServiceError } from "../../../domain/Errors.ts"
import { Embedder } from "../../../ports/Embedder.ts"
import type { VectorFile } from "../../../ports/VectorStore.ts"
import { asBlob, checkedColumns, isIntact } from "../store/Checksum.ts"
import type { NewFile, NewVector } from "../store/Commands.ts"
import { fromHex, textHash } from "../store/Hash.ts"
import { Reader } from "../store/Reader.ts"
import { type CorpusRow, metadataOfRow, permissionsOfRow } from "../store/Rows.ts"
import { unitVectorOf } from "../store/Vector.ts"
import { fileRecordOfRow, vectorFileOf } from "./FileRecord.ts"

/** Chunks of a stored file that are read at a time. */
const chunksAtOnce = 1_000

/** Loaded on use: the analysis is large, and in this thread only corpora in databases of their own need it. */
export const elsewhereTerms = Effect.promise(() => import("./ElsewhereTerms.ts"))

/** Vectors of texts, by their hashes: from `fresh`, or else from the cache of embeddings. `file`: its display name, for the error. */
export const vectorsOf = Effect.fnUntraced(function*(
  corpus: CorpusRow,
  file: string,
  hashes: ReadonlyArray<string>,
  fresh: ReadonlyArray<NewVector>
): Effect.fn.Return<ReadonlyArray<Float32Array>, ServiceError, Reader | Embedder> {
  const reader = yield* Reader
  const { dimensions } = yield* Embedder
  return yield* reader.read((db) => {
    const given = new Map(fresh.map(({ hash, vector }) => [hash, vector]))
    const stored = db.prepare(`SELECT ${checkedColumns("embeddings")} FROM embeddings WHERE hash = ? AND embedder = ?`)
    return hashes.map((hash) => {
      const known = given.get(hash)
      if (known !== undefined) return unitVectorOf(known, dimensions)
      const row = stored.get(fromHex(hash), corpus.embedder)
      if (!isIntact("embeddings", row)) throw new ServiceError({ code: "ABORTED", message: `a vector of ${file} disappeared` })
      return unitVectorOf(asBlob(row["vector"]), dimensions)
    })
  })
})

/** A stored file, to be written to its database again because its facts changed; undefined where it is gone. */
export const storedFile = Effect.fnUntraced(
  function*(corpus: CorpusRow, name: string): Effect.fn.Return<VectorFile | undefined, ServiceError, Reader | Embedder> {
    const reader = yield* Reader
    const row = yield* reader.find("files", name, corpus.id)
    if (row === undefined) return undefined
    const chunks: Array<NewFile["chunks"][number]> = []
    for (let token: string | undefined, more = true; more;) {
      const page = yield* reader.chunks(corpus.id, name, defined({ size: chunksAtOnce, token }))
      if (page === undefined) return undefined
      for (const { ordinal: _, ...chunk } of page.items) chunks.push({ ...chunk, hash: textHash(chunk.text) })
      token = page.nextToken
      more = token !== undefined
    }
    const record = fileRecordOfRow(row)
    const { terms } = (yield* elsewhereTerms).termsOf(defined({ chunks, language: record.language, title: record.title }))
    const displayName = String(row["display_name"])
    const vectors = yield* vectorsOf(corpus, displayName, chunks.map(({ hash }) => hash), [])
    const file = {
      name,
      chunks,
      displayName,
      sourceUri: String(row["source_uri"]),
      metadata: metadataOfRow(row),
      permissions: permissionsOfRow(row)
    }
    return vectorFileOf(file, record, vectors.map((vector, at) => ({ vector, terms: terms[at]! })))
  }
)
