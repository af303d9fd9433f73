import type { DatabaseSync } from "node:sqlite"
import { type Asker, readableBy } from "../../../domain/Asker.ts"
import type { MetadataValue } from "../../../domain/MetadataValue.ts"
import { type MetadataFilter, passes } from "../../../domain/MetadataFilter.ts"
import { checkedColumns, isIntact, type Row, StoreDamage } from "../store/Checksum.ts"
import { metadataOfRow, metadataValue, permissionsOfRow } from "../store/Rows.ts"
import type { CorpusIndex } from "./CorpusIndex.ts"

/** What restricts a search to some of a corpus's files. */
export interface FileFilter {
  /** Only these files, by the last segments of their names. */
  readonly files?: ReadonlyArray<string>
  /** Only files whose metadata passes this filter. */
  readonly metadata?: MetadataFilter
  /** Only files that this asker may read. */
  readonly principal?: Asker
}

/** 1 by slot where the chunk is live and its file passes the filter. */
export const allowedSlots = (db: DatabaseSync, index: CorpusIndex, corpus: number, filter: FileFilter): Uint8Array => {
  const { files } = filter
  const allowed = new Uint8Array(index.slots)
  const allows = filePasses(db, corpus, filter)
  let chunks = 0
  for (const row of fileRows(db, corpus, files)) {
    chunks += Number(row["chunks"])
    if (!allows(row)) continue
    const { from, to } = index.slotsOf(Number(row["first_chunk"]), Number(row["chunks"]))
    allowed.fill(1, from, to)
  }
  if (files === undefined && chunks !== index.liveChunks) {
    throw new StoreDamage("the database does not find all files of the corpus: it is damaged")
  }
  return allowed
}

/** Returns whether a file's row passes the filter, except for its `files`. @throws {StoreDamage} */
export const filePasses = (db: DatabaseSync, corpus: number, { metadata, principal }: FileFilter): (row: Row) => boolean => {
  const written = metadata === undefined ? undefined : writtenOf(db, corpus)
  const mayRead = principal === undefined ? undefined : readableBy(principal)
  return (row) => {
    // A damaged record may have other permissions than were written, so it lets nobody in.
    if (!isIntact("files", row)) {
      throw new StoreDamage(`the record of ${String(row["display_name"])} is damaged in the database`, Number(row["id"]))
    }
    return (metadata === undefined || hasMetadata(row, metadata, written?.get(Number(row["id"])))) &&
      mayRead?.(permissionsOfRow(row)) !== false
  }
}

/** Names of the files that pass the filter. @throws {StoreDamage} */
export const allowedFiles = (db: DatabaseSync, corpus: number, filter: FileFilter): ReadonlyArray<string> => {
  const allows = filePasses(db, corpus, filter)
  const names: Array<string> = []
  for (const row of fileRows(db, corpus, filter.files)) if (allows(row)) names.push(String(row["name"]))
  return names
}

/** Rows of the named files that are in the corpus, or of all its files. */
function* fileRows(db: DatabaseSync, corpus: number, files: ReadonlyArray<string> | undefined): Generator<Row> {
  const columns = `SELECT ${checkedColumns("files")} FROM files WHERE corpus = ?`
  if (files === undefined) {
    yield* db.prepare(columns).iterate(corpus)
    return
  }
  const byName = db.prepare(`${columns} AND name = ?`)
  for (const name of new Set(files)) {
    const row = byName.get(corpus, name)
    if (row !== undefined) yield row
  }
}

type Written = ReadonlyMap<string, MetadataValue>

/** Metadata that people wrote for a corpus's files, by row id of the file. */
const writtenOf = (db: DatabaseSync, corpus: number): ReadonlyMap<number, Written> => {
  const byFile = new Map<number, Map<string, MetadataValue>>()
  const rows = db.prepare("SELECT m.file, m.key, m.value FROM files f JOIN file_metadata m ON m.file = f.id WHERE f.corpus = ?")
  for (const row of rows.iterate(corpus)) {
    const file = Number(row["file"])
    const written = byFile.get(file) ?? new Map<string, MetadataValue>()
    byFile.set(file, written.set(String(row["key"]), metadataValue(row)))
  }
  return byFile
}

/** Whether a file's metadata passes. Values that people wrote take precedence over the source's. */
const hasMetadata = (row: Row, filter: MetadataFilter, written: Written | undefined): boolean => {
  const metadata = metadataOfRow(row) ?? {}
  return passes(filter, (key) => written?.get(key) ?? (Object.hasOwn(metadata, key) ? metadata[key] : undefined))
}
