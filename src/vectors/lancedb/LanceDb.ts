import { createRequire } from "node:module"
import { access, constants, stat, statfs } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { Duration, Effect, type Scope, Semaphore } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { retry, type RetryOptions } from "../../net/Retry.ts"
import {
  byWords,
  type VectorDescription,
  type VectorFile,
  type VectorHit,
  type VectorQuery,
  type VectorSpace,
  type VectorStore
} from "../../ports/VectorStore.ts"
import {
  blamed,
  chunkBatches,
  chunkColumns,
  chunkId,
  corpusRecordOf,
  type Fields,
  filesOf,
  isOlder,
  jsonIn,
  parts,
  type ReadChunk,
  unfit,
  versionsOf
} from "../Chunks.ts"
import type { Arrow, ArrowTable, Connection, Lance, Row, Table } from "./Library.ts"

export interface LanceDbOptions {
  /** A folder, as an absolute path or `file:///…`, or `s3://…`, `gs://…`, `az://…`. */
  readonly uri: string
  readonly space: VectorSpace
  readonly retry?: RetryOptions | undefined
  /** Where the library is looked for besides beside Sluice. Default: the working directory. */
  readonly from?: string | undefined
  /** Chunks from which there is an index of vectors; fewer are compared one by one. Default 10,000. */
  readonly indexFrom?: number | undefined
}

/** The first version whose indexes are made as they are made here. */
const leastVersion = [0, 39] as const
const fields: Fields = { address: "lanceDb.uri", key: "lanceDb.uri", part: "lanceDb.uri" }
/** Bytes that are free at least where a folder is written to. */
const leastFree = 16 * 1024 * 1024

/** Chunks of one commit, and files of one deletion. */
const chunksAtOnce = 1_000
const filesAtOnce = 1_000
/** Commits after which it is looked whether the table is to be put in order. */
const commitsBetween = 32
/** Pieces of the table, and chunks that no index has yet, from which it is. */
const mostPieces = 32
const mostUnindexed = 5_000
/** Versions of the table older than this are deleted: no search takes so long. */
const keptMs = 60 * 60 * 1_000
/** Milliseconds of one call; putting a large table in order takes longest. */
const callLimit = 120_000
const orderLimit = 3_600_000
/** Candidates that are compared by their whole vectors, for each that is asked for, and cells of the index that are looked into. */
const refine = 4
const probes = 64
/** Of a vector's component in the index. With one, a tenth of the nearest would be missing; with four, hardly any. */
const bits = 4
/** Bytes of a term; the tokenizer leaves out longer ones. */
const longestTerm = 2_000

const recordsName = "corpus_records"
const denseIndex = "embedding_idx"
const wordIndex = "terms_idx"
const fileIndex = "file_id_idx"

/**
 * A corpus in LanceDB: a table of its own in a folder or in object storage, which this process reads and writes by itself.
 * Each write is a commit that every reader sees whole or not at all. What no index has yet is searched beside the indexes.
 */
