import { Context, type Effect, type Stream } from "effect"
import type { JsonRecord } from "../domain/Chat.ts"
import type { ServiceError } from "../domain/Errors.ts"

/** BigQuery's names of types. Others than these are possible in a table that is read. */
export interface Column {
  readonly name: string
  readonly type: "STRING" | "JSON" | "INTEGER" | "FLOAT" | "BOOLEAN" | (string & {})
  readonly repeated?: boolean
}

export interface TableHead {
  readonly columns: ReadonlyArray<Column>
  /** Region or multi-region, where tables have one. */
  readonly location?: string
  readonly rows?: number
}

/** Tables by address, `bq://<project>.<dataset>.<table>`. Errors name the table and what to do. */
export class TableStore extends Context.Service<TableStore, {
  /** The same for all addresses of one table, and for no two tables; undefined where it is no address of one. */
  readonly idOf: (uri: string) => string | undefined
  /** Fails with `NOT_FOUND`. */
  readonly head: (uri: string) => Effect.Effect<TableHead, ServiceError>
  /** Every row, in groups, in an order that repeats while the table stays as it is. JSON columns are values. */
  readonly read: (uri: string) => Stream.Stream<ReadonlyArray<JsonRecord>, ServiceError>
  /**
   * Makes a table of the rows. One that is there is `ALREADY_EXISTS`, or is replaced. A write that fails leaves no part
   * of it behind.
   */
  readonly put: (
    uri: string,
    columns: ReadonlyArray<Column>,
    rows: Stream.Stream<ReadonlyArray<JsonRecord>, ServiceError>,
    options?: { readonly replace?: boolean }
  ) => Effect.Effect<void, ServiceError>
  /** Also succeeds when there is none. */
  readonly delete: (uri: string) => Effect.Effect<void, ServiceError>
}>()("sluice/ports/TableStore") {}
