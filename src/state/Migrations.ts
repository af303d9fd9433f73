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
 * Every step the database's schema has taken, oldest first; its length is the schema version. A landed step is
 * never edited: add one.
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
