import { assert, describe, it } from "@effect/vitest"
import { spawn, spawnSync } from "node:child_process"
import { Effect, Layer } from "effect"
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { VectorSpace } from "../../src/ports/VectorStore.ts"
import * as LanceDb from "../../src/vectors/lancedb/LanceDb.ts"
import { Opening, suite } from "../conformance/VectorStore.ts"
import { bin } from "../support/Built.ts"
import { events } from "../support/Finished.ts"
import { sluice } from "../support/Sluice.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import type * as LanceClient from "./support/LanceClient.d.ts"
import { lanceDbFolder } from "./support/LanceDb.ts"

const open = (uri: string, space: VectorSpace, more: Partial<LanceDb.LanceDbOptions> = {}) =>
  LanceDb.make({ uri, space, from: lanceDbFolder, retry: { times: 2, baseMs: 1 }, ...more })

const opening = (more: Partial<LanceDb.LanceDbOptions> = {}) =>
  Layer.effect(Opening, Effect.map(tempFolder, (folder) => ({ open: (space) => open(join(folder, "lance"), space, more) })))

const space = { corpus: "4611686018427387904", dimensions: 8 }

/** A vector of its own for each number. */
const vectorOf = (seed: number, dimensions = space.dimensions): Float32Array => {
  const vector = Float32Array.from({ length: dimensions }, (_, i) => Math.sin(seed * 12.9898 + i * 78.233))
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

const fileOf = (file: string, chunks: number, seed = 0, dimensions = space.dimensions) => ({
  file,
  sourceUri: `file:///${file}`,
  displayName: file,
  metadata: { lang: "de" },
  permissions: { public: true, principals: [] },
  chunks: Array.from({ length: chunks }, (_, ordinal) => ({
    ordinal,
    text: `text ${ordinal}`,
    vector: vectorOf(seed + ordinal, dimensions),
    terms: ["text", `w${ordinal}`],
    headings: ["H"],
    byteStart: 0,
    byteEnd: 6,
    ...(ordinal === 0 ? { firstPage: 1, lastPage: 2 } : {})
  }))
})

if (lanceDbFolder !== undefined) {
  suite("LanceDB", opening())
  // Few chunks are compared one by one otherwise.
  suite("LanceDB, with an index of vectors from the first", opening({ indexFrom: 256 }))
}

describe.skipIf(lanceDbFolder === undefined)("LanceDB", () => {
  it.live("is read by its own client", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const store = yield* open(folder, space)
      yield* store.prepare
      yield* store.put([fileOf("f1", 2)])
      const client: typeof LanceClient = createRequire(join(lanceDbFolder ?? "", "package.json"))(
        "@lancedb/lancedb"
      )
      const db = yield* Effect.promise(() => client.connect(folder))
      const table = yield* Effect.promise(() => db.openTable(`corpus_${space.corpus}`))
      const rows = yield* Effect.promise(() => table.query().where("ordinal = 0").limit(5).toArray())
      const { embedding, headings, id, ...row } = rows[0]!.toJSON()
      assert.deepStrictEqual(row, {
        file_id: "f1",
        ordinal: 0,
        text: "text 0",
        byte_start: 0,
        byte_end: 6,
        first_page: 1,
        last_page: 2,
        source_uri: "file:///f1",
        display_name: "f1",
        metadata: "{\"lang\":\"de\"}",
        permissions: "{\"public\":true,\"principals\":[]}",
        terms: "text w0",
        record: null
      })
      assert.deepStrictEqual([...headings], ["H"])
      assert.deepStrictEqual(Float32Array.from(embedding), vectorOf(0))
      assert.lengthOf(id, 36)
    }).pipe(Effect.scoped))

  it.live("finds by its index what comparing one by one finds, and what came after the index was made", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const wide = { ...space, dimensions: 64 }
      const wideOf = (seed: number) => vectorOf(seed, 64)
      // Closing puts the table in order, and makes the index.
      yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* open(folder, wide, { indexFrom: 500 })
        yield* store.prepare
        yield* store.put([fileOf("old", 2_000, 0, 64)])
      }))
      const plain = yield* open(folder, wide)
      yield* plain.put([fileOf("new", 100, 5_000, 64)])
      for (const seed of [3, 1_234, 5_042]) {
        const { dense } = yield* plain.search({ vector: wideOf(seed), count: 20 })
        const cosine = (other: number) => wideOf(seed).reduce((sum, value, i) => sum + value * wideOf(other)[i]!, 0)
        const exact = [
          ...Array.from({ length: 2_000 }, (_, ordinal) => ({ file: "old", ordinal, score: cosine(ordinal) })),
          ...Array.from({ length: 100 }, (_, ordinal) => ({ file: "new", ordinal, score: cosine(5_000 + ordinal) }))
        ].sort((a, b) => b.score - a.score).slice(0, 20)
        const key = ({ file, ordinal }: { readonly file: string; readonly ordinal: number }) => `${file} ${ordinal}`
        assert.strictEqual(key(dense[0]!), key(exact[0]!))
        const found = new Set(dense.map(key))
        assert.isAtLeast(exact.filter((hit) => found.has(key(hit))).length, 18)
      }
    }).pipe(Effect.scoped))

  it.live("is written and read by several at the same time", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const stores = yield* Effect.forEach([0, 1, 2], () => open(folder, space))
      // Who comes second finds what the first one made.
      yield* Effect.forEach(stores, ({ prepare }) => prepare, { concurrency: 3 })
      yield* Effect.forEach(stores, ({ put }, writer) =>
        Effect.forEach(Array.from({ length: 10 }, (_, i) => i), (i) => put([fileOf(`f${writer}-${i}`, 2)])), { concurrency: 3 })
      for (const store of stores) {
        assert.strictEqual((yield* store.check).chunks, 60)
      }
      yield* Effect.forEach(stores, (store, writer) =>
        store.delete([`f${writer}-0`, `f${writer}-1`]), { concurrency: 3 })
      for (const store of stores) {
        assert.strictEqual((yield* store.check).chunks, 48)
      }
      yield* stores[0]!.drop
      assert.deepStrictEqual(yield* stores[1]!.search({ vector: vectorOf(1), count: 5 }), { dense: [], sparse: [] })
    }).pipe(Effect.scoped))

  it.live("refuses what is no folder of its own, and somebody else's table, before anything is written", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      write(folder, { "a file": "x" })
      const noFolder = yield* open(join(folder, "a file", "lance"), space)
      for (const refused of [yield* Effect.flip(noFolder.prepare), yield* Effect.flip(noFolder.check)]) {
        assert.strictEqual(refused.code, "FAILED_PRECONDITION")
        assert.include(refused.message, "corpus.vectorDb.lanceDb.uri: ")
        assert.include(refused.message, "is not a folder")
      }
      const client: typeof LanceClient = createRequire(join(lanceDbFolder ?? "", "package.json"))(
        "@lancedb/lancedb"
      )
      const db = yield* Effect.promise(() => client.connect(folder))
      yield* Effect.promise(() => db.createTable(`corpus_${space.corpus}`, [{ id: 1, vector: [1, 2] }]))
      const refused = yield* Effect.flip((yield* open(folder, space)).prepare)
      assert.include(refused.message, "somebody else's")
    }).pipe(Effect.scoped))

  it.live("says that object storage cannot be reached", () =>
    Effect.gen(function*() {
      const before = process.env["AWS_ENDPOINT"]
      Object.assign(process.env, {
        AWS_ENDPOINT: "http://127.0.0.1:9",
        AWS_ALLOW_HTTP: "true",
        AWS_ACCESS_KEY_ID: "key",
        AWS_SECRET_ACCESS_KEY: "the-secret",
        AWS_REGION: "us-east-1",
        OBJECT_STORE_CLIENT_MAX_RETRIES: "0"
      })
      const store = yield* open("s3://bucket/prefix", space, { retry: { times: 0 } })
      const refused = yield* Effect.flip(store.check)
      if (before === undefined) delete process.env["AWS_ENDPOINT"]
      assert.strictEqual(refused.code, "UNAVAILABLE")
      assert.include(refused.message, "s3://bucket/prefix")
      assert.notInclude(JSON.stringify(refused), "the-secret")
    }).pipe(Effect.scoped))

  it.live(
    "holds the corpus of a pipeline: run, edited, asked, planned, and its folder beside the pipeline file",
    () =>
      Effect.gen(function*() {
        const cwd = yield* tempFolder
        symlinkSync(join(lanceDbFolder ?? "", "node_modules"), join(cwd, "node_modules"))
        mkdirSync(join(cwd, "here"))
        const pipeline = (vectorDb: string) =>
          `name: lance\ncorpus: { displayName: Lance, vectorDb: ${vectorDb} }\nsources: { docs: { local: { path: ./docs } } }\nstages: [{ retrieve: { topK: 2, hybrid: { alpha: 0.5 } } }]\n`
        write(cwd, { "here/pipeline.yaml": pipeline("{ lanceDb: { uri: ./lance } }"), "here/managed.yaml": pipeline("managed") })
        write(join(cwd, "here", "docs"), {
          "leave.md": "# Leave\n\nUnused days of annual leave carry over until March.\n",
          "travel.md": "# Travel\n\nHotels in Osaka are paid up to 120 euros a night.\n"
        })
        const runs = (...args: ReadonlyArray<string>) =>
          Effect.promise(() => sluice(["run", "--data-dir", "data", "--json", ...args], { cwd }))
        const first = yield* runs("here/managed.yaml")
        assert.strictEqual(first.code, 0, first.stderr)
        const refused = yield* runs("here/pipeline.yaml")
        assert.include(refused.stdout + refused.stderr, "corpus.vectorDb")
        const moved = yield* runs("here/pipeline.yaml", "--replace")
        assert.strictEqual(moved.code, 0, moved.stderr)
        assert.deepInclude(events(moved).at(-1)?.["report"], { embedded: 0 })
        assert.isTrue(existsSync(join(cwd, "here", "lance")))
        writeFileSync(join(cwd, "here", "docs", "leave.md"), "# Leave\n\nUnused days of annual leave are paid out in December.\n")
        const edited = yield* runs("here/pipeline.yaml")
        assert.strictEqual(edited.code, 0, edited.stderr)
        const found = yield* Effect.promise(() =>
          sluice([
            "retrieve",
            "--pipeline",
            "here/pipeline.yaml",
            "--data-dir",
            "data",
            "--json",
            "What happens to unused days of annual leave?"
          ], { cwd })
        )
        assert.include(found.stdout, "December")
        assert.notInclude(found.stdout, "March")
        const doctor = yield* Effect.promise(() => sluice(["doctor", "here/pipeline.yaml", "--data-dir", "data"], { cwd }))
        assert.match(
          doctor.stdout.replace(/\s+/g, " "),
          /table corpus_\d+ of LanceDB in .*lance has 2 chunks of 2048 dimensions \(LanceDB 0\.\d+/
        )
      }).pipe(Effect.scoped)
  )
})