export const make = Effect.fnUntraced(function*(options: LanceDbOptions): Effect.fn.Return<VectorStore, ServiceError, Scope.Scope> {
  const { indexFrom = 10_000, space: { corpus, dimensions } } = options
  const folder = folderOf(options.uri)
  const uri = folder ?? options.uri
  // Corpora's ids are digits.
  const name = `corpus_${corpus.replace(/[^a-z0-9_]/gi, "_")}`
  const place = `table ${name} of LanceDB in ${uri}`
  const again = retry({ times: 4, ...options.retry })
  const library = libraryFrom(options.from ?? process.cwd())

  const attempt = <A>(what: string, body: () => Promise<A>, limit = callLimit): Effect.Effect<A, ServiceError> =>
    Effect.tryPromise({ try: body, catch: (cause) => failureOf(`${what} in ${place}`, cause) }).pipe(
      Effect.timeoutOrElse({
        duration: Duration.millis(limit),
        orElse: () => Effect.fail(new ServiceError({ code: "DEADLINE_EXCEEDED", message: `${what} in ${place} did not end` }))
      }),
      Effect.mapError(blamed(fields))
    )

  let connected: { readonly lance: Lance; readonly arrow: Arrow; readonly db: Connection } | undefined
  const connecting = yield* Semaphore.make(1)
  const connection = connecting.withPermit(Effect.suspend(() =>
    connected !== undefined
      ? Effect.succeed(connected)
      : Effect.gen(function*() {
        const { arrow, lance } = yield* library
        // Other processes write too: each search looks for the newest version.
        const db = yield* attempt("connecting", () => lance.connect(uri, { readConsistencyInterval: 0 }))
        return connected = { lance, arrow, db }
      })
  ))

  let opened: Table | undefined
  /** Undefined where there is none. */
  const table: Effect.Effect<Table | undefined, ServiceError> = Effect.suspend(() =>
    opened !== undefined ? Effect.succeed(opened) : Effect.gen(function*() {
      // Connecting to a folder would make it.
      if (folder !== undefined && !(yield* isThere(join(folder, `${name}.lance`)))) return undefined
      const { db } = yield* connection
      return yield* attempt("looking", () => db.openTable(name)).pipe(
        Effect.tap((found) => Effect.sync(() => void (opened = found))),
        Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.undefined)
      )
    })
  )
  /** What the corpora of the database say of themselves; undefined where none has yet. */
  const records: Effect.Effect<Table | undefined, ServiceError> = Effect.gen(function*() {
    if (folder !== undefined && !(yield* isThere(join(folder, `${recordsName}.lance`)))) return undefined
    const { db } = yield* connection
    return yield* attempt("looking", () => db.openTable(recordsName)).pipe(
      Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.undefined)
    )
  })
  /** Another process may have dropped the table, or put another one in its place. */
  const forget = Effect.sync(() => {
    opened?.close()
    opened = undefined
  })
  yield* Effect.addFinalizer(() => forget)

  const fit = Effect.fnUntraced(function*(found: Table): Effect.fn.Return<void, ServiceError> {
    const { fields } = yield* attempt("looking", () => found.schema())
    const known = new Map(fields.map((field) => [field.name, field.type]))
    // Tables of earlier versions have no records; `prepare` adds them.
    const lacking = chunkColumns.filter((column) => column !== "record" && !known.has(column))
    if (lacking.length > 0) {
      return yield* unfit("lanceDb.uri", `the ${place} is somebody else's: it has no ${lacking.join(", ")}`, "use another folder")
    }
    const length = known.get("embedding")?.listSize
    if (length !== dimensions) {
      return yield* unfit(
        "lanceDb.uri",
        `the ${place} holds vectors of ${length ?? "no"} dimensions, and the embedder gives ${dimensions} dimensions`,
        "use another folder, or build the corpus anew: sluice run --replace"
      )
    }
    const index = yield* attempt("looking", () => found.indexStats(denseIndex))
    if (index?.distanceType !== undefined && index.distanceType !== "cosine") {
      return yield* unfit(
        "lanceDb.uri",
        `the index of the ${place} compares vectors by ${index.distanceType}, and the corpus by cosine`,
        "drop the index, or use another folder"
      )
    }
  })

  const check: VectorStore["check"] = Effect.gen(function*() {
    if (folder !== undefined) yield* usable(folder)
    yield* forget
    const { lance } = yield* library
    const found = yield* table
    if (found === undefined) return yield* ServiceError.notFound(`${place} (LanceDB ${lance.version})`)
    yield* fit(found)
    const chunks = yield* attempt("counting", () => found.countRows())
    return { chunks, dimensions, version: `LanceDB ${lance.version}` } satisfies VectorDescription
  })

  const prepare = Effect.gen(function*() {
    if (folder !== undefined) yield* usable(folder)
    yield* forget
    const { arrow, db, lance } = yield* connection
    const there = yield* table
    if (there !== undefined) {
      yield* fit(there)
      const { fields: columns } = yield* attempt("looking", () => there.schema())
      if (columns.some((column) => column.name === "record")) return
      yield* attempt("adding a column", () => there.addColumns([{ name: "record", valueSql: "cast(null as string)" }]))
      return
    }
    // Two processes may come at the same time: whoever is second finds what the first one made.
    const made = yield* attempt(
      "making the table of the corpus",
      () => db.createEmptyTable(name, schemaOf(arrow, dimensions), { mode: "create", existOk: true })
    )
    opened = made
    yield* fit(made)
    const words = lance.Index.fts({
      baseTokenizer: "whitespace",
      withPosition: false,
      stem: false,
      lowercase: false,
      removeStopWords: false,
      asciiFolding: false,
      maxTokenLength: longestTerm
    })
    const has = new Set((yield* attempt("looking", () => made.listIndices())).map((index) => index.name))
    for (const [index, column, config] of [[wordIndex, "terms", words], [fileIndex, "file_id", lance.Index.btree()]] as const) {
      if (has.has(index)) continue
      yield* attempt(`indexing ${column}`, () => made.createIndex(column, { config, replace: false })).pipe(
        Effect.catchIf(({ message }) => /already exists/.test(message), () => Effect.void)
      )
    }
  }).pipe(again)

  const needTable = Effect.flatMap(table, (found) => found === undefined ? ServiceError.notFound(place) : Effect.succeed(found))

  /** Commits of this process go one after the other; those of others make it try again. */
  const writing = yield* Semaphore.make(1)
  let commits = 0
  const commit = <A>(what: string, body: (table: Table) => Promise<A>, found: Table) =>
    Effect.tap(attempt(what, () => body(found)), () => Effect.sync(() => void commits++))

  /** Puts the pieces together that commits leave, takes what is new into the indexes, and deletes old versions. */
  const order = Effect.gen(function*() {
    commits = 0
    const found = yield* table
    if (found === undefined) return
    const { lance } = yield* connection
    const { fragmentStats, numRows } = yield* attempt("looking", () => found.stats())
    const words = yield* attempt("looking", () => found.indexStats(wordIndex))
    const pieces = fragmentStats.numSmallFragments
    if (pieces >= mostPieces || (words?.numUnindexedRows ?? 0) >= mostUnindexed) {
      yield* attempt("putting in order", () => found.optimize({ cleanupOlderThan: new Date(Date.now() - keptMs) }), orderLimit)
    }
    if (numRows < indexFrom) return
    const dense = yield* attempt("looking", () => found.indexStats(denseIndex))
    // What came since would be sorted into the cells of what was there: when that is most of it, they are cut anew.
    if (dense === undefined || dense.numUnindexedRows > dense.numIndexedRows) {
      const config = lance.Index.ivfRq({ distanceType: "cosine", numBits: bits })
      yield* attempt("indexing vectors", () => found.createIndex("embedding", { config, replace: true }), orderLimit)
    }
  })
  // A table out of order is only slower, and another process may be at it.
  const ordered = Effect.catch(
    order,
    ({ code, message }) => code === "NOT_FOUND" ? Effect.void : Effect.logWarning(`${place} is not in order: ${message}`)
  )
  yield* Effect.addFinalizer(() => commits === 0 ? Effect.void : writing.withPermit(ordered))

  const put: VectorStore["put"] = Effect.fnUntraced(function*(files) {
    const { arrow } = yield* connection
    const schema = schemaOf(arrow, dimensions)
    yield* Effect.forEach(chunkBatches(files, chunksAtOnce), (batch) => {
      const ids = [...new Set(batch.map(([{ file }]) => file))]
      return writing.withPermit(Effect.gen(function*() {
        const found = yield* needTable
        const rows = tableOf(arrow, schema, corpus, batch)
        const before = yield* attempt("looking", () => found.countRows(ofFiles(ids)))
        yield* commit("writing chunks", async (at) => {
          // Only a version that is written again has anything to be merged with.
          if (before === 0) await at.add(rows)
          else await at.mergeInsert("id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(rows)
        }, found)
        if (commits >= commitsBetween) yield* ordered
      })).pipe(again)
    }, { discard: true })
  })

  const remove: VectorStore["delete"] = (files) =>
    Effect.forEach(parts(files, filesAtOnce), (some) =>
      writing.withPermit(Effect.gen(function*() {
        const found = yield* table
        if (found === undefined) return
        const where = ofFiles(some)
        if ((yield* attempt("looking", () => found.countRows(where))) === 0) return
        yield* commit("deleting chunks", (at) => at.delete(where), found)
      })).pipe(again), { discard: true })

  const drop: VectorStore["drop"] = writing.withPermit(Effect.gen(function*() {
    const found = yield* table
    if (found === undefined) return
    yield* forget
    commits = 0
    const { db } = yield* connection
    yield* attempt("deleting the table of the corpus", () => db.dropTable(name)).pipe(
      Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.void)
    )
    const signed = yield* records
    if (signed !== undefined) yield* attempt("deleting the record of the corpus", () => signed.delete(`corpus = '${corpus}'`))
  })).pipe(again)

  const corpora: VectorStore["corpora"] = Effect.gen(function*() {
    const signed = yield* records
    if (signed === undefined) return []
    const rows = yield* attempt("looking for corpora", () => signed.query().select(["corpus", "record"]).toArray())
    return rows.flatMap((row) => corpusRecordOf(String(row["corpus"]), row["record"]))
  })

  const sign: VectorStore["sign"] = Effect.fnUntraced(function*(record) {
    const { arrow, db } = yield* connection
    const text = new arrow.Utf8()
    const schema = new arrow.Schema(["corpus", "record"].map((column) => new arrow.Field(column, text, false)))
    yield* attempt("signing the corpus", async () => {
      const signed = await db.createEmptyTable(recordsName, schema, { mode: "create", existOk: true })
      const row = new arrow.Table(schema, {
        corpus: arrow.vectorFromArray([corpus], text),
        record: arrow.vectorFromArray([JSON.stringify(record)], text)
      })
      await signed.mergeInsert("corpus").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(row)
      signed.close()
    })
  }, again)

  const versions: VectorStore["versions"] = Effect.gen(function*() {
    const found = yield* table
    if (found === undefined) return []
    const rows = yield* attempt("looking for files", () => found.query().select(["file_id", "ordinal", "record"]).toArray(), orderLimit)
    return versionsOf(rows.map((row) => ({
      file: String(row["file_id"]),
      ordinal: Number(row["ordinal"]),
      record: textOf(row["record"])
    })))
  })

  const read: VectorStore["read"] = Effect.fnUntraced(function*(files) {
    const found = yield* needTable
    const wanted = chunkColumns.filter((column) => column !== "id" && column !== "terms")
    return filesOf((yield* attempt("reading files", () => found.query().where(ofFiles(files)).select(wanted).toArray())).map(readOf))
  })

  const search: VectorStore["search"] = Effect.fnUntraced(
    function*({ count, files, terms = [], vector }: VectorQuery) {
      const found = yield* table
      if (found === undefined) return { dense: [], sparse: [] }
      const { lance } = yield* connection
      const where = files === undefined ? undefined : ofFiles(files)
      const asked = terms.filter(({ term }) => term !== "" && Buffer.byteLength(term) <= longestTerm)
      const [near, worded] = yield* Effect.all([
        vector === undefined || vector.every((value) => value === 0)
          ? Effect.succeed([])
          : attempt("searching", () => {
            const query = found.vectorSearch(vector).distanceType("cosine").nprobes(probes).refineFactor(refine)
            return (where === undefined ? query : query.where(where)).select(["file_id", "ordinal", "_distance"]).limit(count).toArray()
          }),
        asked.length === 0
          ? Effect.succeed([])
          : attempt("searching", () => {
            const words = asked.map(({ term, weight }) => new lance.MatchQuery(term, "terms", { boost: weight }))
            const [only] = words
            const query = found.query().fullTextSearch(
              words.length === 1 ? only! : new lance.BooleanQuery(words.map((word) => [lance.Occur.Should, word]))
            )
            return (where === undefined ? query : query.where(where)).select(["file_id", "ordinal", "_score"]).limit(count).toArray()
          })
      ], { concurrency: 2 })
      return {
        dense: near.map((row) => hitOf(row, 1 - Number(row["_distance"]))),
        sparse: worded.map((row) => hitOf(row, Number(row["_score"])))
      }
    },
    // Another process dropped the table.
    Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.as(forget, { dense: [], sparse: [] }))
  )

  return {
    place,
    abilities: Effect.succeed(byWords),
    mostFiles: 10_000,
    prepare,
    check,
    put,
    delete: remove,
    drop,
    search,
    corpora,
    sign,
    versions,
    read
  }
})

