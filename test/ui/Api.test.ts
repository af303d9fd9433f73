import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { startServer } from "../server/support/TestServer.ts"
import { measureTitles } from "../../src/pipeline/eval/Measures.ts"
import { fakeOpenAi, sendChat } from "../fakes/Openai.ts"
import { dist } from "../support/Built.ts"
import { command } from "../support/Command.ts"
import { write } from "../support/TempFolder.ts"
import { comparedProject, inspectedProject, inspector } from "./Support.ts"

describe("sluice ui", () => {
  it.live("tells of runs, files, documents, searches and answers, to who has the token", () =>
    Effect.gen(function*() {
      const cwd = yield* inspectedProject
      const { ask, base, id, token } = yield* inspector(cwd)
      yield* Effect.promise(async () => {
        const bare = await fetch(`${base}/ui/api/corpora`)
        assert.strictEqual(bare.status, 401)
        const foreign = await fetch(`${base}/ui/api/corpora`, {
          headers: { authorization: `Bearer ${token}`, origin: "https://evil.example" }
        })
        assert.strictEqual(foreign.status, 403)

        const { body: corpus } = await ask(`/corpora/${id}`)
        assert.deepInclude(corpus, { title: "Test", pipeline: "test", accounted: true, states: { done: 5, quarantined: 1, skipped: 1 } })
        assert.strictEqual(corpus.runs[0].ended, "done")
        assert.strictEqual(corpus.runs[0].totals.added, 5)

        const { body: failed } = await ask(`/corpora/${id}/files?state=quarantined`)
        assert.deepInclude(failed.files[0], { path: "broken.pdf", state: "quarantined", reason: "corrupt", source: "docs" })
        const { body: found } = await ask(`/corpora/${id}/files?path=RULE`)
        assert.deepStrictEqual(found.files.map((file: { path: string }) => file.path), ["rules.md"])
        const { body: after } = await ask(`/corpora/${id}/files?after=${encodeURIComponent(JSON.stringify(["docs", "leave.md"]))}`)
        assert.deepStrictEqual(after.files.map((file: { path: string }) => file.path), ["noise.bin", "rules.md", "travel/hotels.md"])
        assert.strictEqual((await ask(`/corpora/${id}/files?after=nowhere`)).status, 400)
        assert.strictEqual((await ask(`/corpora/${id}/files?state=lost`)).status, 400)
        assert.strictEqual((await ask(`/corpora/${id}/files?state=intent`)).status, 400)
        assert.deepStrictEqual((await ask(`/corpora/${id}/files?state=pending`)).body.files, [])

        const document = found.files[0].id
        const { body: whole } = await ask(`/corpora/${id}/documents/${document}`)
        assert.isAbove(whole.document.chunks, 40)
        assert.strictEqual(whole.chunks.length, 41)
        assert.isAbove(whole.chunks[1].shared, 0, "chunks overlap")
        const { body: rest } = await ask(`/corpora/${id}/documents/${document}?chunk=${whole.next}`)
        assert.strictEqual(rest.chunks[0].ordinal, whole.next)
        assert.isAbove(rest.chunks[0].shared, 0, "what the last chunk of the page before has is known")

        const { body: search } = await ask(`/corpora/${id}/search?q=${encodeURIComponent("hotle limits in Osaka")}`)
        const [hit] = search.hits
        assert.strictEqual(hit.path, "travel/hotels.md")
        assert.includeMembers(hit.marks.map(([from, to]: [number, number]) => hit.text.slice(from, to)), ["hotel", "limit", "Osaka"])
        assert.isTrue(
          hit.explanation.terms.some((term: { corrected?: boolean; from?: string }) => term.corrected === true && term.from === "hotle")
        )
        assert.deepStrictEqual(search.removed, [])
        const { body: narrow } = await ask(
          `/corpora/${id}/search?q=${encodeURIComponent("hotel limit in Osaka")}&where=${encodeURIComponent("title == \"Leave\"")}`
        )
        assert.deepInclude(narrow.removed.find((each: { path: string }) => each.path === "travel/hotels.md"), { by: "where", place: 1 })
        assert.strictEqual((await ask(`/corpora/${id}/search?q=a&where=title%20%3D%3D`)).status, 400)
        assert.match((await ask(`/corpora/${id}/search`)).body.message, /q/)

        assert.match((await ask(`/corpora/${id}/why?q=kettle&path=noise.bin`)).body.why, /skipped: unsupported/)
        assert.match((await ask(`/corpora/${id}/why?q=kettle&path=no.md`)).body.why, /no source has a file/)

        const { body: answer } = await ask(
          `/corpora/${id}/answer?q=${encodeURIComponent("How many unused days of annual leave carry over?")}`
        )
        assert.strictEqual(answer.outcome, "answered")
        const [cited] = answer.citations
        assert.strictEqual(cited.passage.text.slice(...cited.passage.span), cited.quote)
        const { body: shown } = await ask(`/corpora/${id}/documents/${cited.document}?from=${cited.byteStart}&to=${cited.byteEnd}`)
        const lit = shown.chunks.find((chunk: { shown?: unknown }) => chunk.shown !== undefined)
        assert.strictEqual(lit.text.slice(...lit.shown), cited.quote)

        const [version] = shown.versions
        assert.deepInclude(version, { generation: 1, role: "live", state: "done", corpus: id, document: cited.document })
        assert.match(version.content, /^[0-9a-f]{8,}$/)

        const { body: map } = await ask(`/corpora/${id}/map`)
        assert.deepInclude(map, { of: 5, without: 0 })
        assert.deepStrictEqual(
          map.points.map(({ path }: { path: string }) => path).toSorted(),
          ["batteries.txt", "hostile.md", "leave.md", "rules.md", "travel/hotels.md"]
        )
        assert.deepStrictEqual(map.groups, [{ name: "no folder", points: 4 }, { name: "travel", points: 1 }])
        assert.strictEqual(map.points.find(({ path }: { path: string }) => path === "travel/hotels.md").group, 1)
        assert.isTrue(map.points.every(({ x, y }: { x: number; y: number }) => x >= 0 && x <= 1 && y >= 0 && y <= 1))
        assert.deepStrictEqual((await ask(`/corpora/${id}/map`)).body, map)

        const { body: facets } = await ask(`/corpora/${id}/facets?keys=${encodeURIComponent("title, none")}`)
        assert.deepStrictEqual(facets.map(({ key }: { key: string }) => key), ["title", "none"])
        assert.deepInclude(facets[0].values.find(({ value }: { value: string }) => value === "Leave"), { files: 1 })
        assert.deepInclude(facets[1], { values: [], without: 5 })
        const { body: [narrowed] } = await ask(`/corpora/${id}/facets?keys=title&where=${encodeURIComponent("title == \"Leave\"")}`)
        assert.deepInclude(narrowed, { values: [{ value: "Leave", files: 1 }], without: 0 })
        assert.strictEqual((await ask(`/corpora/${id}/facets?where=title%20%3D%3D`)).status, 400)

        assert.strictEqual((await ask("/corpora/0")).status, 404)
        const { body: gone, status } = await ask(`/corpora/${id}/documents/0`)
        assert.deepStrictEqual([status, gone.message], [404, "document 0 was not found"])
      })
    }).pipe(Effect.scoped))

  it.live("shows no more than its operator lets be seen", () =>
    Effect.gen(function*() {
      const cwd = yield* inspectedProject
      const { ask, id } = yield* inspector(cwd, ["--where", "title == \"Leave\"", "--as", "user:ann@x.com"])
      yield* Effect.promise(async () => {
        const { body: corpus } = await ask(`/corpora/${id}`)
        assert.deepInclude(corpus, { accounted: false, states: {}, runs: [], principal: "user:ann@x.com", where: "title == \"Leave\"" })
        const { body: { files } } = await ask(`/corpora/${id}/files`)
        assert.deepStrictEqual(files.map((file: { path: string }) => file.path), ["leave.md"])
        assert.strictEqual((await ask(`/corpora/${id}/files?state=failed`)).status, 400)
        const { body: map } = await ask(`/corpora/${id}/map`)
        assert.deepStrictEqual([map.of, map.points.map(({ path }: { path: string }) => path)], [1, ["leave.md"]])
        assert.deepStrictEqual((await ask(`/corpora/${id}/documents/${files[0].id}`)).body.versions, [])
        const { body: [facet] } = await ask(`/corpora/${id}/facets?keys=title`)
        assert.deepStrictEqual(facet.values, [{ value: "Leave", files: 1 }])
        assert.strictEqual((await ask(`/corpora/${id}/facets?as=user:bob@x.com`)).status, 403)
        assert.strictEqual((await ask(`/corpora/${id}/facets?as=user:ann@x.com;group:staff`)).status, 403)
        const { body: { hits } } = await ask(`/corpora/${id}/search?q=${encodeURIComponent("hotel limit in Osaka")}&where=has(title)`)
        assert.deepStrictEqual([...new Set(hits.map((hit: { path: string }) => hit.path))], ["leave.md"])
        assert.strictEqual((await ask(`/corpora/${id}/search?q=a&as=user:bob@x.com`)).status, 403)
        assert.strictEqual((await ask(`/corpora/${id}/answer?q=a&as=user:bob@x.com`)).status, 403)
        assert.strictEqual((await ask(`/corpora/${id}/why?q=a&path=noise.bin`)).status, 400)
      })
    }).pipe(Effect.scoped))

  it.live("of a bundle shows files, documents, searches and the map, from a folder that cannot be written", () =>
    Effect.gen(function*() {
      const cwd = yield* inspectedProject
      yield* Effect.promise(() => command(["export", "test.bundle"], { cwd }))
      const away = join(cwd, "away")
      mkdirSync(away)
      copyFileSync(join(cwd, "test.bundle"), join(away, "test.bundle"))
      chmodSync(away, 0o555)
      const { ask, id } = yield* inspector(away, ["test.bundle"])
      yield* Effect.promise(async () => {
        const { body: corpus } = await ask(`/corpora/${id}`)
        assert.deepInclude(corpus, { title: "Test", accounted: false, runs: [] })
        const { body: { files } } = await ask(`/corpora/${id}/files`)
        assert.include(files.map(({ path }: { path: string }) => path), "rules.md")
        const { body: { hits } } = await ask(`/corpora/${id}/search?q=${encodeURIComponent("hotel limit in Osaka")}`)
        assert.strictEqual(hits[0].path, "travel/hotels.md")
        const { body: { chunks } } = await ask(`/corpora/${id}/documents/${hits[0].document}`)
        assert.include(chunks[0].text, "Osaka")
        const { body: map } = await ask(`/corpora/${id}/map`)
        assert.deepStrictEqual([map.of, map.points.length, map.without], [files.length, files.length, 0])
        const { body: none, status } = await ask(`/corpora/${id}/evaluations`)
        assert.strictEqual(status, 400, JSON.stringify(none))
      })
      assert.deepStrictEqual(readdirSync(away), ["test.bundle"])
    }).pipe(Effect.scoped))

  it.live("tells what a judge said, and where it says otherwise than the exact checks", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* fakeOpenAi((_, response) => sendChat(response, ["WRONG"]))
      const cwd = yield* inspectedProject
      write(cwd, {
        "pipeline.yaml": `${
          readFileSync(join(cwd, "pipeline.yaml"), "utf8")
        }judge: { model: { openai: { url: "${baseUrl}", model: judge-1 } } }
tests:
  - question: How many unused days of annual leave carry over?
    answer: { contains: [five] }
  - question: What is the hotel limit in Osaka?
    answer: { means: There is none. }
`
      })
      yield* Effect.promise(() => command(["eval", "--save"], { cwd }))
      const { ask, id } = yield* inspector(cwd)
      const { body: [saved] } = yield* Effect.promise(() => ask(`/corpora/${id}/evaluations`))
      const { body: result } = yield* Effect.promise(() => ask(`/corpora/${id}/evaluations/${saved.name}`))
      assert.deepStrictEqual(result.judge, { model: "judge-1", right: 0, wrong: 2, without: 0, agreed: 0, of: 1 })
      assert.deepStrictEqual(result.results.map(({ otherwise }: { otherwise?: boolean }) => otherwise), [undefined, false])
    }).pipe(Effect.scoped))

  it.live("tells how tests came out, what drifted and by which edit, and sets two pipelines side by side", () =>
    Effect.gen(function*() {
      const cwd = yield* comparedProject
      const { ask, id } = yield* inspector(cwd, ["pipeline.yaml", "other.yaml"])
      yield* Effect.promise(async () => {
        const { body: corpora } = await ask("/corpora")
        assert.deepStrictEqual(corpora.map(({ pipeline }: { pipeline: string }) => pipeline), ["test", "other"])
        const { body: all } = await ask(`/corpora/${id}/evaluations`)
        assert.deepStrictEqual(all.map(({ failed, passed }: { failed: number; passed: number }) => [passed, failed]), [[0, 2], [1, 1]])
        const { body: last } = await ask(`/corpora/${id}/evaluations/${all[0].name}`)
        assert.strictEqual(last.results.length, 2)
        assert.isTrue(
          last.results[0].checks.some((check: { passed: boolean; found?: string }) => !check.passed && check.found !== undefined)
        )
        const [broken] = last.drift.tests
        const titles = new Set<string>(Object.values(measureTitles))
        assert.strictEqual(broken.change, "broken")
        assert.isNumber(last.measures["right file found"])
        assert.isTrue(last.drift.measures.every(({ measure }: { measure: string }) => titles.has(measure)))
        assert.deepStrictEqual(broken.documents, ["leave.md"])
        const { body: first } = await ask(`/corpora/${id}/evaluations/${all[1].name}`)
        assert.strictEqual(first.drift, undefined)
        assert.strictEqual((await ask(`/corpora/${id}/evaluations/${encodeURIComponent("../test/x")}`)).status, 404)
        assert.deepStrictEqual((await ask(`/corpora/${corpora[1].id}/evaluations`)).body, [])
      })
    }).pipe(Effect.scoped))

  it("is small", () => {
    const bytes = ["page.js", "page.css", "icon.svg"].reduce((sum, name) => sum + statSync(join(dist, "ui", name)).size, 0)
    assert.isBelow(bytes, 100_000)
  })
})