/** Whether file systems can be mounted that only some processes see. */
const mounts = spawnSync("unshare", ["--user", "--map-root-user", "--mount", "true"]).status === 0

/** A shell with a small file system of its own in `lance`; `sluice` is the command line. */
const inSmallDisk = (cwd: string, size: string, script: string) =>
  Effect.promise(() => {
    const own =
      `set -e; mount -t tmpfs -o size=${size} tmpfs lance; sluice() { ${process.execPath} ${bin} "$@" --data-dir data; }; ${script}`
    return new Promise<{ readonly code: number | null; readonly said: string }>((resolve, reject) => {
      const child = spawn("unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", own], {
        cwd,
        env: { ...process.env, NO_COLOR: "1" },
        stdio: ["ignore", "pipe", "pipe"]
      })
      let said = ""
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => void (said += text))
      child.on("error", reject)
      child.on("close", (code) => resolve({ code, said: said.replace(/\s+/g, " ") }))
    })
  })

describe.skipIf(lanceDbFolder === undefined || !mounts)("LanceDB on a disk", () => {
  const scene = Effect.fnUntraced(function*(chunks: number) {
    const cwd = yield* tempFolder
    symlinkSync(join(lanceDbFolder ?? "", "node_modules"), join(cwd, "node_modules"))
    mkdirSync(join(cwd, "lance"))
    const paragraph = (file: number, i: number) =>
      `What the engineer of house ${file} does about valve ${i} is written in book ${file * i}.`
    write(cwd, {
      "pipeline.yaml":
        "name: lance\ncorpus: { displayName: Lance, vectorDb: { lanceDb: { uri: ./lance } } }\nsources: { docs: { local: { path: ./docs } } }\nchunking: { strategy: structure, size: 20, overlap: 0 }\n"
    })
    write(
      join(cwd, "docs"),
      Object.fromEntries(Array.from({ length: 10 }, (_, file) => [
        `f${file}.md`,
        `# File ${file}\n\n${Array.from({ length: chunks / 10 }, (_, i) => paragraph(file, i)).join("\n\n")}\n`
      ]))
    )
    return cwd
  })

  it.live(
    "that fills up says so at its place, and the next run does what is left once there is room",
    () =>
      Effect.gen(function*() {
        const cwd = yield* scene(1_000)
        // Something else takes the room once the table is begun; 16 MB have to be free before.
        const { code, said } = yield* inSmallDisk(
          cwd,
          "17m",
          `(until ls lance | grep -q corpus_; do sleep 0.02; done; head -c 15800k /dev/zero > lance/ballast) &
          if sluice run pipeline.yaml; then echo RAN; else echo "FAILED $?"; fi
          wait; rm lance/ballast; mount -o remount,size=100m lance
          sluice run pipeline.yaml
          sluice doctor pipeline.yaml`
        )
        assert.strictEqual(code, 0, said)
        assert.include(said, "FAILED 1", said)
        assert.match(
          said,
          /error: pipeline\.yaml:2:59 corpus\.vectorDb\.lanceDb\.uri: .*No space left on device.*fix: the database is full: make room/
        )
        assert.match(said, /LanceDB in \S+ has 1010 chunks/)
        const db = new DatabaseSync(join(cwd, "data", "sluice.db"), { readOnly: true, timeout: 60_000 })
        yield* Effect.addFinalizer(() => Effect.sync(() => db.close()))
        assert.strictEqual(db.prepare("SELECT count(*) AS n FROM vector_work").get()?.["n"], 0)
        assert.strictEqual(db.prepare("SELECT sum(chunks) AS n FROM files").get()?.["n"], 1_010)
      }).pipe(Effect.scoped)
  )

  it.live(
    "that is full or read-only is refused before anything is written, and a read-only one still answers",
    () =>
      Effect.gen(function*() {
        const cwd = yield* scene(10)
        const full = yield* inSmallDisk(cwd, "8m", "sluice run pipeline.yaml")
        assert.strictEqual(full.code, 1)
        assert.match(full.said, /pipeline\.yaml:2:59 corpus\.vectorDb\.lanceDb\.uri: the disk of \S+ is full: .* fix: make room/)
        const readOnly = yield* inSmallDisk(
          cwd,
          "100m",
          `sluice run pipeline.yaml > first; mount -o remount,ro lance; echo "# New" > docs/new.md
          sluice retrieve --pipeline pipeline.yaml "What is written in book 4?" | head -3
          sluice run pipeline.yaml`
        )
        assert.strictEqual(readOnly.code, 1)
        assert.match(readOnly.said, / 1\. f\d\.md score/)
        assert.match(readOnly.said, /pipeline\.yaml:2:59 corpus\.vectorDb\.lanceDb\.uri: \S+ is read-only for this user fix: name a folder/)
      }).pipe(Effect.scoped)
  )
})

describe("LanceDB that is not installed", () => {
  it.live("is one clear error that says how to install it", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      write(folder, {
        "pipeline.yaml":
          "name: lance\ncorpus: { displayName: Lance, vectorDb: { lanceDb: { uri: lance } } }\nsources: { docs: { local: { path: ./docs } } }\n",
        "docs/a.md": "# A\n\nWords.\n",
        "docs/b.md": "# B\n\nWords.\n"
      })
      const { code, stderr } = yield* Effect.promise(() => sluice(["run", "pipeline.yaml", "--data-dir", "data"], { cwd: folder }))
      assert.strictEqual(code, 1)
      assert.include(stderr, "corpus.vectorDb.lanceDb: LanceDB is a separate package, and is not installed")
      assert.include(stderr, "npm install @lancedb/lancedb")
      assert.strictEqual(stderr.split("is not installed").length, 2, stderr)
      assert.isFalse(existsSync(join(folder, "lance")))
    }).pipe(Effect.scoped))
})
