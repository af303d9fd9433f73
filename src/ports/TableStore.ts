import { Context, type Effect, type Stream } from "effect"
import type { JsonRecord } from "../domain/Chat.ts"
import type { ServiceError } from "../domain/Errors.ts"

/** A column, with BigQuery's type names. Tables that are read may have other types than these. */
export interface Column {
  readonly name: string
  readonly type: "STRING" | "JSON" | "INTEGER" | "FLOAT" | "BOOLEAN" | (string & {})
  readonly repeated?: boolean
}

export interface TableHead {
  readonly columns: ReadonlyArray<Column>
  /** Region or multi-region, where tables have a location. */
  readonly location?: string
  readonly rows?: number
}

/** Tables by address, `bq://<project>.<dataset>.<table>`. Errors name the table and what to do. */
export class TableStore extends Context.Service<TableStore, {
  /**
   * Identifies a table: equal for all addresses of one table, different for different tables; undefined where the address
   * is not a table's.
   */
  readonly idOf: (uri: string) => string | undefined
  /** Reads a table's columns and size. Fails with `NOT_FOUND`. */
  readonly head: (uri: string) => Effect.Effect<TableHead, ServiceError>
  /** Reads every row, in groups, in an order that repeats while the table is unchanged. JSON columns are decoded values. */
  readonly read: (uri: string) => Stream.Stream<ReadonlyArray<JsonRecord>, ServiceError>
  /**
   * Creates a table from the rows. An existing one is `ALREADY_EXISTS`, unless `replace` is set. A failed write leaves no
   * part of it behind.
   */
  readonly put: (
    uri: string,
    columns: ReadonlyArray<Column>,
    rows: Stream.Stream<ReadonlyArray<JsonRecord>, ServiceError>,
    options?: { readonly replace?: boolean }
  ) => Effect.Effect<void, ServiceError>
  /** Deletes a table; succeeds where it does not exist. */
  readonly delete: (uri: string) => Effect.Effect<void, ServiceError>
}>()("sluice/ports/TableStore") {}
