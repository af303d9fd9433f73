// Types of the parts that are used of @lancedb/lancedb and of its Arrow. Both are optional, so their own types may be absent.

export interface Row {
  readonly [column: string]: unknown
}

interface ArrowType {
  /** Length of a list of fixed size. */
  readonly listSize?: number
}

interface ArrowField {
  readonly name: string
  readonly type: ArrowType
}

export interface ArrowSchema {
  readonly fields: ReadonlyArray<ArrowField>
}

/** A table, with its rows by column. */
export type ArrowTable = object

export interface Arrow {
  readonly Field: new(name: string, type: unknown, nullable: boolean) => ArrowField
  readonly Schema: new(fields: ReadonlyArray<ArrowField>) => ArrowSchema
  readonly Table: new(schema: ArrowSchema, columns: Readonly<Record<string, unknown>>) => ArrowTable
  readonly Vector: new(data: ReadonlyArray<unknown>) => unknown
  readonly Utf8: new() => ArrowType
  readonly Int32: new() => ArrowType
  readonly Float32: new() => ArrowType
  readonly List: new(field: ArrowField) => ArrowType
  readonly FixedSizeList: new(size: number, field: ArrowField) => ArrowType
  readonly makeData: (parts: object) => unknown
  readonly vectorFromArray: (values: ReadonlyArray<unknown>, type: ArrowType | undefined) => unknown
}

interface IndexStatistics {
  readonly numIndexedRows: number
  readonly numUnindexedRows: number
  readonly distanceType?: string
}

interface Query<Self> {
  readonly where: (predicate: string) => Self
  readonly select: (columns: ReadonlyArray<string>) => Self
  readonly limit: (rows: number) => Self
  readonly toArray: () => Promise<ReadonlyArray<Row>>
}

interface VectorQuery extends Query<VectorQuery> {
  readonly distanceType: (metric: "cosine") => VectorQuery
  readonly nprobes: (cells: number) => VectorQuery
  readonly refineFactor: (factor: number) => VectorQuery
}

interface PlainQuery extends Query<PlainQuery> {
  readonly fullTextSearch: (query: object) => PlainQuery
}

export interface Table {
  readonly addColumns: (columns: ReadonlyArray<{ readonly name: string; readonly valueSql: string }>) => Promise<unknown>
  readonly schema: () => Promise<ArrowSchema>
  readonly add: (rows: ArrowTable) => Promise<unknown>
  readonly mergeInsert: (on: string) => {
    readonly whenMatchedUpdateAll: () => {
      readonly whenNotMatchedInsertAll: () => { readonly execute: (rows: ArrowTable) => Promise<unknown> }
    }
  }
  readonly delete: (predicate: string) => Promise<unknown>
  readonly countRows: (predicate?: string) => Promise<number>
  readonly createIndex: (column: string, options: { readonly config: object; readonly replace: boolean }) => Promise<void>
  readonly listIndices: () => Promise<ReadonlyArray<{ readonly name: string }>>
  readonly indexStats: (name: string) => Promise<IndexStatistics | undefined>
  readonly stats: () => Promise<{ readonly numRows: number; readonly fragmentStats: { readonly numSmallFragments: number } }>
  readonly optimize: (options: { readonly cleanupOlderThan: Date }) => Promise<unknown>
  readonly vectorSearch: (vector: Float32Array) => VectorQuery
  readonly query: () => PlainQuery
  readonly close: () => void
}

export interface Connection {
  readonly openTable: (name: string) => Promise<Table>
  readonly createEmptyTable: (
    name: string,
    schema: ArrowSchema,
    options: { readonly mode: "create"; readonly existOk: boolean }
  ) => Promise<Table>
  readonly dropTable: (name: string) => Promise<void>
}

export interface Lance {
  readonly connect: (uri: string, options: { readonly readConsistencyInterval: number }) => Promise<Connection>
  readonly Index: {
    readonly fts: (options: {
      readonly baseTokenizer: "whitespace"
      readonly withPosition: boolean
      readonly stem: boolean
      readonly lowercase: boolean
      readonly removeStopWords: boolean
      readonly asciiFolding: boolean
      readonly maxTokenLength: number
    }) => object
    readonly btree: () => object
    readonly ivfRq: (options: { readonly distanceType: "cosine"; readonly numBits: number }) => object
  }
  readonly MatchQuery: new(term: string, column: string, options: { readonly boost: number }) => object
  readonly BooleanQuery: new(queries: ReadonlyArray<readonly [unknown, object]>) => object
  readonly Occur: { readonly Should: unknown }
}
