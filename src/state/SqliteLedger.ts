import { Effect, Layer, Option, Schema, Stream } from "effect"
import { statSync } from "node:fs"
import type { SQLInputValue } from "node:sqlite"
import { StateError } from "../domain/Errors.ts"
import { Report } from "../domain/Report.ts"
import { Ledger, type LedgerEntry, type RunRecord, type Scan } from "../ports/Ledger.ts"
import { asStateError, transaction } from "./Database.ts"
import { entryOf, generationOf, pageSize, prefixedColumns, text } from "./LedgerRows.ts"
import { LedgerScan } from "./LedgerScan.ts"
import { ledgerColumns as columns } from "./LedgerTable.ts"
import { LedgerWrites, runStatements, type Statement } from "./LedgerWrites.ts"
import { State } from "./State.ts"

/** Runs kept per scope. */
const keptRuns = 100

/** Deleted generations kept per pipeline. */
const keptGone = 100

/** The file behind a path; undefined where there is none. */
const identityOf = (path: string): string | undefined => {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`
}

const decodeReport = Schema.decodeUnknownOption(Schema.fromJsonString(Report))

const make = Effect.gen(function*() {
  const { database: db, path } = yield* State
  const writes = yield* LedgerWrites
  const run = <A>(body: () => A): Effect.Effect<A, StateError> => Effect.try({ try: body, catch: (cause) => asStateError(cause, path) })

  /** Runs statements in one transaction, in the writing thread where there is one. */
  const execute = (...statements: ReadonlyArray<Statement>): Effect.Effect<ReadonlyArray<number>, StateError> =>
    Effect.suspend(() => writes.through(statements) ?? run(() => transaction(db, () => runStatements(db, statements))))

  const opened = identityOf(path)
  /** Fails where the database's file is not the one that was opened. */
  const assertInPlace = Effect.suspend(() =>
    identityOf(path) === opened ? Effect.void : Effect.fail(
      new StateError({
        problem: "other",
        message: `${path} was removed or replaced while it was in use, so that nothing would be kept`,
        fix: "end this program and start it again: it then opens the database that is there, or makes one"
      })
    )
  )

  const scopesOf = "(SELECT scope FROM generations WHERE pipeline = ?)"

  /** Statements that delete a scope's rows from tables. */
  const empty = (scope: string, tables: ReadonlyArray<string>): ReadonlyArray<Statement> =>
    tables.map((table) => ({ sql: `DELETE FROM ${table} WHERE scope = ?`, parameters: [scope] }))

  /** Statements that delete the rows of all scopes of a pipeline from tables, and its generations. */
  const emptyAll = (pipeline: string, tables: ReadonlyArray<string>): ReadonlyArray<Statement> => [
    ...tables.map((table) => ({ sql: `DELETE FROM ${table} WHERE scope = ? OR scope IN ${scopesOf}`, parameters: [pipeline, pipeline] })),
    { sql: "DELETE FROM generations WHERE pipeline = ?", parameters: [pipeline] }
  ]

  /** Pages through `SELECT … WHERE (source, path) > (?, ?) ORDER BY source, path LIMIT` without keeping a cursor open. */
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

  /** Prepared once: every question runs it. */
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
      Effect.acquireRelease(run(() => new LedgerScan(db, scope)), (scan) => Effect.sync(() => scan.close())).pipe(
        Effect.map((scan): Scan => ({
          see: (source, paths, pathHash) => run(() => scan.see(source, paths, pathHash)),
          missing: keyset(
            `SELECT ${prefixedColumns} FROM ledger l WHERE scope = ? AND ${scan.unseen} AND ${scan.unclaimed}
           AND (source, path) > (?, ?) ORDER BY source, path LIMIT ?`,
            [scope]
          ),
          seeAll: (source) => run(() => scan.seeAll(source)),
          seeUnder: (source, folder, before) => run(() => scan.seeUnder(source, folder, before)),
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
          // The column is written by setListing, from an array of strings.
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
        // What is written to a removed file is lost, and nothing else would say so: a watch is open for weeks.
        Effect.andThen(
          assertInPlace,
          execute(
            { sql: "INSERT INTO runs (scope, started) VALUES (?, ?)", parameters: [scope, started] },
            // Runs are many: a watch makes one of every batch.
            {
              sql: "DELETE FROM runs WHERE scope = ? AND id <= (SELECT id FROM runs WHERE scope = ? ORDER BY id DESC LIMIT 1 OFFSET ?)",
              parameters: [scope, scope, keptRuns]
            }
          )
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

/** The ledger in the state database. */
export const layer: Layer.Layer<Ledger, never, State | LedgerWrites> = Layer.effect(Ledger, make)