const schemaOf = ({ Field, FixedSizeList, Float32, Int32, List, Schema, Utf8 }: Arrow, dimensions: number) => {
  const whole = new Int32()
  const text = new Utf8()
  const types: { readonly [C in (typeof chunkColumns)[number]]?: unknown } = {
    ordinal: whole,
    headings: new List(new Field("item", text, true)),
    byte_start: whole,
    byte_end: whole,
    first_page: whole,
    last_page: whole,
    embedding: new FixedSizeList(dimensions, new Field("item", new Float32(), true))
  }
  const absent = new Set<string>(["first_page", "last_page", "metadata", "permissions", "record"])
  return new Schema(chunkColumns.map((column) => new Field(column, types[column] ?? text, absent.has(column))))
}

/** Rows by column, as the library takes them without looking at each number. */
const tableOf = (
  arrow: Arrow,
  schema: ReturnType<typeof schemaOf>,
  corpus: string,
  batch: ReadonlyArray<readonly [VectorFile, VectorFile["chunks"][number]]>
): ArrowTable => {
  const length = batch.length
  const dimensions = batch[0]?.[1].vector.length ?? 0
  const values = new Float32Array(length * dimensions)
  batch.forEach(([, { vector }], at) => values.set(vector, at * dimensions))
  const typeOf = (column: (typeof chunkColumns)[number]) => schema.fields.find(({ name }) => name === column)?.type
  const vectors = arrow.makeData({
    type: typeOf("embedding"),
    length,
    nullCount: 0,
    child: arrow.makeData({ type: new arrow.Float32(), length: values.length, nullCount: 0, data: values })
  })
  const column = (name: (typeof chunkColumns)[number], of: (file: VectorFile, chunk: VectorFile["chunks"][number]) => unknown) =>
    [name, arrow.vectorFromArray(batch.map(([file, chunk]) => of(file, chunk) ?? null), typeOf(name))] as const
  const json = (value: unknown) => value === undefined ? null : JSON.stringify(value)
  return new arrow.Table(
    schema,
    Object.fromEntries([
      column("id", ({ file }, { ordinal }) => chunkId(corpus, file, ordinal)),
      column("file_id", ({ file }) => file),
      column("ordinal", (_, { ordinal }) => ordinal),
      column("text", (_, { text }) => text),
      column("headings", (_, { headings }) => headings),
      column("byte_start", (_, { byteStart }) => byteStart),
      column("byte_end", (_, { byteEnd }) => byteEnd),
      column("first_page", (_, { firstPage }) => firstPage),
      column("last_page", (_, { lastPage }) => lastPage),
      column("source_uri", ({ sourceUri }) => sourceUri),
      column("display_name", ({ displayName }) => displayName),
      column("metadata", ({ metadata }) => json(metadata)),
      column("permissions", ({ permissions }) => json(permissions)),
      column("record", (_, { record }) => record),
      column("terms", (_, { terms }) => terms.join(" ")),
      ["embedding", new arrow.Vector([vectors])] as const
    ])
  )
}

