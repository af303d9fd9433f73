import type { DatabaseSync } from "node:sqlite"
import type { FacetQuery, FileFacts } from "../../../domain/Facets.ts"
import { keysOf } from "../../../domain/MetadataFilter.ts"
import { metadataOfRow, permissionsOfRow, writtenColumn, writtenOfRow } from "./Rows.ts"

export interface FactsRequest {
  /** Row of the corpus. */
  readonly corpus: number
  /** Row of a file: those that came after it. */
  readonly after: number
  readonly most: number
  /** What the facts are for: columns that it does not ask about are not read. */
  readonly query: FacetQuery
}

export interface StoredFacts extends FileFacts {
  /** Its row. */
  readonly id: number
  /** The last segment of its name. */
  readonly name: string
  readonly displayName: string
}

/** What is said of files of a corpus, oldest first; of the rest of their records nothing. */
export const factsAfter = (
  db: DatabaseSync,
  { after, corpus, most, query: { keys, principal, where } }: FactsRequest
): ReadonlyArray<StoredFacts> => {
  const wanted = keys === undefined ? undefined : [...keys, ...(where === undefined ? [] : keysOf(where))]
  const columns = [
    "id",
    "name",
    "display_name",
    ...(where === undefined && (keys ?? []).length === 0 ? [] : ["metadata", "title", "author"]),
    ...(principal === undefined ? [] : ["permissions"]),
    ...(wanted?.length === 0 ? [] : [writtenColumn(wanted === undefined ? "" : " AND key IN (SELECT value FROM json_each(?4))")])
  ]
  const asked = wanted === undefined || wanted.length === 0 ? [] : [JSON.stringify(wanted)]
  const rows = db.prepare(`SELECT ${columns.join(", ")} FROM files f WHERE corpus = ?1 AND id > ?2 ORDER BY id LIMIT ?3`)
  // Of many files the same is written: it is read once.
  const known = new Map<unknown, FileFacts["userMetadata"]>()
  return rows.all(corpus, after, most, ...asked).map((row) => {
    const { written } = row
    if (!known.has(written)) known.set(written, writtenOfRow(row))
    return {
      id: Number(row["id"]),
      name: String(row["name"]),
      displayName: String(row["display_name"]),
      metadata: metadataOfRow(row),
      userMetadata: known.get(written),
      permissions: permissionsOfRow(row)
    }
  })
}
