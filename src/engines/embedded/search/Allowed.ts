import type { DatabaseSync } from "node:sqlite"
import type { Metadata } from "../../../domain/RagFile.ts"
import { metadataOfRow, permissionsOfRow, type Row } from "../store/Rows.ts"
import { checkedColumns, isIntact, StoreDamage } from "../store/Checksum.ts"
import type { CorpusIndex } from "./CorpusIndex.ts"

/** What restricts a search to some of a corpus's files. */
export interface FileFilter {
  /** Last segments of their names. */
  readonly files?: ReadonlyArray<string> | undefined
  /** Every key must be equal. */
  readonly metadata?: Metadata | undefined
  /** Only what this principal may read. */
  readonly principal?: string | undefined
}

/** 1 by slot where the chunk is live and its file passes the filter. */
export const allowedSlots = (db: DatabaseSync, index: CorpusIndex, corpus: number, filter: FileFilter): Uint8Array => {
  const { files, metadata, principal } = filter
  const allowed = new Uint8Array(index.slots)
  let chunks = 0
  for (const row of candidates(db, corpus, files)) {
    // Permissions that may be others than those that were written let nobody in.
    if (!isIntact("files", row)) throw new StoreDamage(`the record of ${String(row["display_name"])} is damaged in the database`, Number(row["id"]))
    chunks += Number(row["chunks"])
    if (metadata !== undefined && !hasMetadata(row, metadata)) continue
    if (principal !== undefined && !mayRead(row, principal)) continue
    const { from, to } = index.slotsOf(Number(row["first_chunk"]), Number(row["chunks"]))
    allowed.fill(1, from, to)
  }
  if (files === undefined && chunks !== index.liveChunks) throw new StoreDamage("the database does not find all files of the corpus: it is damaged")
  return allowed
}

function* candidates(db: DatabaseSync, corpus: number, files: ReadonlyArray<string> | undefined): Generator<Row> {
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

const hasMetadata = (row: Row, wanted: Metadata): boolean => {
  const metadata = metadataOfRow(row) ?? {}
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(metadata, key) && metadata[key] === value)
}

/** A file without permissions is readable by all who may read the corpus. */
const mayRead = (row: Row, principal: string): boolean => {
  const permissions = permissionsOfRow(row)
  return permissions === undefined || permissions.public || permissions.principals.includes(principal.toLowerCase())
}
