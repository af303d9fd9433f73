import type { DatabaseSync, StatementSync } from "node:sqlite"
import { Context, Effect, Layer } from "effect"
import type { FileChunk } from "../../../domain/Document.ts"
import { ServiceError, type StateError } from "../../../domain/Errors.ts"
import type { Page, PageRequest } from "../../../ports/Paging.ts"
import { asStateError, databaseAt, openDatabase } from "../../../state/Database.ts"
import { stateFailure } from "../StateFailure.ts"
import { intactPage, unpackChunk } from "./ChunkPage.ts"
import { asBlob, checkedColumns, isIntact, preparedValues, type Row, type RowValues, StoreDamage } from "./Checksum.ts"
import { damageError } from "./Commands.ts"
import { fromHex } from "./Hash.ts"
import { corpusRow, type CorpusRow, writtenColumn } from "./Rows.ts"

/** Rows of a page of a listing where the request names no size. */
const defaultPage = 100
const largestPage = 1_000

type Table = "corpora" | "files" | "operations" | "data_schemas" | "file_metadata"

/** Selects a file's row, its noted damage, and the metadata that people wrote for it. */
const files = `SELECT f.*, d.what AS damage, ${writtenColumn()}
  FROM files f LEFT JOIN damage d ON d.file = f.id`