const hitOf = (row: Row, score: number): VectorHit => ({ file: String(row["file_id"]), ordinal: Number(row["ordinal"]), score })

const textOf = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

/** A row as {@link tableOf} has it. */
const readOf = (row: Row): ReadChunk => {
  const json = <A>(column: string) => jsonIn<A>(row[column])?.value
  const number = (column: string) => row[column] === null || row[column] === undefined ? undefined : Number(row[column])
  // Lists come as vectors of Arrow's.
  const list = (column: string) => [...row[column] as Iterable<unknown>]
  return {
    file: {
      file: String(row["file_id"]),
      sourceUri: String(row["source_uri"]),
      displayName: String(row["display_name"]),
      metadata: json("metadata"),
      permissions: json("permissions")
    },
    chunk: {
      ordinal: Number(row["ordinal"]),
      text: String(row["text"]),
      vector: Float32Array.from(list("embedding"), Number),
      terms: [],
      headings: list("headings").map(String),
      byteStart: Number(row["byte_start"]),
      byteEnd: Number(row["byte_end"]),
      firstPage: number("first_page"),
      lastPage: number("last_page"),
      record: textOf(row["record"])
    }
  }
}

/** Rows of some files, as SQL. */
const ofFiles = (files: ReadonlyArray<string>): string =>
  `file_id IN (${files.length === 0 ? "''" : files.map((file) => `'${file.replaceAll("'", "''")}'`).join(", ")})`

