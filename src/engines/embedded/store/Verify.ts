import type { DatabaseSync } from "node:sqlite"
import { asBlob, checkedColumns, isIntact } from "./Checksum.ts"
import { openPage } from "./ChunkPage.ts"
import { fromHex, textHash, unpackHashes } from "./Hash.ts"

/** A damaged file. */
export interface DamagedFile {
  /** Row id of the file. */
  readonly id: number
  readonly displayName: string
  readonly what: "record" | "text" | "vector"
}

export interface Verified {
  readonly files: number
  readonly chunks: number
  readonly damaged: ReadonlyArray<DamagedFile>
  /** Display names of corpora whose records are damaged. */
  readonly damagedCorpora: ReadonlyArray<string>
  /** Number of damaged rows of the index; a search that meets one rebuilds it. */
  readonly damagedIndex: number
}

/** Reads every row that answers depend on, and verifies its checksum. Memory grows with the damage only. */
export const verifyStore = (db: DatabaseSync): Verified => {
  const damaged = new Map<number, DamagedFile>()
  const files = db.prepare("SELECT id, display_name FROM files WHERE id = ?")
  const damage = (id: number, what: DamagedFile["what"]): void => {
    if (damaged.has(id)) return
    const name = files.get(id)?.["display_name"]
    damaged.set(id, { id, displayName: typeof name === "string" ? name : `a file that is not listed (${id})`, what })
  }

  let fileCount = 0
  let chunkCount = 0
  const pages = db.prepare(
    `SELECT ${checkedColumns("chunk_pages")} FROM chunk_pages WHERE first_chunk >= ? AND first_chunk < ? ORDER BY first_chunk`
  )
  const vector = db.prepare(`SELECT ${checkedColumns("embeddings")} FROM embeddings WHERE hash = ? AND embedder = ?`)
  const embedders = new Map(db.prepare("SELECT id, embedder FROM corpora").all().map((row) => [row["id"], String(row["embedder"])]))
  for (const row of db.prepare(`SELECT ${checkedColumns("files")} FROM files ORDER BY id`).iterate()) {
    const id = Number(row["id"])
    fileCount++
    if (!isIntact("files", row)) {
      damage(id, "record")
      continue
    }
    const first = Number(row["first_chunk"])
    let next = first
    for (const page of pages.iterate(first, first + Number(row["chunks"]))) {
      const hashes = unpackHashes(asBlob(page["hashes"]))
      if (!isIntact("chunk_pages", page) || page["first_chunk"] !== next || page["file"] !== id || !holds(asBlob(page["body"]), hashes)) {
        damage(id, "text")
        break
      }
      next += hashes.length
      const embedder = embedders.get(row["corpus"] ?? 0) ?? ""
      if (!hashes.every((hash) => isIntact("embeddings", vector.get(fromHex(hash), embedder)))) damage(id, "vector")
    }
    if (next !== first + Number(row["chunks"])) damage(id, "text")
    chunkCount += Number(row["chunks"])
  }

  const damagedCorpora: Array<string> = []
  for (const row of db.prepare(`SELECT ${checkedColumns("corpora")} FROM corpora`).iterate()) {
    if (!isIntact("corpora", row)) damagedCorpora.push(String(row["display_name"]))
  }
  let damagedIndex = 0
  for (const table of ["segments", "posting_pages", "tombstones"] as const) {
    for (const row of db.prepare(`SELECT ${checkedColumns(table)} FROM ${table}`).iterate()) if (!isIntact(table, row)) damagedIndex++
  }
  return { files: fileCount, chunks: chunkCount, damaged: [...damaged.values()], damagedCorpora, damagedIndex }
}

/** Whether a page's texts match the hashes stored with it. */
const holds = (body: Uint8Array, hashes: ReadonlyArray<string>): boolean => {
  try {
    const page = openPage(body)
    return page.length === hashes.length && page.every(([text], i) => textHash(text) === hashes[i])
  } catch {
    return false
  }
}
