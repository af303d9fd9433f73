import { Effect, Layer, Option, Schema, Stream } from "effect"
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite"
import { CorpusName } from "../domain/Corpus.ts"
import type { StateError } from "../domain/Errors.ts"
import type { RagFileName } from "../domain/RagFile.ts"
import { Report } from "../domain/Report.ts"
import {
  type Generation,
  Ledger,
  type LedgerEntry,
  type LedgerState,
  type QueuedWork,
  recoveredPath,
  type Role,
  type RunRecord,
  type Scan
} from "../ports/Ledger.ts"
import { asStateError, transaction } from "./Database.ts"
import { ledgerColumns as columns } from "./LedgerTable.ts"
import { LedgerWrites, runStatements, type Statement } from "./LedgerWrites.ts"
import { State } from "./State.ts"

const prefixed = columns.split(", ").map((c) => `l.${c}`).join(", ")

/** Runs remembered of a scope. */
const keptRuns = 100

/** Deleted generations remembered of a pipeline. */
const keptGone = 100

/** Rows fetched at a time by streams, so that memory does not grow with the ledger. */
const pageSize = 1_000

type Row = Record<string, SQLOutputValue>

const text = (row: Row, key: string): string => String(row[key])

const states: ReadonlySet<string> = new Set<LedgerState>(["intent", "done", "failed", "quarantined", "skipped"])
const isState = (value: string): value is LedgerState => states.has(value)

const entryOf = (row: Row): LedgerEntry => {
  const state = text(row, "state")
  return {
    source: text(row, "source"),
    path: text(row, "path"),
    state: isState(state) ? state : "failed",
    revision: text(row, "revision"),
    fingerprint: text(row, "fingerprint"),
    size: row["size"] === null ? undefined : Number(row["size"]),
    // Written of a RagFileName: to check each again takes longer than to read it.
    file: row["file"] === null ? undefined : text(row, "file") as RagFileName,
    reason: row["reason"] === null ? undefined : text(row, "reason"),
    message: row["message"] === null ? undefined : text(row, "message")
  }
}

const generationOf = (row: Row): Generation => ({
  scope: text(row, "scope"),
  number: Number(row["number"]),
  // Held to these by the table.
  role: text(row, "role") as Role,
  corpus: CorpusName.make(text(row, "corpus")),
  made: row["made"] === null ? undefined : Number(row["made"]),
  whole: row["whole"] === null ? undefined : Number(row["whole"]),
  built: row["built"] === null ? undefined : text(row, "built"),
  name: row["name"] === null ? undefined : text(row, "name")
})

const decodeReport = Schema.decodeUnknownOption(Schema.fromJsonString(Report))

