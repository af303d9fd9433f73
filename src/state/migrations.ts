import { ledgerTables } from "./tables/Ledger.ts"
import { quotaTables } from "./tables/Quota.ts"
import { serverTables } from "./tables/Server.ts"
import { storeTables } from "./tables/Store.ts"

/**
 * Every step the database's schema has taken, oldest first; its length is the schema version. A landed step is
 * never edited: add one.
 */
export const migrations: ReadonlyArray<string> = [ledgerTables + storeTables, quotaTables, serverTables]
