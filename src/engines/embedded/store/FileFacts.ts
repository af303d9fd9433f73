import type { DatabaseSync } from "node:sqlite"
import { type FacetQuery, type FileFacts } from "../../../domain/Facets.ts"
import { plain } from "../../../domain/FileMetadata.ts"
import { keysOf } from "../../../domain/MetadataFilter.ts"
import type { PlainValue } from "../../../domain/RagFile.ts"
import { metadataOfRow, metadataValue, permissionsOfRow } from "./Rows.ts"

export interface FactsRequest {
  /** Row of the corpus. */
  readonly corpus: number
  /** Row of a file: those that came after it. */
  readonly after: number
  readonly most: number
  /** What the facts are for: columns that it does not ask about are not read. */
  readonly query: FacetQuery
}

/** What is said of files of a corpus, oldest first; of the rest of their records nothing. */
export const factsAfter = (
  db: DatabaseSync,
  { after, corpus, most, query: { keys, principal, where } }: FactsRequest
): ReadonlyArray<FileFacts & { readonly id: number }> => {
  const columns = [
    "id",
    ...(keys === undefined && where === undefined ? [] : ["metadata", "title", "author"]),
    ...(principal === undefined ? [] : ["permissions"])
  ]
  const files = db.prepare(`SELECT ${columns.join(", ")} FROM files WHERE corpus = ? AND id > ? ORDER BY id LIMIT ?`).all(
    corpus,
    after,
    most
  )
  const last = files.at(-1)?.["id"]
  if (last === undefined) return []
  const written = new Map<unknown, Array<readonly [string, PlainValue]>>()
  // In this order each file's rows are found by its index.
  const values = db.prepare(
    `SELECT m.file, m.key, m.value FROM files f CROSS JOIN file_metadata m ON m.file = f.id
     WHERE f.corpus = ?1 AND f.id > ?2 AND f.id <= ?3 AND (?4 IS NULL OR m.key IN (SELECT value FROM json_each(?4)))`
  )
  const asked = keys === undefined ? null : JSON.stringify([...keys, ...(where === undefined ? [] : keysOf(where))])
  for (const row of values.iterate(corpus, after, Number(last), asked)) {
    const entry = [String(row["key"]), plain(metadataValue(row))] as const
    const known = written.get(row["file"])
    if (known === undefined) written.set(row["file"], [entry])
    else known.push(entry)
  }
  return files.map((row) => {
    const entries = written.get(row["id"])
    return {
      id: Number(row["id"]),
      metadata: metadataOfRow(row),
      userMetadata: entries === undefined ? undefined : Object.fromEntries(entries),
      permissions: permissionsOfRow(row)
    }
  })
}