export interface ReaderShape {
  /** Runs a synchronous read in one snapshot of the database, independent of concurrent commits. */
  readonly read: <A>(body: (db: DatabaseSync) => A) => Effect.Effect<A, ServiceError>
  /**
   * A row by the last segment of its name. `parent` is the corpus of a file or a schema, or the file of metadata. The row of a corpus is
   * the same object until the database is written.
   */
  readonly find: (table: Table, name: string, parent?: number) => Effect.Effect<Row | undefined, ServiceError>
  /** One page of a table, or of a corpus's or file's rows in it, oldest first, so that rows added meanwhile never shift it. */
  readonly page: (
    table: Table,
    request: PageRequest,
    parent?: number
  ) => Effect.Effect<Page<Row>, ServiceError>
  /** One page of a corpus's files, as rows for {@link heldFileOf}. */
  readonly held: (corpus: number, request: PageRequest) => Effect.Effect<Page<RowValues>, ServiceError>
  /** One page of a file's chunks, in order, by the last segment of the file's name; undefined where the file is absent. */
  readonly chunks: (corpus: number, file: string, request: PageRequest) => Effect.Effect<Page<FileChunk> | undefined, ServiceError>
  /** Chunks of a file from an ordinal on, at most `count`; `undefined` likewise. */
  readonly chunksFrom: (
    corpus: number,
    file: string,
    from: number,
    count: number
  ) => Effect.Effect<ReadonlyArray<FileChunk> | undefined, ServiceError>
  /** The current row of this very corpus, for use within {@link ReaderShape.read}, in its snapshot. @throws {ServiceError} */
  readonly corpusNow: (id: string) => CorpusRow
  readonly corpus: (id: string) => Effect.Effect<CorpusRow, ServiceError>
  /** The hashes that have no vector of this embedder yet. */
  readonly withoutVector: (embedder: string, hashes: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, ServiceError>
  /** Last segments of the names of at most `most` of a corpus's files, chosen by their row ids. */
  readonly sample: (corpus: CorpusRow, most: number) => Effect.Effect<ReadonlyArray<string>, ServiceError>
  /** Packed vectors of the first chunk of each of a corpus's files, which are given by the last segments of their names. */
  readonly firstVectors: (
    corpus: CorpusRow,
    files: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<Uint8Array | undefined>, ServiceError>
}

/**
 * Reads the store in the calling thread, with its own connection. It sees whole commits only, of this process and of others.
 */
export class Reader extends Context.Service<Reader, ReaderShape>()("sluice/embedded/store/Reader") {
  static readonly layer = (dataDir: string, options: ReaderOptions = {}): Layer.Layer<Reader, StateError> =>
    Layer.effect(
      Reader,
      Effect.gen(function*() {
        const db = yield* Effect.acquireRelease(
          Effect.try({ try: () => openDatabase(dataDir), catch: (cause) => asStateError(cause, dataDir) }),
          (db) => Effect.sync(() => db.close())
        )
        return Reader.of(readerOf(db, databaseAt(dataDir), options))
      })
    )
}

export interface ReaderOptions {
  /**
   * Start of corpora's names in the ledger. If set, a request for a corpus of a pipeline that served before gets the one that serves now,
   * so that callers who know a corpus by its id keep it over promotions, and listings have the serving one only. A candidate that never
   * served is found by its id. If absent, every corpus stands for itself.
   */
  readonly serving?: string
}

/** Factor of Knuth's multiplicative hash, which sends consecutive numbers far apart. */
const spreading = 2_654_435_761

/** A row id's place in the order in which {@link ReaderShape.sample} chooses. */
export const spreadOf = (id: number): number => Math.imul(id, spreading) >>> 0

/** Condition that no pipeline serves from the corpus: one that some pipeline still serves from stands for itself. */
const nowhereLive = "NOT EXISTS (SELECT 1 FROM generations other WHERE other.corpus = g.corpus AND other.role = 'live')"

/** SQL for the name of the corpus that serves in place of one that served before. */
const servingName = (prefix: string): string =>
  `coalesce((SELECT substr(live.corpus, ${prefix.length + 1}) FROM generations g
     JOIN generations live ON live.pipeline = g.pipeline AND live.role = 'live'
     WHERE g.corpus = '${prefix}' || ?1 AND g.served AND ${nowhereLive} LIMIT 1), ?1)`

const isServing = (prefix: string): string =>
  `AND NOT EXISTS (SELECT 1 FROM generations g WHERE g.corpus = '${prefix}' || corpora.name AND g.role != 'gone' AND ${nowhereLive})`

/** A reader over a connection to the database at `path`. */
export const readerOf = (db: DatabaseSync, path: string, { serving }: ReaderOptions = {}): ReaderShape => {
  const prefix = serving === undefined ? undefined : `${serving}/ragCorpora/`.replaceAll("'", "''")
  const named = prefix === undefined ? "?1" : servingName(prefix)
  const corpusByName = db.prepare(`SELECT ${checkedColumns("corpora")} FROM corpora WHERE name = ?1`)
  const servingByName = db.prepare(`SELECT ${checkedColumns("corpora")} FROM corpora WHERE name = ${named}`)
  const untilWritten = keptUntilWritten(db)
  const vectorByHash = db.prepare("SELECT 1 FROM embeddings WHERE hash = ? AND embedder = ?")
  const spread = db.prepare(`SELECT name FROM files WHERE corpus = ? ORDER BY (id * ${spreading}) & 4294967295 LIMIT ?`)
  const firstVector = db.prepare(
    `SELECT e.vector FROM files f JOIN chunk_pages p ON p.first_chunk = f.first_chunk
     JOIN embeddings e ON e.hash = substr(p.hashes, 1, 16) AND e.embedder = ? WHERE f.name = ? AND f.corpus = ?`
  )
  const listings = {
    corpora: db.prepare(`SELECT * FROM corpora WHERE id > ? ${prefix === undefined ? "" : isServing(prefix)} ORDER BY id LIMIT ?`),
    files: db.prepare(`${files} WHERE f.corpus = ? AND f.id > ? ORDER BY f.id LIMIT ?`),
    data_schemas: db.prepare("SELECT * FROM data_schemas WHERE corpus = ? AND id > ? ORDER BY id LIMIT ?"),
    file_metadata: db.prepare("SELECT * FROM file_metadata WHERE file = ? AND id > ? ORDER BY id LIMIT ?"),
    operations: db.prepare("SELECT * FROM operations WHERE id > ? ORDER BY id LIMIT ?")
  }

  const heldFiles = preparedValues(
    db,
    `SELECT ${checkedColumns("files", "f")}, d.what FROM files f LEFT JOIN damage d ON d.file = f.id
     WHERE f.corpus = ? AND f.id > ? ORDER BY f.id LIMIT ?`
  )

  const rows = {
    corpora: db.prepare(`SELECT * FROM corpora WHERE name = ${named}`),
    files: db.prepare(`${files} WHERE f.name = ? AND f.corpus = ?`),
    data_schemas: db.prepare("SELECT * FROM data_schemas WHERE name = ? AND corpus = ?"),
    file_metadata: db.prepare("SELECT * FROM file_metadata WHERE name = ? AND file = ?"),
    operations: db.prepare("SELECT * FROM operations WHERE name = ?")
  }

  const chunkPages = db.prepare(
    `SELECT ${checkedColumns("chunk_pages")} FROM chunk_pages
     WHERE first_chunk >= (SELECT max(first_chunk) FROM chunk_pages WHERE first_chunk <= ?) AND first_chunk < ? ORDER BY first_chunk`
  )

  const begin = db.prepare("BEGIN")
  const commit = db.prepare("COMMIT")
  /** Runs a single statement, which needs no transaction for its snapshot. */
  const attempt = <A>(body: () => A): Effect.Effect<A, ServiceError> =>
    Effect.try({
      try: body,
      catch: (cause) =>
        cause instanceof ServiceError
          ? cause
          : cause instanceof StoreDamage
          ? damageError(cause.message)
          : stateFailure(asStateError(cause, path))
    })
  const read: ReaderShape["read"] = (body) =>
    attempt(() => {
      begin.run()
      try {
        return body(db)
      } finally {
        // Nothing was written: this only releases the snapshot.
        if (db.isTransaction) commit.run()
      }
    })

  const intactCorpus = (found: StatementSync): (id: string) => CorpusRow => {
    const kept = untilWritten((id): CorpusRow | undefined => {
      const row = found.get(id)
      if (row === undefined) return undefined
      if (!isIntact("corpora", row)) throw new StoreDamage(`the record of corpus ${id} is damaged in ${path}`)
      return corpusRow(row)
    })
    return (id) => {
      const corpus = kept(id)
      if (corpus === undefined) throw ServiceError.notFound(`corpus ${id}`)
      return corpus
    }
  }
  const corpusNow = intactCorpus(corpusByName)
  const servingCorpus = intactCorpus(servingByName)
  const foundCorpus = untilWritten((id) => rows.corpora.get(id))

  /** At most `limit` chunks of a file, starting with its `from`th. @throws {StoreDamage} where one is missing or damaged */
  const chunksFrom = (file: Row, from: number, limit: number): ReadonlyArray<FileChunk> => {
    const found: Array<FileChunk> = []
    const first = Number(file["first_chunk"])
    const end = Math.min(first + Number(file["chunks"]), first + from + limit)
    let next = first + from
    if (next >= end) return found
    const damage = (): StoreDamage => new StoreDamage(`a text of ${String(file["display_name"])} is damaged in ${path}`, Number(file["id"]))
    for (const row of chunkPages.iterate(next, end)) {
      const page = intactPage(row)
      const start = Number(row["first_chunk"])
      if (page === undefined || row["file"] !== file["id"] || start > next || start + page.length <= next) throw damage()
      for (const packed of page.slice(next - start, end - start)) found.push({ ordinal: next++ - first, ...unpackChunk(packed) })
    }
    if (next < end) throw damage()
    return found
  }

  /** The row of a file that has chunks to be read; `undefined` where there is no such file. @throws {StoreDamage} */
  const intactFile = (corpus: number, file: string): Row | undefined => {
    const row = rows.files.get(file, corpus)
    if (row === undefined || isIntact("files", row)) return row
    throw new StoreDamage(`the record of ${String(row["display_name"])} is damaged in ${path}`, Number(row["id"]))
  }

  return {
    read,
    find: (table, name, parent) =>
      attempt(() => table === "corpora" ? foundCorpus(name) : rows[table].get(name, ...(parent === undefined ? [] : [parent]))),
    page: Effect.fnUntraced(function*(table, request, parent) {
      const { after, limit } = yield* placeOf(request, parent)
      const found = yield* attempt(() => listings[table].all(...(parent === undefined ? [] : [parent]), after, limit + 1))
      return pageOf(found, limit, (last) => tokenAfter(Number(last["id"]), parent))
    }),
    held: Effect.fnUntraced(function*(corpus, request) {
      const { after, limit } = yield* placeOf(request, corpus)
      const found = yield* attempt(() => [...heldFiles.iterate(corpus, after, limit + 1)])
      return pageOf(found, limit, ([last]) => tokenAfter(Number(last), corpus))
    }),
    chunks: Effect.fnUntraced(function*(corpus, file, request) {
      const { after, limit } = yield* placeOf(request)
      return yield* read(() => {
        const row = intactFile(corpus, file)
        if (row === undefined) return undefined
        const items = chunksFrom(row, after, limit)
        const next = after + items.length
        return next < Number(row["chunks"]) ? { items, nextToken: tokenAfter(next) } : { items }
      })
    }),
    chunksFrom: (corpus, file, from, count) =>
      read(() => {
        const row = intactFile(corpus, file)
        return row === undefined ? undefined : chunksFrom(row, from, count)
      }),
    corpusNow,
    corpus: (id) => attempt(() => servingCorpus(id)),
    sample: ({ id }, most) => attempt(() => spread.all(id, most).map((row) => String(row["name"]))),
    firstVectors: ({ embedder, id }, files) =>
      read(() =>
        files.map((file) => {
          const row = firstVector.get(embedder, file, id)
          return row === undefined ? undefined : asBlob(row["vector"])
        })
      ),
    withoutVector: (embedder, hashes) => read(() => hashes.filter((hash) => vectorByHash.get(fromHex(hash), embedder) === undefined))
  }
}

/**
 * Keeps the rows of corpora by their ids: they are needed for every question and every file, and seldom change. All are dropped when
 * SQLite reports a write by another connection. That a corpus is absent is not kept.
 */
const keptUntilWritten = (db: DatabaseSync) => {
  const dataVersion = preparedNumber(db, "PRAGMA data_version")
  const all: Array<Map<string, unknown>> = []
  let readAt: number | undefined
  return <A>(read: (id: string) => A | undefined): (id: string) => A | undefined => {
    const kept = new Map<string, A>()
    all.push(kept)
    return (id) => {
      const version = dataVersion.get()
      if (version !== readAt) {
        for (const values of all) values.clear()
        readAt = version
      }
      const known = kept.get(id)
      if (known !== undefined) return known
      const value = read(id)
      if (value !== undefined) kept.set(id, value)
      return value
    }
  }
}

/** Prepares a statement that returns one number. */
const preparedNumber = (db: DatabaseSync, sql: string) => {
  const statement = preparedValues(db, sql)
  return { get: (): number => Number(statement.get()?.[0]) }
}

/** A page of `found`, which has one item more than `limit` if another page follows. */
const pageOf = <A>(found: ReadonlyArray<A>, limit: number, tokenAfter: (last: A) => string): Page<A> => {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return found.length > limit && last !== undefined ? { items, nextToken: tokenAfter(last) } : { items }
}

/** Decodes a page request: how many items, and after which one. */
const placeOf = Effect.fnUntraced(function*(request: PageRequest, parent?: number) {
  const size = request.size ?? defaultPage
  if (!Number.isInteger(size) || size < 0) return yield* ServiceError.invalid("pageSize", "must be 1 to 1000")
  const after = afterToken(request.token, parent)
  if (after === undefined) return yield* ServiceError.invalid("pageToken", "is not one that a listing gave")
  return { after, limit: size === 0 ? defaultPage : Math.min(size, largestPage) }
})

/**
 * A page token. It has the last row seen, or the number of chunks seen, and the parent, so that a listing does not continue in another
 * corpus that took the first one's place.
 */
const tokenAfter = (id: number, parent?: number): string =>
  Buffer.from(parent === undefined ? `after:${id}` : `after:${id}:${parent}`).toString("base64url")

const afterToken = (token: string | undefined, parent?: number): number | undefined => {
  if (token === undefined || token === "") return 0
  const found = /^after:(\d{1,15})(?::(\d{1,15}))?$/.exec(Buffer.from(token, "base64url").toString("utf8"))
  return found === null || found[2] !== parent?.toString() ? undefined : Number(found[1])
}
