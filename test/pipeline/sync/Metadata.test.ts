import { assert, describe, it as test, layer } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { mkdirSync, renameSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Report } from "../../../src/domain/Report.ts"
import { definePipeline, type PipelineInput } from "../../../src/pipeline/definition/DefinePipeline.ts"
import { corpusOf, diffPipeline, planPipeline, runPipeline } from "../../../src/pipeline/RunPipeline.ts"
import type { PlanItem } from "../../../src/pipeline/sync/Plan.ts"
import { Engine } from "../../../src/ports/Engine.ts"
import { Files } from "../../../src/ports/Files.ts"
import { pages } from "../../../src/ports/Paging.ts"
import { Retrieval } from "../../../src/ports/Retrieval.ts"
import { Rig, rigOf, rigs } from "../../support/Rigs.ts"
import { tempFolder, write } from "../../support/TempFolder.ts"

type Rules = PipelineInput["metadata"]

const rules: NonNullable<Rules> = {
  team: { path: "teams/{team}/**" },
  year: { property: "year", type: "integer" },
  status: { property: ["status", "dc.status"], values: ["draft", "final"], required: true },
  tags: { property: "tags", type: "list" }
}

const oncall = "---\nyear: 2025\nstatus: final\ntags: [pager, night]\n---\n# On call\n\nThe pager goes to the engineer on duty.\n"
const leave = "+++\nyear = \"soon\"\nstatus = \"wip\"\n+++\n# Leave\n\nEveryone has thirty days of leave.\n"
const top = "<html><head><meta name=\"DC.Status\" content=\"draft\"></head><body><p>A page at the top.</p></body></html>"

/** A folder of three documents and a pipeline over it. */
const setUp = Effect.fnUntraced(function*(displayName: string) {
  const { embedded, on, settings } = yield* Rig
  const docs = join(yield* tempFolder, "docs")
  write(docs, { "teams/ops/oncall.md": oncall, "teams/hr/leave.md": leave, "top.html": top })
  const named = (metadata: Rules) =>
    definePipeline({
      name: displayName,
      engine: settings,
      corpus: { displayName },
      sources: { docs: { local: { path: docs } } },
      ...(metadata === undefined ? {} : { metadata })
    })
  const run = (metadata: Rules) => on(runPipeline(named(metadata)))
  const plan = Effect.fnUntraced(function*(metadata: Rules) {
    const items: Array<PlanItem> = []
    const planned = yield* on(planPipeline(named(metadata), { observe: (item) => Effect.sync(() => void items.push(item)) }))
    return { ...planned, items }
  })
  const corpus = on(Effect.map(corpusOf(named(undefined)), ({ name }) => name))
  const files = on(Effect.gen(function*() {
    const files = yield* Files
    const name = yield* corpus
    return yield* Stream.runCollect(pages((page) => files.list(name, page)))
  }))
  /** What each file carries, by its path. */
  const metadata = Effect.map(
    files,
    (all) => Object.fromEntries(all.map(({ displayName, userMetadata = {} }) => [displayName, { ...userMetadata }]).toSorted())
  )
  const found = (metadataFilter: string) =>
    on(Effect.gen(function*() {
      const contexts = yield* (yield* Retrieval).retrieve({ corpus: yield* corpus, query: "pager leave page", filter: { metadataFilter } })
      return [...new Set(contexts.map(({ sourceDisplayName }) => sourceDisplayName))].toSorted()
    }))
  return { corpus, diff: on(diffPipeline(named(rules))), docs, embedded, files, found, metadata, on, plan, run }
})

const unfitOf = (report: Report) => report.notable.flatMap(({ path, unfit }) => unfit === undefined ? [] : [`${path}: ${unfit}`])

