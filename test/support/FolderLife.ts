import { assert } from "@effect/vitest"
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { unpackChunks } from "../../src/engines/embedded/store/ChunkPage.ts"

/** A seeded source of numbers from 0 to 1. */
export const random = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))

const foldersIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))

/** Whether a file is stored, implemented independently: not hidden, not excluded, not in an ignored folder. */
const isTaken = (path: string): boolean =>
  !path.split("/").some((name) => name.startsWith(".") || name === "ignored") && !path.endsWith(".bak")

const textOf = (text: string): string => text.match(/word\d+/g)?.join(" ") ?? ""

/** The expected content of a pipeline over the folder: the words of each path. */
export const folderHolds = (docs: string): Record<string, string> =>
  Object.fromEntries(filesIn(docs).filter(isTaken).map((path) => [path, textOf(readFileSync(join(docs, path), "utf8"))]).toSorted())

const textsIn = (body: unknown): string => body instanceof Uint8Array ? unpackChunks(body).map(({ text }) => text).join(" ") : ""

/** The actual content of a corpus: the stored chunks, not the ledger. */
export const targetHolds = (dataDir: string, corpus: string): Record<string, string> => {
  const db = new DatabaseSync(join(dataDir, "sluice.db"), { readOnly: true, timeout: 60_000 })
  try {
    const rows = db.prepare(
      `SELECT f.display_name, p.body FROM files f JOIN chunk_pages p ON p.file = f.id JOIN corpora c ON c.id = f.corpus
       WHERE c.display_name = ? ORDER BY f.display_name, p.first_chunk`
    ).all(corpus)
    const files = db.prepare("SELECT count(*) AS n FROM files f JOIN corpora c ON c.id = f.corpus WHERE c.display_name = ?").get(corpus)
    assert.strictEqual(rows.length, Number(files?.["n"]))
    return Object.fromEntries(rows.map((row) => [String(row["display_name"]), textOf(textsIn(row["body"]))]))
  } finally {
    db.close()
  }
}

/** Does one random operation of a person, an editor or a tool in a folder, and returns its description. */
export const operate = (docs: string, next: () => number, name: () => string): string => {
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
