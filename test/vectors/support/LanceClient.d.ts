/** What the tests use of @lancedb/lancedb, which is not there where nobody installed it. */

interface Row {
  // oxlint-disable-next-line typescript/no-explicit-any -- As the client has it: the table's columns.
  readonly toJSON: () => any
}

interface Table {
  readonly query: () => {
    readonly where: (sql: string) => { readonly limit: (rows: number) => { readonly toArray: () => Promise<ReadonlyArray<Row>> } }
  }
}

export declare const connect: (uri: string) => Promise<{
  readonly openTable: (name: string) => Promise<Table>
  readonly createTable: (name: string, rows: ReadonlyArray<object>) => Promise<Table>
}>