for (const [engine, rig] of rigs) {
  layer(rig, { excludeTestServices: true })(`metadata rules on the ${engine} engine`, (it) => {
    it.effect("make typed metadata of paths, front matter and HTML, and tell what breaks them", () =>
      Effect.gen(function*() {
        const { diff, found, metadata, plan, run } = yield* setUp("Made")
        const planned = yield* plan(rules)
        assert.deepStrictEqual(planned.items.flatMap((item) => item.type === "file" && item.unfit !== undefined ? [item.path] : []), [
          "teams/hr/leave.md"
        ])
        const report = yield* run(rules)
        assert.deepStrictEqual(unfitOf(report), [
          "teams/hr/leave.md: year: \"soon\" is not an integer; status: \"wip\" is none of draft, final"
        ])
        assert.deepStrictEqual(report.reasons?.map(({ count, outcome }) => [outcome, count]), [["unfit", 1]])
        assert.deepStrictEqual(yield* metadata, {
          "teams/hr/leave.md": { team: "hr" },
          "teams/ops/oncall.md": { team: "ops", year: 2025, status: "final", tags: ["pager", "night"] },
          "top.html": { status: "draft" }
        })
        assert.deepStrictEqual(yield* found("team == \"ops\" && year >= 2025"), ["teams/ops/oncall.md"])
        assert.deepStrictEqual(yield* found("!has(team)"), ["top.html"])
        assert.deepStrictEqual(yield* found("\"pager\" in tags"), ["teams/ops/oncall.md"])
        assert.strictEqual((yield* run(rules)).totals.unchanged, 3)
        assert.deepStrictEqual((yield* diff).differences, { missing: 0, differs: 0, stray: 0, foreign: 0, open: 0 })
      }).pipe(Effect.scoped))

    it.effect("change without anything being stored or embedded again, and leave what people wrote", () =>
      Effect.gen(function*() {
        const { corpus, diff, embedded, files, metadata, on, plan, run } = yield* setUp("Changed")
        yield* run(undefined)
        const added = yield* plan(rules)
        assert.deepStrictEqual(added.corpus.changes.map(({ field, to }) => [field, to]), [
          ["metadata.team", "string"],
          ["metadata.year", "integer"],
          ["metadata.status", "string"],
          ["metadata.tags", "list of string"]
        ])
        assert.deepStrictEqual(
          added.items.map((item) => item.type === "file" ? [item.outcome, item.message] : []),
          Array.from({ length: 3 }, () => ["changed", "metadata rules have changed"])
        )
        assert.deepStrictEqual([added.embeddings, added.chunks], [0, 0])
        const before = [embedded(), (yield* files).map(({ name }) => name)]
        const report = yield* run(rules)
        assert.deepStrictEqual([report.totals.changed, unfitOf(report).length], [3, 1])

        const [file] = (yield* files).filter(({ displayName }) => displayName === "top.html")
        yield* on(Effect.gen(function*() {
          const { metadata } = yield* Engine
          yield* metadata?.store.createSchemas(yield* corpus, [{ key: "note", type: "string" }]) ?? assert.fail()
          yield* metadata?.store.create(file?.name ?? assert.fail(), [{ key: "note", value: { _tag: "string", value: "by hand" } }]) ??
            assert.fail()
        }))

        const { tags: _, year: __, ...fewer } = rules
        const others: Rules = { ...fewer, year: { property: "year" }, topics: { property: "tags", type: "list" } }
        assert.deepStrictEqual((yield* plan(others)).corpus.changes.map(({ field, from, to }) => [field, from, to]), [
          ["metadata.year", "integer", "string"],
          ["metadata.topics", "", "list of string"]
        ])
        yield* run(others)
        assert.deepStrictEqual(yield* metadata, {
          "teams/hr/leave.md": { team: "hr", year: "soon" },
          "teams/ops/oncall.md": { team: "ops", year: "2025", status: "final", topics: ["pager", "night"] },
          "top.html": { status: "draft", note: "by hand" }
        })
        assert.strictEqual((yield* run(others)).totals.unchanged, 3)
        assert.strictEqual((yield* diff).same, 3)
        yield* run(undefined)
        assert.deepStrictEqual(yield* metadata, { "teams/hr/leave.md": {}, "teams/ops/oncall.md": {}, "top.html": { note: "by hand" } })
        assert.deepStrictEqual([embedded(), (yield* files).map(({ name }) => name)], before)
      }).pipe(Effect.scoped))

    it.effect("follow a file that moves or changes, with what people wrote of it", () =>
      Effect.gen(function*() {
        const { corpus, docs, embedded, files, metadata, on, run } = yield* setUp("Moved")
        yield* run(rules)
        const [file] = (yield* files).filter(({ displayName }) => displayName === "teams/ops/oncall.md")
        yield* on(Effect.gen(function*() {
          const { metadata } = yield* Engine
          yield* metadata?.store.createSchemas(yield* corpus, [{ key: "note", type: "string" }]) ?? assert.fail()
          yield* metadata?.store.create(file?.name ?? assert.fail(), [{ key: "note", value: { _tag: "string", value: "by hand" } }]) ??
            assert.fail()
        }))
        const before = embedded()
        const to = join(docs, "teams/sre/oncall.md")
        mkdirSync(dirname(to), { recursive: true })
        renameSync(join(docs, "teams/ops/oncall.md"), to)
        yield* run(rules)
        const after = { team: "sre", year: 2025, status: "final", tags: ["pager", "night"], note: "by hand" }
        assert.deepStrictEqual((yield* metadata)["teams/sre/oncall.md"], after)
        assert.strictEqual(embedded(), before)
        write(docs, { "teams/sre/oncall.md": oncall.replace("2025", "2026").replace("final", "wip") })
        const report = yield* run(rules)
        assert.deepStrictEqual([report.totals.changed, unfitOf(report).length], [1, 1])
        assert.deepStrictEqual((yield* metadata)["teams/sre/oncall.md"], {
          team: "sre",
          year: 2026,
          tags: ["pager", "night"],
          note: "by hand"
        })
      }).pipe(Effect.scoped))

    it.effect("fail what breaks a strict one, until it or the rule is mended", () =>
      Effect.gen(function*() {
        const { docs, metadata, plan, run } = yield* setUp("Strict")
        const strict: Rules = { ...rules, status: { ...rules["status"], strict: true } }
        assert.deepStrictEqual((yield* plan(strict)).totals.failed, 1)
        const report = yield* run(strict)
        assert.deepStrictEqual([report.totals.added, report.totals.failed], [2, 1])
        assert.deepStrictEqual(report.notable.map(({ outcome, reason }) => [outcome, reason]), [["failed", "metadata"]])
        assert.include(report.notable[0]?.message, "status: \"wip\" is none of draft, final")
        assert.strictEqual((yield* run(strict)).totals.quarantined, 1)
        const loose: Rules = { ...strict, status: { ...rules["status"], values: ["draft", "final", "wip"], strict: true } }
        assert.strictEqual((yield* run(loose)).totals.failed, 0)
        assert.strictEqual((yield* metadata)["teams/hr/leave.md"]?.["status"], "wip")
        // The old version stays with what was said of it.
        rmSync(join(docs, "top.html"))
        assert.strictEqual((yield* run(strict)).totals.failed, 1)
        assert.strictEqual((yield* metadata)["teams/hr/leave.md"]?.["status"], "wip")
      }).pipe(Effect.scoped))

    it.effect("are refused where the corpus has their key with another type", () =>
      Effect.gen(function*() {
        const { corpus, on, plan, run } = yield* setUp("Taken")
        yield* run(undefined)
        yield* on(Effect.gen(function*() {
          const { metadata } = yield* Engine
          yield* metadata?.store.createSchemas(yield* corpus, [{ key: "year", type: "string" }]) ?? assert.fail()
        }))
        for (const refused of [Effect.asVoid(plan(rules)), Effect.asVoid(run(rules))]) {
          assert.include((yield* Effect.flip(refused)).message, "metadata.year: the corpus has this key as string")
        }
      }).pipe(Effect.scoped))
  })
}

describe("metadata of a hosted file", () => {
  test.live("is written by the next run, where the one that stored the file could not", () =>
    Effect.gen(function*() {
      const { metadata, run } = yield* setUp("CutOff")
      const report = yield* run({ team: { path: "teams/{team}/**" } })
      assert.deepStrictEqual([report.totals.added, report.totals.failed], [2, 1])
      const again = yield* run({ team: { path: "teams/{team}/**" } })
      assert.deepStrictEqual([again.totals.changed, again.totals.added], [1, 0])
      assert.deepStrictEqual(yield* metadata, {
        "teams/hr/leave.md": { team: "hr" },
        "teams/ops/oncall.md": { team: "ops" },
        "top.html": {}
      })
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.fresh(rigOf("hosted", "faults: [{ method: batchCreateRagMetadata, at: 1, error: INVALID_ARGUMENT }]")))
    ))
})