const make = Effect.gen(function*() {
  const { database: db, path } = yield* State
  const writes = yield* LedgerWrites
  const run = <A>(body: () => A): Effect.Effect<A, StateError> => Effect.try({ try: body, catch: (cause) => asStateError(cause, path) })

  /** All of them or none, by the thread that writes where there is one. */
  const execute = (...statements: ReadonlyArray<Statement>): Effect.Effect<ReadonlyArray<number>, StateError> =>
    Effect.suspend(() => writes.through(statements) ?? run(() => transaction(db, () => runStatements(db, statements))))

  const scopesOf = "(SELECT scope FROM generations WHERE pipeline = ?)"

  /** Forgets what is accounted for under a key. */
  const empty = (scope: string, tables: ReadonlyArray<string>): ReadonlyArray<Statement> =>
    tables.map((table) => ({ sql: `DELETE FROM ${table} WHERE scope = ?`, parameters: [scope] }))

  /** The same of all keys of a pipeline. */
  const emptyAll = (pipeline: string, tables: ReadonlyArray<string>): ReadonlyArray<Statement> => [
    ...tables.map((table) => ({ sql: `DELETE FROM ${table} WHERE scope = ? OR scope IN ${scopesOf}`, parameters: [pipeline, pipeline] })),
    { sql: "DELETE FROM generations WHERE pipeline = ?", parameters: [pipeline] }
  ]

  /** Pages through `SELECT … WHERE (source, path) > (?, ?) ORDER BY source, path LIMIT`, holding no cursor open. */
  const keyset = (
    sql: string,
    parameters: ReadonlyArray<SQLInputValue>,
    first: Pick<LedgerEntry, "source" | "path"> = { source: "", path: "" }
  ): Stream.Stream<LedgerEntry, StateError> =>
    Stream.paginate(first, (after) =>
      run(() => {
        const entries = db.prepare(sql).all(...parameters, after.source, after.path, pageSize).map(entryOf)
        const last = entries.at(-1)
        return [entries, entries.length < pageSize || last === undefined ? Option.none() : Option.some(last)] as const
      }))

  /** Asked by every question. */
  const generationsOf = db.prepare("SELECT * FROM generations WHERE pipeline = ? ORDER BY number DESC")

  return Ledger.of({
    generations: (pipeline) => run(() => generationsOf.all(pipeline).map(generationOf)),
    pipelineOf: (corpus) =>
      run(() => {
        const row = db.prepare("SELECT pipeline FROM generations WHERE corpus = ? AND role = 'live' LIMIT 1").get(corpus)
        return row === undefined ? undefined : text(row, "pipeline")
      }),
    noteGeneration: (scope, { built, name, whole }) =>
      Effect.asVoid(execute({
        sql: "UPDATE generations SET whole = coalesce(?, whole), built = coalesce(?, built), name = coalesce(?, name) WHERE scope = ?",
        parameters: [whole ?? null, built ?? null, name ?? null, scope]
      })),
    beginGeneration: (pipeline, { built, corpus, made, name, number, role, scope, whole }) =>
      Effect.asVoid(execute(...empty(scope, ["ledger", "listings", "generations"]), {
        sql: `INSERT INTO generations (scope, pipeline, number, role, corpus, made, whole, built, name, served)
              VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        parameters: [
          scope,
          pipeline,
          number,
          role,
          corpus,
          made ?? null,
          whole ?? null,
          built ?? null,
          name ?? null,
          Number(role === "live")
        ]
      })),
    assign: (pipeline, roles) =>
      Effect.asVoid(execute(
        ...Object.entries(roles).map(([scope, role]) => ({
          sql: "UPDATE generations SET role = ?, served = served OR ? WHERE scope = ? AND pipeline = ?",
          parameters: [role, Number(role === "live"), scope, pipeline]
        }))
      )),
    retire: (pipeline, scope) =>
      Effect.asVoid(execute(
        ...empty(scope, ["ledger", "listings"]),
        { sql: "UPDATE generations SET role = 'gone' WHERE scope = ? AND pipeline = ?", parameters: [scope, pipeline] },
        {
          sql: `DELETE FROM generations WHERE pipeline = ? AND role = 'gone' AND number <=
                  (SELECT number FROM generations WHERE pipeline = ? AND role = 'gone' ORDER BY number DESC LIMIT 1 OFFSET ?)`,
          parameters: [pipeline, pipeline, keptGone]
        }
      )),
    rename: (from, to) => {
      const tables = ["ledger", "listings"]
      const renamed = "? || substr(scope, ?)"
      const end = from.length + 1
      return Effect.asVoid(execute(
        ...emptyAll(to, tables),
        ...tables.map((table) => ({
          sql: `UPDATE ${table} SET scope = ${renamed} WHERE scope IN ${scopesOf}`,
          parameters: [to, end, from]
        })),
        { sql: `UPDATE generations SET scope = ${renamed}, pipeline = ? WHERE pipeline = ?`, parameters: [to, end, to, from] }
      ))
    },
    forget: (pipeline) => Effect.asVoid(execute(...emptyAll(pipeline, ["ledger", "listings", "contents"]))),
    scan: (scope) =>
      Effect.acquireRelease(run(() => openScan(db, scope)), (scan) => Effect.sync(scan.close)).pipe(
        Effect.map((scan): Scan => ({
          see: (source, paths, pathHash) => run(() => scan.see(source, paths, pathHash)),
          missing: keyset(
            `SELECT ${prefixed} FROM ledger l WHERE scope = ? AND ${scan.unseen} AND ${scan.unclaimed}
           AND (source, path) > (?, ?) ORDER BY source, path LIMIT ?`,
            [scope]
          ),
          seeAll: (source) => run(() => scan.seeAll(source)),
          seeUnder: (source, folder) => run(() => scan.seeUnder(source, folder)),
          forget: (source, path) => run(() => scan.forget(source, path)),
          seeRest: (source) => run(() => scan.seeRest(source)),
          listedBy: (source, addresses) => run(() => scan.listedBy(source, addresses)),
          restart: (source) => run(() => scan.restart(source)),
          countMissing: (source) => run(() => scan.countMissing(source)),
          claim: (contentHash) => run(() => scan.claim(contentHash)),
          mayMove: (size) => run(() => scan.mayMove(size)),
          queue: (work) => run(() => scan.queue(work)),
          queued: Stream.paginate(0, (after) =>
            run(() => {
              const rows = scan.queued(after)
              const last = rows.at(-1)
              return [
                rows.map((row) => text(row, "work")),
                last === undefined ? Option.none() : Option.some(Number(last["id"]))
              ] as const
            }))
        }))
      ),
    listing: (scope, source) =>
      run(() => {
        const row = db.prepare("SELECT cursor, signature, whole, again FROM listings WHERE scope = ? AND source = ?").get(scope, source)
        return row === undefined ? undefined : {
          cursor: text(row, "cursor"),
          signature: text(row, "signature"),
          whole: Number(row["whole"]),
          // Written by setListing as an array of strings.
          again: JSON.parse(text(row, "again")) as ReadonlyArray<string>
        }
      }),
    setListing: (scope, source, { again, cursor, signature, whole }) =>
      Effect.asVoid(execute({
        sql: `INSERT INTO listings (scope, source, cursor, signature, whole, again) VALUES (?, ?, ?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET cursor = excluded.cursor, signature = excluded.signature, whole = excluded.whole,
             again = excluded.again`,
        parameters: [scope, source, cursor, signature, whole, JSON.stringify(again)]
      })),
    contents: (scope, source, paths) =>
      run(() => {
        const find = db.prepare("SELECT revision, signature, contents FROM contents WHERE scope = ? AND source = ? AND path = ?")
        return paths.map((path) => {
          const row = find.get(scope, source, path)
          return row === undefined
            ? undefined
            : { revision: text(row, "revision"), signature: text(row, "signature"), contents: text(row, "contents") }
        })
      }),
    setContents: (scope, source, path, record) =>
      Effect.asVoid(execute(
        record === undefined
          ? { sql: "DELETE FROM contents WHERE scope = ? AND source = ? AND path = ?", parameters: [scope, source, path] }
          : {
            sql: `INSERT INTO contents (scope, source, path, revision, signature, contents) VALUES (?, ?, ?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET revision = excluded.revision, signature = excluded.signature, contents = excluded.contents`,
            parameters: [scope, source, path, record.revision, record.signature, record.contents]
          }
      )),
    keepContents: (scope, source, paths) =>
      Effect.gen(function*() {
        const known = yield* run(() => db.prepare("SELECT path FROM contents WHERE scope = ? AND source = ?").all(scope, source))
        const gone = known.map((row) => text(row, "path")).filter((path) => !paths.has(path))
        if (gone.length === 0) return
        const sql = "DELETE FROM contents WHERE scope = ? AND source = ? AND path IN (SELECT value FROM json_each(?))"
        yield* execute({ sql, parameters: [scope, source, JSON.stringify(gone)] })
      }),
    sources: (scope) =>
      run(() =>
        db.prepare("SELECT DISTINCT source FROM ledger WHERE scope = ? ORDER BY source").all(scope)
          .map((row) => text(row, "source"))
      ),
    write: writes.write,
    entries: (scope, wanted, { after, at, containing } = {}) => {
      const ofStates = wanted === undefined ? "" : `AND state IN (${wanted.map(() => "?").join(", ")})`
      const named = `${at === undefined ? "" : "AND source = ? AND path = ?"} ${
        containing === undefined ? "" : "AND instr(lower(path), lower(?)) > 0"
      }`
      return keyset(
        `SELECT ${columns} FROM ledger WHERE scope = ? ${ofStates} ${named} AND (source, path) > (?, ?)
         ORDER BY source, path LIMIT ?`,
        [scope, ...(wanted ?? []), ...(at === undefined ? [] : [at.source, at.path]), ...(containing === undefined ? [] : [containing])],
        after
      )
    },
    count: (scope) =>
      run(() =>
        Object.fromEntries(
          db.prepare("SELECT state, count(*) AS n FROM ledger WHERE scope = ? GROUP BY state").all(scope)
            .map((row) => [text(row, "state"), Number(row["n"])])
        )
      ),
    startRun: (scope, started) =>
      Effect.map(
        execute(
          { sql: "INSERT INTO runs (scope, started) VALUES (?, ?)", parameters: [scope, started] },
          // A watch makes a run of every batch.
          {
            sql: "DELETE FROM runs WHERE scope = ? AND id <= (SELECT id FROM runs WHERE scope = ? ORDER BY id DESC LIMIT 1 OFFSET ?)",
            parameters: [scope, scope, keptRuns]
          }
        ),
        ([run]) => run!
      ),
    endRun: (id, ended, report) =>
      Effect.asVoid(
        execute({ sql: "UPDATE runs SET ended = ?, report = ? WHERE id = ?", parameters: [ended, JSON.stringify(report), id] })
      ),
    runs: (scope, limit) =>
      run(() =>
        db.prepare("SELECT started, ended, report FROM runs WHERE scope = ? ORDER BY id DESC LIMIT ?").all(scope, limit)
          .map((row): RunRecord => {
            const report = Option.getOrUndefined(decodeReport(row["report"]))
            return {
              started: Number(row["started"]),
              ended: row["ended"] === null ? undefined : Number(row["ended"]),
              report
            }
          })
      )
  })
})

/** Scans so far, in this process. */
let scans = 0

/**
 * The temporary tables of one scan. They live in SQLite's temporary database, which spills to disk: seeing 100,000
 * paths costs no memory and writes nothing to the state database. Each scan has its own: a program may run several at once.
 */
const openScan = (db: DatabaseSync, scope: string) => {
  const id = ++scans
  const tables = {
    seen: `temp.seen${id}`,
    claimed: `temp.claimed${id}`,
    gone: `temp.gone${id}`,
    queued: `temp.queued${id}`,
    absent: `temp.absent${id}`,
    addressed: `temp.addressed${id}`
  }
  db.exec(`
    CREATE TABLE ${tables.seen} (source TEXT, path TEXT, PRIMARY KEY (source, path)) WITHOUT ROWID;
    CREATE TABLE ${tables.claimed} (source TEXT, path TEXT, PRIMARY KEY (source, path)) WITHOUT ROWID;
    CREATE TABLE ${tables.gone} (source TEXT, path TEXT, PRIMARY KEY (source, path)) WITHOUT ROWID;
    CREATE TABLE ${tables.queued} (id INTEGER PRIMARY KEY, source TEXT, path TEXT, work TEXT NOT NULL, UNIQUE (source, path));
    CREATE TABLE ${tables.addressed} (address TEXT PRIMARY KEY, source TEXT) WITHOUT ROWID;
  `)
  const unseen = `NOT EXISTS (SELECT 1 FROM ${tables.seen} s WHERE s.source = l.source AND s.path = l.path)`
  const unclaimed = `NOT EXISTS (SELECT 1 FROM ${tables.claimed} c WHERE c.source = l.source AND c.path = l.path)`
  const find = db.prepare(`SELECT ${columns} FROM ledger WHERE scope = ? AND source = ? AND path = ?`)
  // Paths of recovered entries begin with "#", which "$" comes after.
  const findRecovered = db.prepare("SELECT 1 FROM ledger WHERE scope = ? AND source = ? AND path >= '#' AND path < '$' LIMIT 1")
  const see = db.prepare(`INSERT OR IGNORE INTO ${tables.seen} VALUES (?, ?)`)
  // Many paths at once, as a JSON array: a statement for each is what a run without changes would spend its time on.
  const seeMany = db.prepare(`INSERT OR IGNORE INTO ${tables.seen} SELECT ?, value FROM json_each(?)`)
  const findMany = db.prepare(
    `SELECT j.key AS place, ${prefixed} FROM json_each(?) j
     CROSS JOIN ledger l ON l.scope = ? AND l.source = ? AND l.path = j.value`
  )
  const claim = db.prepare(`INSERT OR IGNORE INTO ${tables.claimed} VALUES (?, ?)`)
  const unsee = db.prepare(`DELETE FROM ${tables.seen} WHERE source = ? AND path = ?`)
  const forget = db.prepare(`INSERT OR IGNORE INTO ${tables.gone} VALUES (?, ?)`)
  const isQueued = db.prepare(`SELECT 1 FROM ${tables.queued} WHERE source = ? AND path = ?`)
  const unqueue = db.prepare(`DELETE FROM ${tables.queued} WHERE source = ? AND path = ?`)
  const queue = db.prepare(`INSERT OR REPLACE INTO ${tables.queued} (source, path, work) VALUES (?, ?, ?)`)
  // Before the run adds to them: the share that may be deleted is of what was known.
  const known = new Map(
    db.prepare("SELECT source, count(*) AS n FROM ledger WHERE scope = ? AND file IS NOT NULL GROUP BY source").all(scope)
      .map((row) => [text(row, "source"), Number(row["n"])])
  )
  let absent: { bySize: Set<number>; anyUnsized: boolean } | undefined

  /** What is missing is known once the listings are over, and looked through by content: one indexed copy of it. */
  const missing = () => {
    if (absent !== undefined) return absent
    db.exec(`CREATE TABLE ${tables.absent} AS
      SELECT ${prefixed}, substr(l.fingerprint, 1, instr(l.fingerprint, '.') - 1) AS content
      FROM ledger l WHERE 0`)
    db.prepare(
      `INSERT INTO ${tables.absent} SELECT ${prefixed}, substr(l.fingerprint, 1, instr(l.fingerprint, '.') - 1)
       FROM ledger l WHERE scope = ? AND state = 'done' AND ${unseen}`
    ).run(scope)
    db.exec(`CREATE INDEX temp.absent_content${id} ON absent${id} (content, source, path)`)
    const sizes = db.prepare(`SELECT DISTINCT size FROM ${tables.absent}`).all().map((row) => row["size"])
    absent = {
      bySize: new Set(sizes.filter((size) => typeof size === "number")),
      anyUnsized: sizes.includes(null)
    }
    return absent
  }

  return {
    unseen,
    unclaimed,
    see: (source: string, paths: ReadonlyArray<string>, pathHash: (path: string) => string) => {
      db.exec("BEGIN")
      try {
        const listed = JSON.stringify(paths.map((path) => path.toWellFormed()))
        seeMany.run(source, listed)
        const own = new Map(findMany.all(listed, scope, source).map((row) => [row["place"], entryOf(row)]))
        const anyRecovered = own.size < paths.length && findRecovered.get(scope, source) !== undefined
        const entries = paths.map((path, place) => {
          const entry = own.get(place)
          if (entry !== undefined || !anyRecovered) return entry
          const recovered = find.get(scope, source, recoveredPath(pathHash(path)))
          if (recovered === undefined) return undefined
          see.run(source, text(recovered, "path"))
          return entryOf(recovered)
        })
        db.exec("COMMIT")
        return entries
      } catch (cause) {
        if (db.isTransaction) db.exec("ROLLBACK")
        throw cause
      }
    },
    seeAll: (source: string) => {
      db.prepare(`INSERT OR IGNORE INTO ${tables.seen} SELECT source, path FROM ledger WHERE scope = ? AND source = ?`)
        .run(scope, source)
    },
    seeUnder: (source: string, folder: string) => {
      db.prepare(
        `INSERT OR IGNORE INTO ${tables.seen} SELECT source, path FROM ledger
         WHERE scope = ? AND source = ? AND (substr(path, 1, length(?)) = ? OR substr(path, 1, 1) = ?)`
      ).run(scope, source, folder, folder, recoveredPath(""))
    },
    forget: (source: string, path: string) => {
      unsee.run(source, path)
      forget.run(source, path)
      return unqueue.run(source, path).changes > 0
    },
    seeRest: (source: string) => {
      const rest = `FROM ledger l WHERE scope = ? AND source = ? AND ${unseen}
        AND NOT EXISTS (SELECT 1 FROM ${tables.gone} g WHERE g.source = l.source AND g.path = l.path)`
      const counts = db.prepare(`SELECT state, count(*) AS n ${rest} GROUP BY state`).all(scope, source)
      db.prepare(`INSERT INTO ${tables.seen} SELECT source, path ${rest}`).run(scope, source)
      return Object.fromEntries(counts.map((row) => [text(row, "state"), Number(row["n"])]))
    },
    listedBy: (source: string, addresses: ReadonlyArray<string>) => {
      const listed = JSON.stringify(addresses.map((address) => address.toWellFormed()))
      db.prepare(`INSERT OR IGNORE INTO ${tables.addressed} SELECT value, ? FROM json_each(?)`).run(source, listed)
      return db.prepare(`SELECT a.source FROM json_each(?) j CROSS JOIN ${tables.addressed} a ON a.address = j.value ORDER BY j.key`)
        .all(listed).map((row) => text(row, "source"))
    },
    restart: (source: string) => {
      for (const table of [tables.seen, tables.gone, tables.queued, tables.addressed]) {
        db.prepare(`DELETE FROM ${table} WHERE source = ?`).run(source)
      }
    },
    countMissing: (source: string) => {
      const row = db.prepare(
        `SELECT count(*) AS missing FROM ledger l
         WHERE scope = ? AND source = ? AND file IS NOT NULL AND ${unseen} AND ${unclaimed}`
      ).get(scope, source)
      return { missing: Number(row?.["missing"] ?? 0), known: known.get(source) ?? 0 }
    },
    mayMove: (size: number | undefined) => {
      const { anyUnsized, bySize } = missing()
      return anyUnsized || (size === undefined ? bySize.size > 0 : bySize.has(size))
    },
    claim: (contentHash: string) => {
      missing()
      const row = db.prepare(
        `SELECT ${columns} FROM ${tables.absent} l WHERE content = ? AND ${unclaimed} ORDER BY source, path LIMIT 1`
      ).get(contentHash)
      if (row === undefined) return undefined
      const entry = entryOf(row)
      claim.run(entry.source, entry.path)
      return entry
    },
    queue: (work: ReadonlyArray<QueuedWork>) => {
      let first = 0
      db.exec("BEGIN")
      for (const item of work) {
        if (isQueued.get(item.source, item.path) === undefined) first += 1
        queue.run(item.source, item.path, item.work)
      }
      db.exec("COMMIT")
      return first
    },
    queued: (after: number) => db.prepare(`SELECT id, work FROM ${tables.queued} WHERE id > ? ORDER BY id LIMIT ?`).all(after, pageSize),
    close: () => {
      for (const table of Object.values(tables)) db.exec(`DROP TABLE IF EXISTS ${table}`)
    }
  }
}

/** The ledger in the state database. */
export const layer: Layer.Layer<Ledger, never, State | LedgerWrites> = Layer.effect(Ledger, make)
