import type { DatabaseSync } from "node:sqlite"
import type { FacetQuery, FileFacts } from "../../../domain/Facets.ts"
import { keysOf } from "../../../domain/MetadataFilter.ts"
import { metadataOfRow, permissionsOfRow, writtenColumn, writtenOfRow } from "./Rows.ts"

export interface FactsRequest {
  /** Row id of the corpus. */
  readonly corpus: number
  /** Row id of a file: only files after it are read. */
  readonly after: number
  readonly most: number
  /** The query that the facts are for: columns that it does not need are not read. */
  readonly query: FacetQuery
}

export interface StoredFacts extends FileFacts {
  /** Row id of the file. */
  readonly id: number
  /** Last segment of the file's name. */
  readonly name: string
  readonly displayName: string
}

/** Metadata of a corpus's files, oldest first, without the rest of their records. */
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
  // Many files have the same metadata: equal text is parsed once.
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
