import { batchTables } from "./tables/Batch.ts"
import { jobColumns } from "./tables/Jobs.ts"
import { contentsTable, generationTable, ledgerTables, listingTable } from "./tables/Ledger.ts"
import { metadataTables } from "./tables/Metadata.ts"
import { modelTables } from "./tables/Models.ts"
import { quotaAmounts, quotaTables } from "./tables/Quota.ts"
import { cachedContents, serverTables } from "./tables/Server.ts"
import { checksums, corpusOptions, filesByChunk, lz4Pages, storeTables, vectorLists } from "./tables/Store.ts"
import { vectorTables } from "./tables/Vectors.ts"

/**
 * All steps of the database's schema, oldest first; their number is the schema version. A released step is never edited: add a new one.
 */
export const migrations: ReadonlyArray<string> = [
  ledgerTables + storeTables,
  quotaTables,
  serverTables,
  corpusOptions,
  quotaAmounts,
  listingTable,
  batchTables,
  modelTables,
  checksums,
  vectorLists,
  metadataTables,
  cachedContents,
  contentsTable,
  vectorTables,
  jobColumns,
  generationTable,
  lz4Pages,
  filesByChunk
]