/** The folder that an address means; undefined for object storage. */
const folderOf = (uri: string): string | undefined =>
  uri.startsWith("file:") ? fileURLToPath(uri) : /^[a-z][a-z0-9+]+:\/\//i.test(uri) ? undefined : uri

const isThere = (path: string): Effect.Effect<boolean> => Effect.promise(() => access(path).then(() => true, () => false))

/** Fails where a folder cannot be one of a database that is written to, or cannot be made. */
const usable = Effect.fnUntraced(function*(folder: string): Effect.fn.Return<void, ServiceError> {
  let at = folder
  while (!(yield* isThere(at)) && dirname(at) !== at) at = dirname(at)
  const isFolder = yield* Effect.promise(() => stat(at).then((found) => found.isDirectory(), () => false))
  if (!isFolder) return yield* unfit("lanceDb.uri", `${at} is not a folder`, "name a folder, or one that can be made")
  const writable = yield* Effect.promise(() => access(at, constants.W_OK | constants.X_OK).then(() => true, () => false))
  if (!writable) return yield* unfit("lanceDb.uri", `${at} is read-only for this user`, "name a folder that may be written to")
  const room = yield* Effect.promise(() => statfs(at).then(({ bavail, bsize }) => bavail * bsize, () => Infinity))
  if (room < leastFree) {
    return yield* unfit(
      "lanceDb.uri",
      `the disk of ${at} is full: ${Math.floor(room / 1024)} kB are free`,
      "make room on it, or name another folder"
    )
  }
})

