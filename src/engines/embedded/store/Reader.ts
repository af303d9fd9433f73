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

/** Rows of a page of a listing: unset, and at most. */
const defaultPage = 100
const largestPage = 1_000

type Table = "corpora" | "files" | "operations" | "data_schemas" | "file_metadata"

/** A file's row, what is damaged of it, and what people wrote of it. */
const files = `SELECT f.*, d.what AS damage, ${writtenColumn()}
  FROM files f LEFT JOIN damage d ON d.file = f.id`

export interface ReaderShape {
  /** Runs a synchronous read in one snapshot of the database, whatever is committed meanwhile. */
  readonly read: <A>(body: (db: DatabaseSync) => A) => Effect.Effect<A, ServiceError>
  /**
   * A row by the last segment of its name; a file's and a schema's is in its corpus, that of metadata in its file. A corpus's
   * is the same object until somebody writes.
   */
  readonly find: (table: Table, name: string, parent?: number) => Effect.Effect<Row | undefined, ServiceError>
  /** One page of a table, or of what a corpus or file has in it, oldest row first: rows that come in meanwhile never shift it. */
  readonly page: (
    table: Table,
    request: PageRequest,
    parent?: number
  ) => Effect.Effect<Page<Row>, ServiceError>
  /** The files of a corpus as {@link heldFileOf} takes them, a page at a time. */
  readonly held: (corpus: number, request: PageRequest) => Effect.Effect<Page<RowValues>, ServiceError>
  /** Chunks of a file, by the last segment of its name, in order; `undefined` where there is no such file. */
  readonly chunks: (corpus: number, file: string, request: PageRequest) => Effect.Effect<Page<FileChunk> | undefined, ServiceError>
  /** Chunks of a file from an ordinal on, at most `count`; `undefined` likewise. */
  readonly chunksFrom: (
    corpus: number,
    file: string,
    from: number,
    count: number
  ) => Effect.Effect<ReadonlyArray<FileChunk> | undefined, ServiceError>
  /** The row of this very corpus, for use within {@link ReaderShape.read}: everything read there is of the same moment. @throws {ServiceError} */
  readonly corpusNow: (id: string) => CorpusRow
  readonly corpus: (id: string) => Effect.Effect<CorpusRow, ServiceError>
  /** Which of these hashes have no vector of this embedder yet. */
  readonly withoutVector: (embedder: string, hashes: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, ServiceError>
  /** The last segments of the names of some of a corpus's files, chosen by their numbers. */
  readonly sample: (corpus: CorpusRow, most: number) => Effect.Effect<ReadonlyArray<string>, ServiceError>
  /** The packed vectors of the first chunks of files of a corpus, by the last segments of their names. */
  readonly firstVectors: (
    corpus: CorpusRow,
    files: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<Uint8Array | undefined>, ServiceError>
}

/**
 * Reads the store on the calling thread, over a connection of its own: it sees what is committed, by this process
 * or another, and never half of it.
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
   * Of a pipeline's corpora there is the one that serves: whoever names one that served before gets that, so that callers
   * who know a corpus by its id stay with it over promotions, and listings have no other. A candidate that never served is
   * found by its id. What corpora's names begin with in the ledger; absent: each corpus is itself.
   */
  readonly serving?: string
}

/** Knuth's multiplicative hash: numbers that follow each other are far apart. */
const spreading = 2_654_435_761

/** The place of a row in the order in which {@link ReaderShape.sample} chooses. */
export const spreadOf = (id: number): number => Math.imul(id, spreading) >>> 0

/** Of corpora that another pipeline still serves from, each is itself. */
const nowhereLive = "NOT EXISTS (SELECT 1 FROM generations other WHERE other.corpus = g.corpus AND other.role = 'live')"

/** The corpus that serves in the place of one that did. */
const servingName = (prefix: string): string =>
  `coalesce((SELECT substr(live.corpus, ${prefix.length + 1}) FROM generations g
     JOIN generations live ON live.pipeline = g.pipeline AND live.role = 'live'
     WHERE g.corpus = '${prefix}' || ?1 AND g.served AND ${nowhereLive} LIMIT 1), ?1)`

const isServing = (prefix: string): string =>
  `AND NOT EXISTS (SELECT 1 FROM generations g WHERE g.corpus = '${prefix}' || corpora.name AND g.role != 'gone' AND ${nowhereLive})`

/** Reads over a connection to the database at `path`. */
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
  /** Runs one statement, which is a snapshot of its own. */
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
        // Nothing was written: this only lets the snapshot go.
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

  /** Chunks of a file from its `from`th on, at most `limit`. @throws {StoreDamage} where one is missing or damaged */
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
 * Keeps what is read of corpora, by their ids: it is asked for at every question and every file, and is seldom another.
 * All of it goes when SQLite says that another connection has written. What is not there is looked for again.
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

/** A statement that gives one number. */
const preparedNumber = (db: DatabaseSync, sql: string) => {
  const statement = preparedValues(db, sql)
  return { get: (): number => Number(statement.get()?.[0]) }
}

/** A page of `found`, which has one more than `limit` where there is another page. */
const pageOf = <A>(found: ReadonlyArray<A>, limit: number, tokenAfter: (last: A) => string): Page<A> => {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return found.length > limit && last !== undefined ? { items, nextToken: tokenAfter(last) } : { items }
}

/** How many items are wanted, after which one. */
const placeOf = Effect.fnUntraced(function*(request: PageRequest, parent?: number) {
  const size = request.size ?? defaultPage
  if (!Number.isInteger(size) || size < 0) return yield* ServiceError.invalid("pageSize", "must be 1 to 1000")
  const after = afterToken(request.token, parent)
  if (after === undefined) return yield* ServiceError.invalid("pageToken", "is not one that a listing gave")
  return { after, limit: size === 0 ? defaultPage : Math.min(size, largestPage) }
})

/**
 * Page tokens name the last row seen, or how many chunks; and whose rows they are, so that a listing does not go on in
 * another corpus that took the place of the first.
 */
const tokenAfter = (id: number, parent?: number): string =>
  Buffer.from(parent === undefined ? `after:${id}` : `after:${id}:${parent}`).toString("base64url")

const afterToken = (token: string | undefined, parent?: number): number | undefined => {
  if (token === undefined || token === "") return 0
  const found = /^after:(\d{1,15})(?::(\d{1,15}))?$/.exec(Buffer.from(token, "base64url").toString("utf8"))
  return found === null || found[2] !== parent?.toString() ? undefined : Number(found[1])
}
