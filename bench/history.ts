/**
 * Replays the history of a documentation tree with a run after each commit, and counts the embedded texts.
 *
 *     node bench/history.ts --before TREE --after TREE --commits commits.jsonl [--every 1]
 *
 * A line of the commits is `{ changes: [{ s: "A" | "M" | "D" | "R", path, from? }] }`. Only the first and the last
 * version of a file are at hand, so versions in between are mixed: the first lines from the last version, the others from the
 * first. Exits 1 if a run changes a file that its commits did not touch, or if the corpus differs from the last tree.
 */
import { Effect } from "effect"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { parseArgs } from "node:util"
import { local } from "../connectors/index.ts"
import { Embedded, type FileOutcome, Pipeline } from "../src/index.ts"

interface Change {
  readonly s: "A" | "M" | "D" | "R"
  readonly path: string
  readonly from?: string
}

const { values } = parseArgs({
  options: { before: { type: "string" }, after: { type: "string" }, commits: { type: "string" }, every: { type: "string", default: "1" } }
})
const { after, before, commits: commitsFile } = values
if (after === undefined || before === undefined || commitsFile === undefined) {
  throw new Error("--before, --after and --commits are needed")
}

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))

const textAt = (path: string): string | undefined => existsSync(path) ? readFileSync(path, "latin1") : undefined

const commits: ReadonlyArray<ReadonlyArray<Change>> = readFileSync(commitsFile, "utf8").split("\n").filter((line) => line !== "")
  .map((line) => JSON.parse(line).changes)

/** Number of writes of each path, so that the last write has the last version. */
const writes = new Map<string, number>()
for (const { path, s } of commits.flat()) if (s !== "D") writes.set(path, (writes.get(path) ?? 0) + 1)

const workspace = mkdtempSync(join(tmpdir(), "sluice-history-"))
const docs = join(workspace, "docs")

const written = new Map<string, number>()
const apply = ({ from, path, s }: Change): void => {
  const file = join(docs, path)
  if (s === "D") return rmSync(file, { force: true })
  mkdirSync(dirname(file), { recursive: true })
  if (from !== undefined && existsSync(join(docs, from))) renameSync(join(docs, from), file)
  const nth = (written.get(path) ?? 0) + 1
  written.set(path, nth)
  const last = textAt(join(after, path)) ?? textAt(file) ?? path
  const part = nth / (writes.get(path) ?? 1)
  const lines = last.split("\n")
  const old = (textAt(join(before, from ?? path)) ?? "").split("\n")
  const cut = Math.ceil(lines.length * part)
  const text = part === 1 ? last : [...lines.slice(0, cut), ...old.slice(cut)].join("\n")
  writeFileSync(file, text, "latin1")
}

const pipeline = Pipeline.make("history", {
  corpus: { displayName: "History" },
  sources: { docs: local(docs) },
  chunking: { strategy: "structure" },
  import: { maxDelete: "100%" }
})

const replay = Effect.gen(function*() {
  const run = Effect.gen(function*() {
    const outcomes: Array<FileOutcome> = []
    const report = yield* pipeline.runWith({
      observe: (event) => Effect.sync(() => event.type === "file" && void outcomes.push(event))
    })
    return { report, outcomes }
  })
  const wrong: Array<string> = []
  const everTouched = new Set<string>()
  const first = yield* run
  const say = (text: string) => Effect.sync(() => console.log(text))
  yield* say(`start: ${first.report.totals.added} files, ${first.report.embedded} chunks embedded, ${first.report.seconds.toFixed(2)} s`)
  const every = Number(values.every)
  let embeddedChunks = 0
  let written = 0
  let seconds = 0
  let runs = 0
  for (let at = 0; at < commits.length; at += every) {
    const changes = commits.slice(at, at + every).flat()
    for (const change of changes) apply(change)
    const touched = new Set(changes.flatMap(({ from, path }) => from === undefined ? [path] : [path, from]))
    for (const path of touched) everTouched.add(path)
    const { outcomes, report } = yield* run
    runs += 1
    seconds += report.seconds
    embeddedChunks += report.embedded ?? 0
    written += report.chunks ?? 0
    for (const { embedded = 0, outcome, path } of outcomes) {
      const acted = embedded > 0 || outcome === "added" || outcome === "changed" || outcome === "moved" || outcome === "failed"
      if (acted && !touched.has(path)) wrong.push(`commit ${at}: ${path} was ${outcome}, and nobody had touched it`)
    }
  }
  // Files without commits (the history is a part of the whole) come last, as one more commit.
  const rest = new Set([...filesIn(after), ...filesIn(docs)].filter((path) => textAt(join(docs, path)) !== textAt(join(after, path))))
  for (const path of rest) {
    if (!existsSync(join(after, path))) rmSync(join(docs, path))
    else {
      mkdirSync(dirname(join(docs, path)), { recursive: true })
      cpSync(join(after, path), join(docs, path))
    }
  }
  const last = yield* run
  const again = yield* run
  const unchanged = filesIn(after).filter((path) => !everTouched.has(path) && !rest.has(path)).length
  if (again.report.embedded !== 0 || again.report.chunks !== 0) wrong.push("a run after the last change wrote something")
  yield* say(
    `${commits.length} commits in ${runs} runs: ${embeddedChunks} chunks embedded of ${written} written, ${
      (seconds / runs).toFixed(3)
    } s a run`
  )
  yield* say(`${rest.size} files outside the history: ${last.report.embedded} chunks embedded`)
  yield* say(`${unchanged} files were never touched; files acted on without having been touched: ${wrong.length}`)
  for (const line of wrong.slice(0, 20)) yield* say(line)
  return wrong.length === 0
}).pipe(Effect.provide(Embedded.layer({ dataDir: join(workspace, "data") })))

try {
  // Times and permissions of the tree are not copied: it may be read-only.
  for (const path of filesIn(before)) {
    mkdirSync(dirname(join(docs, path)), { recursive: true })
    writeFileSync(join(docs, path), readFileSync(join(before, path)))
  }
  if (!await Effect.runPromise(replay)) process.exitCode = 1
} finally {
  rmSync(workspace, { recursive: true, force: true })
}