describe("/ui of serve", () => {
  it.live("tells of the ledger of the pipeline that fills a corpus", () =>
    Effect.gen(function*() {
      const cwd = yield* comparedProject
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => startServer({ dataDir: join(cwd, ".sluice") })),
        (server) => Effect.promise(() => server.stop())
      )
      yield* Effect.promise(async () => {
        const ask = async (path: string) => (await server.call("GET", `/ui/api${path}`)).body
        const corpora = await ask("/corpora")
        const { id } = corpora.find(({ title }: { title: string }) => title === "Test")
        assert.strictEqual(corpora.length, 2)
        const corpus = await ask(`/corpora/${id}`)
        assert.deepInclude(corpus, { pipeline: "test", accounted: true, states: { done: 5, quarantined: 1, skipped: 1 } })
        assert.strictEqual(corpus.runs.length, 3)
        assert.strictEqual((await ask(`/corpora/${id}/files?state=skipped`)).files[0].path, "noise.bin")
        assert.match((await ask(`/corpora/${id}/why?q=kettle&path=noise.bin`)).why, /skipped: unsupported/)
        assert.match(
          (await ask(`/corpora/${id}/why?q=kettle&path=leave.md`)).why,
          /its best passage has 0 of 1 words.*rules\.md, found first/
        )
        assert.strictEqual((await ask(`/corpora/${id}/evaluations`)).length, 2)
      })
    }).pipe(Effect.scoped))

  it.live("shows the page to anybody and every corpus to who has the token, under a policy that lets nothing else in", () =>
    Effect.gen(function*() {
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => startServer({ token: Redacted.make("sesame") })),
        (server) => Effect.promise(() => server.stop())
      )
      yield* Effect.promise(async () => {
        const headers = { authorization: "Bearer sesame" }
        const { body: { response } } = await server.call(
          "POST",
          "/v1/projects/p1/locations/us-central1/ragCorpora",
          { displayName: "Books" },
          headers
        )
        for (const path of ["/ui", "/ui/", "/ui/c/1/search?q=a", "/ui/assets/page.js"]) {
          const page = await fetch(`${server.url}${path}`)
          assert.strictEqual(page.status, 200, path)
          const policy = page.headers.get("content-security-policy") ?? ""
          assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/)
          assert.notMatch(policy, /unsafe|nonce|https?:/)
        }
        const shell = await (await fetch(`${server.url}/ui`)).text()
        assert.notMatch(shell, /<style|style=|<script(?![^>]* src=)|https?:/)
        assert.strictEqual((await fetch(`${server.url}/ui/assets/../../package.json`)).status, 401)
        assert.strictEqual((await fetch(`${server.url}/ui/assets/other.js`)).status, 404)
        assert.strictEqual((await fetch(`${server.url}/ui/api/corpora`)).status, 401)
        const corpora = await (await fetch(`${server.url}/ui/api/corpora`, { headers })).json() as ReadonlyArray<
          { id: string; title: string }
        >
        assert.deepStrictEqual(corpora.map(({ title }) => title), ["Books"], JSON.stringify(response))
        const answered = await fetch(`${server.url}/ui/api/corpora/${corpora[0]?.id}/search?q=anything`, { headers })
        assert.deepInclude(await answered.json(), { hits: [], removed: [] })
        assert.strictEqual((await fetch(`${server.url}/ui/api/other`, { headers })).status, 404)
      })
    }).pipe(Effect.scoped))
})
