import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { StateError } from "../../src/domain/Errors.ts"
import { databaseFile, openDatabase } from "../../src/state/Database.ts"
import { migrations } from "../../src/state/Migrations.ts"
import { tempFolder, write } from "../support/TempFolder.ts"

const failure = (open: () => unknown): StateError => {
  try {
    open()
  } catch (cause) {
    if (cause instanceof StateError) return cause
    throw cause
  }
  throw new Error("it opened")
}

describe("the state database", () => {
  it.effect("makes a private directory that git ignores", () =>
    Effect.gen(function*() {
      const dir = join(yield* tempFolder, "data")
      openDatabase(dir).close()
      assert.strictEqual(statSync(dir).mode & 0o777, 0o700)
      assert.strictEqual(readFileSync(join(dir, ".gitignore"), "utf8"), "*\n")
    }).pipe(Effect.scoped))

  it.effect("has git ignore a directory with secrets in it, and not one with other files, which git would ignore too", () =>
    Effect.gen(function*() {
      const dir = yield* tempFolder
      write(dir, { "before/secrets/slack": "xoxb", "project/guide.md": "# Guide\n" })
      openDatabase(join(dir, "before")).close()
      openDatabase(join(dir, "project")).close()
      assert.deepStrictEqual(["before", "project"].map((name) => existsSync(join(dir, name, ".gitignore"))), [true, false])
    }).pipe(Effect.scoped))

  it.effect.runIf(process.platform === "linux")("says so where the system has no folders to make", () =>
    Effect.sync(() => {
      const { fix, message } = failure(() => openDatabase("/proc/sluice/data"))
      assert.match(message, /^\/proc\/sluice\/data cannot be made there/)
      assert.match(fix, /--data-dir/)
    }))

  it.effect("refuses a newer schema and leaves it as it is", () =>
    Effect.gen(function*() {
      const dir = yield* tempFolder
      const db = openDatabase(dir)
      db.exec(`PRAGMA user_version = ${migrations.length + 1}`)
      db.close()
      const error = failure(() => openDatabase(dir))
      assert.strictEqual(error.problem, "newer")
      assert.include(error.fix, "upgrade")
    }).pipe(Effect.scoped))

  it.effect("reports damage and never overwrites it", () =>
    Effect.gen(function*() {
      const dir = yield* tempFolder
      const path = join(dir, databaseFile)
      writeFileSync(path, "this is no database, and somebody may want it back".repeat(100))
      const before = readFileSync(path)
      assert.strictEqual(failure(() => openDatabase(dir)).problem, "damaged")
      assert.isTrue(before.equals(readFileSync(path)))
    }).pipe(Effect.scoped))

  it.effect("says so when the place is a file", () =>
    Effect.gen(function*() {
      const dir = join(yield* tempFolder, "data")
      writeFileSync(dir, "")
      assert.strictEqual(failure(() => openDatabase(dir)).problem, "readOnly")
    }).pipe(Effect.scoped))

  it.effect.skipIf(process.getuid?.() === 0)("says so when the directory cannot be written", () =>
    Effect.gen(function*() {
      const dir = yield* tempFolder
      chmodSync(dir, 0o500)
      assert.strictEqual(failure(() => openDatabase(dir)).problem, "readOnly")
      chmodSync(dir, 0o700)
      assert.isFalse(existsSync(join(dir, databaseFile)))
    }).pipe(Effect.scoped))

  it.effect("keeps what a server wrote before its tables were part of the schema", () =>
    Effect.gen(function*() {
      const dir = yield* tempFolder
      const old = new DatabaseSync(join(dir, databaseFile))
      old.exec(`
        ${migrations.slice(0, 2).join("")}
        PRAGMA user_version = 2;
        CREATE TABLE server_operations (
          sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, target TEXT NOT NULL, done INTEGER NOT NULL, entry TEXT NOT NULL
        );
        CREATE INDEX server_operations_unfinished ON server_operations (sequence) WHERE done = 0;
        CREATE TABLE server_settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        INSERT INTO server_operations (id, target, done, entry) VALUES ('1', 'corpus', 0, '{}');
        INSERT INTO server_settings VALUES ('tier', 'basic');
      `)
      old.close()
      const db = openDatabase(dir)
      assert.strictEqual(db.prepare("PRAGMA user_version").get()?.["user_version"], migrations.length)
      assert.strictEqual(db.prepare("SELECT id FROM server_operations WHERE done = 0").get()?.["id"], "1")
      assert.strictEqual(db.prepare("SELECT value FROM server_settings").get()?.["value"], "basic")
      db.close()
    }).pipe(Effect.scoped))

  it.effect("migrates once, whoever comes first", () =>
    Effect.gen(function*() {
      const dir = yield* tempFolder
      openDatabase(dir).close()
      openDatabase(dir).close()
      const db = new DatabaseSync(join(dir, databaseFile))
      assert.strictEqual(db.prepare("PRAGMA user_version").get()?.["user_version"], migrations.length)
      db.close()
    }).pipe(Effect.scoped))

  it.effect("finds the file of a chunk by an index, not by its pages", () =>
    Effect.gen(function*() {
      const db = openDatabase(yield* tempFolder)
      const files = "SELECT id FROM files WHERE chunks > 0 AND first_chunk <= 7 ORDER BY first_chunk DESC LIMIT 1"
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${files}`).all()
      db.close()
      assert.deepStrictEqual(plan.map(({ detail }) => detail), ["SEARCH files USING INDEX files_by_chunk (first_chunk<?)"])
    }).pipe(Effect.scoped))
})
