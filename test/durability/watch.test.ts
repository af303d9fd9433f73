import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync
} from "node:fs"
import { dirname, join, relative } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { unpackChunks } from "../../src/embedded/store/ChunkPage.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { Watching } from "../support/Watching.ts"

const seeds = Number(process.env["SLUICE_WATCH_SEEDS"] ?? 25)
const concurrency = 10
const operations = 15

const random = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const pipeline = `
name: watched
corpus: { displayName: Watched }
sources: { docs: { local: { path: ./docs, exclude: ["**/*.bak"] } } }
import: { maxDelete: 100% }
`

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))

const foldersIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))

/** The rule of what is taken, written anew: not hidden, not excluded, not in an ignored folder. */
const isTaken = (path: string): boolean =>
  !path.split("/").some((name) => name.startsWith(".") || name === "ignored") && !path.endsWith(".bak")

const textOf = (text: string): string => text.match(/word\d+/g)?.join(" ") ?? ""

const folderHolds = (docs: string): Record<string, string> =>
  Object.fromEntries(filesIn(docs).filter(isTaken).map((path) => [path, textOf(readFileSync(join(docs, path), "utf8"))]).toSorted())

const textsIn = (body: unknown): string =>
  body instanceof Uint8Array ? unpackChunks(body).map(({ text }) => text).join(" ") : ""

/** What readers of the target find: the stored chunks themselves, not what the ledger says of them. */
const targetHolds = (dataDir: string): Record<string, string> => {
  const db = new DatabaseSync(join(dataDir, "sluice.db"), { readOnly: true })
  try {
    const rows = db.prepare(
      "SELECT display_name, body FROM files JOIN chunk_pages ON chunk_pages.file = files.id ORDER BY display_name, chunk_pages.first_chunk"
    ).all()
    assert.strictEqual(rows.length, Number(db.prepare("SELECT count(*) AS n FROM files").get()?.["n"]))
    return Object.fromEntries(rows.map((row) => [String(row["display_name"]), textOf(textsIn(row["body"]))]))
  } finally {
    db.close()
  }
}

/** One random thing a person, an editor or a tool does to a folder. */
const operate = (docs: string, next: () => number, name: () => string): string => {
  const pick = <A>(all: ReadonlyArray<A>): A | undefined => all[Math.floor(next() * all.length)]
  const folders = ["", ...foldersIn(docs)]
  const file = pick(filesIn(docs).filter((path) => !path.endsWith(".sluiceignore")))
  const somewhere = () => join(docs, pick(folders) ?? "")
  const fresh = () => `word${name()} word${name()}\n`
  const create = (path: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, fresh())
    return `create ${path}`
  }
  const kind = next()
  if (file === undefined || kind < 0.2) return create(join(somewhere(), `f${name()}.txt`))
  const path = join(docs, file)
  if (kind < 0.26) return create(join(somewhere(), `d${name()}`, `e${name()}`, `f${name()}.txt`))
  if (kind < 0.32) return create(join(somewhere(), pick(["ignored/x.txt", ".hidden.txt", "y.bak"]) ?? ""))
  if (kind < 0.44) {
    appendFileSync(path, fresh())
    return `append ${file}`
  }
  if (kind < 0.56) {
    writeFileSync(`${path}.tmp.bak`, fresh())
    renameSync(`${path}.tmp.bak`, path)
    return `save by rename ${file}`
  }
  if (kind < 0.64) {
    const to = join(somewhere(), `r${name()}.txt`)
    renameSync(path, to)
    return `rename ${file} to ${to}`
  }
  if (kind < 0.7) {
    const cased = join(dirname(path), (next() < 0.5 ? file.toUpperCase() : file.toLowerCase()).split("/").at(-1) ?? "")
    if (!existsSync(cased)) renameSync(path, cased)
    return `case of ${file}`
  }
  if (kind < 0.76) {
    const then = new Date(Date.now() - 1_000_000 * next())
    utimesSync(path, then, then)
    return `touch ${file}`
  }
  if (kind < 0.88) {
    rmSync(path)
    return `delete ${file}`
  }
  const folder = pick(folders.slice(1))
  if (folder === undefined) return "nothing"
  if (kind < 0.95) {
    const to = join(somewhere(), `m${name()}`)
    if (!relative(join(docs, folder), to).startsWith("..")) return "nothing: into itself"
    renameSync(join(docs, folder), to)
    return `move ${folder} to ${to}`
  }
  rmSync(join(docs, folder), { recursive: true })
  return `delete folder ${folder}`
}

const trial = (seed: number) =>
  Effect.gen(function*() {
    const cwd = yield* tempFolder
    const docs = join(cwd, "docs")
    const next = random(seed * 7919)
    let names = 0
    const name = () => String(++names)
    write(cwd, { "pipeline.yaml": pipeline })
    write(docs, { ".sluiceignore": "ignored/\n", "a/one.txt": "word0\n", "a/b/two.txt": "word0 word0\n", "three.txt": "word9999\n" })
    const launch = Effect.acquireRelease(Effect.sync(() => new Watching(cwd)), (watching) => Effect.promise(() => watching.end("SIGKILL")))
    let watching = yield* launch
    const log: Array<string> = []

    for (let round = 1; round <= 1 + seed % 2; round++) {
      // Some rounds begin before the first sync is over.
      if (next() < 0.7) yield* Effect.promise(() => watching.until((line) => line["type"] === "batch"))
      const killAt = seed % 3 === 0 ? Math.floor(next() * operations) : -1
      const from = watching.lines.length
      for (let n = 0; n < operations; n++) {
        log.push(operate(docs, next, name))
        if (n === killAt) {
          yield* Effect.promise(() => watching.end("SIGKILL"))
          log.push("kill -9")
          watching = yield* launch
        }
        // Spread over several batches, which is what the order of things depends on.
        if (next() < 0.2) yield* Effect.sleep(600 * next())
      }
      const last = `last${round}.txt`
      writeFileSync(join(docs, last), `word${name()}\n`)
      yield* Effect.promise(() => watching.settledAfter(last, killAt === -1 ? from : 0))
      const where = `seed ${seed}, round ${round}:\n${log.join("\n")}`
      assert.deepStrictEqual(targetHolds(join(cwd, ".sluice")), folderHolds(docs), where)
    }
    const { code, stderr } = yield* Effect.promise(() => watching.end("SIGINT"))
    assert.strictEqual(code, 130, stderr)
  }).pipe(Effect.scoped)

describe("a watched folder", () => {
  it.live(`is what the target holds after any changes, once it is quiet (${seeds} random sequences, some with kill -9)`, () =>
    Effect.forEach(Array.from({ length: seeds }, (_, i) => i + 1), trial, { concurrency, discard: true }), 60_000 + seeds * 8_000)
})