/** The library, which is large and native: an optional package, loaded when a corpus names it. */
const libraryFrom = (
  folder: string
): Effect.Effect<{ readonly lance: Lance & { readonly version: string }; readonly arrow: Arrow }, ServiceError> =>
  Effect.tryPromise({
    try: () => loaded ??= load(folder),
    catch: (cause) => {
      loaded = undefined
      if (cause instanceof ServiceError) return cause
      const missing = cause instanceof Error && "code" in cause && cause.code === "MODULE_NOT_FOUND"
      return unfit(
        "lanceDb",
        missing
          ? "LanceDB is a package of its own, and is not installed"
          : `the package @lancedb/lancedb cannot be loaded: ${cause instanceof Error ? cause.message.split("\n")[0] : "no details"}`,
        "npm install @lancedb/lancedb"
      )
    }
  })

let loaded: ReturnType<typeof load> | undefined
const load = async (folder: string) => {
  // It logs to stderr what it tries again.
  process.env["LANCEDB_LOG"] ??= "error"
  const require = createRequire(import.meta.url)
  const name = "@lancedb/lancedb"
  let path: string
  try {
    path = require.resolve(name)
  } catch {
    path = createRequire(pathToFileURL(join(folder, "package.json"))).resolve(name)
  }
  // Its own copy of Arrow: it takes no other's tables.
  const near = createRequire(path)
  const lance = near(path) as Lance
  const { version } = near("../package.json") as { readonly version: string }
  if (isOlder(version, leastVersion)) {
    throw unfit(
      "lanceDb",
      `LanceDB ${version} is installed, and ${leastVersion.join(".")} is the first that can be used`,
      "npm install @lancedb/lancedb@latest"
    )
  }
  return { lance: { ...lance, version }, arrow: near("apache-arrow") as Arrow }
}

/** What the library's errors mean; it tells them apart by their texts alone. */
const meanings: ReadonlyArray<readonly [pattern: RegExp, code: ServiceError["code"], fix?: string]> = [
  [/conflict|concurrent writers/i, "ABORTED"],
  [/No space left|os error 28|StorageFull|disk quota/i, "FAILED_PRECONDITION", "the disk is full: make room"],
  [/Read-only file system|os error 30/i, "FAILED_PRECONDITION", "name a folder that may be written to"],
  [
    /Permission denied|os error 13|AccessDenied|Forbidden|status: 403/i,
    "PERMISSION_DENIED",
    "let this user, or its credentials, write there"
  ],
  [
    /InvalidAccessKey|SignatureDoesNotMatch|Unauthorized|Unauthenticated|status: 401|CredentialsNotLoaded|no providers in chain/i,
    "UNAUTHENTICATED",
    "check the credentials of the object storage in the environment"
  ],
  [/NoSuchBucket|bucket.{0,40}not found/i, "FAILED_PRECONDITION", "name a bucket that is there"],
  [/Not a directory|File exists/i, "FAILED_PRECONDITION", "name a folder"],
  [/was not found|Not found:|os error 2\b/i, "NOT_FOUND"],
  [
    /ConnectError|Connection refused|dns error|timed out|status: (?:429|5\d\d)|SlowDown/i,
    "UNAVAILABLE",
    "check the address and the network"
  ]
]

const failureOf = (what: string, cause: unknown): ServiceError => {
  const said = cause instanceof Error ? cause.message : "no details"
  const [, code, fix] = meanings.find(([pattern]) => pattern.test(said)) ?? []
  // Places in the library's own source follow, and the error once more as its cause.
  const short = said.replace(/, \/\S+?\.rs:\d+:\d+|, location: Location \{[^}]*\}|, backtrace: \w+|\s+Caused by:.*$/gs, "").slice(0, 500)
  return new ServiceError({ code: code ?? "FAILED_PRECONDITION", message: `${what}: ${short}`, fix })
}
