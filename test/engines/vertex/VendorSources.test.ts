import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Stream } from "effect"
import { join } from "node:path"
import { googleDrive } from "../../../connectors/googleDrive/GoogleDrive.ts"
import { jira } from "../../../connectors/jira/Jira.ts"
import { sharePoint } from "../../../connectors/sharePoint/SharePoint.ts"
import { slack } from "../../../connectors/slack/Slack.ts"
import { storage } from "../../../connectors/storage/Storage.ts"
import type { StorageFactory } from "../../../src/compose/Imports.ts"
import { serveEmbedded } from "../../../src/compose/Server.ts"
import * as Vertex from "../../../src/compose/VertexEntry.ts"
import type { VendorConnectors } from "../../../src/server/import/Vendors.ts"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { SecretError } from "../../../src/domain/Errors.ts"
import { addsUp, type Counts, type Report } from "../../../src/domain/Report.ts"
import { maxUploadBytes } from "../../../src/engines/vertex/HostedFiles.ts"
import { GoogleAuth } from "../../../src/net/GoogleAuth.ts"
import { definePipeline, type PipelineInput } from "../../../src/pipeline/definition/DefinePipeline.ts"
import { corpusOf, planPipeline, runPipeline } from "../../../src/pipeline/RunPipeline.ts"
import type { SyncOptions } from "../../../src/pipeline/sync/Session.ts"
import { Engine } from "../../../src/ports/Engine.ts"
import { Files } from "../../../src/ports/Files.ts"
import type { ObjectStore } from "../../../src/ports/ObjectStore.ts"
import { Operations } from "../../../src/ports/Operations.ts"
import { pages } from "../../../src/ports/Paging.ts"
import { Secrets } from "../../../src/ports/Secrets.ts"
import { LedgerWrites } from "../../../src/state/LedgerWrites.ts"
import * as SqliteLedger from "../../../src/state/SqliteLedger.ts"
import { State } from "../../../src/state/State.ts"
import { TextPool } from "../../../src/text/TextPool.ts"
import { fakeDrive } from "../../fakes/Drive.ts"
import { emulator, fakeGcs } from "../../fakes/Gcs.ts"
import { fakeGraph } from "../../fakes/Graph.ts"
import { fakeJira } from "../../fakes/Jira.ts"
import { at, fakeSlack } from "../../fakes/Slack.ts"
import { type ConnectorSet, connectorsOf, pipelineOf as asPipeline } from "../../support/Sources.ts"
import { tempFolder } from "../../support/TempFolder.ts"
import { hosted } from "./Engine.ts"

const retry = { times: 2, baseMs: 1 }
const google = (token: string) => ({ ...GoogleAuth.anonymous, token: Effect.succeed(Redacted.make(token)) })
const values: Readonly<Record<string, string>> = { slack: "xoxb-fake-token", jira: "api-token", graph: "s3cret" }
/** By the secret's name, as a resolver would; the service's own, which the client may lack. */
const resolve: Secrets["Service"]["resolve"] = (version) => Effect.succeed(Redacted.make(values[version.split("/")[3] ?? ""] ?? ""))
const version = (name: string) => `projects/1/secrets/${name}/versions/1`

const vendorConnectors: VendorConnectors = {
  googleDrive: (config, context) => googleDrive(config, { ...context, googleDrive: google("good"), retry, pollMs: 1 }),
  slack: (config, context) => slack(config, { ...context, retry }),
  jira: (config, context) => jira(config, { ...context, retry }),
  sharePoint: (config, context) => sharePoint(config, { ...context, retry })
}

/** The vendors, and a service that reads them with credentials of its own. */
const setUp = Effect.gen(function*() {
  const fakes = {
    slack: yield* fakeSlack(),
    jira: yield* fakeJira("Cloud"),
    drive: yield* fakeDrive(),
    graph: yield* fakeGraph(),
    gcs: yield* fakeGcs()
  }
  const folder = yield* tempFolder
  const environment = { STORAGE_EMULATOR_HOST: fakes.gcs.origin }
  const { url } = yield* serveEmbedded({
    dataDir: join(folder, "server"),
    version: "test",
    port: 0,
    storage: ((config, context) => storage(config, { ...context, environment })) satisfies StorageFactory,
    vendors: Effect.succeed(vendorConnectors),
    secrets: Layer.succeed(Secrets, { resolve }),
    allowRemote: true,
    allowHosts: ["127.0.0.1"],
    endpoints: {
      slack: `${fakes.slack.origin}/api`,
      googleDrive: fakes.drive.origin,
      sharePoint: `${fakes.graph.origin}/v1.0`,
      microsoftLogin: fakes.graph.origin
    }
  })

  /** Whether this machine may read the vendors; the service always may. */
  const access = { allowed: true }
  const refused = (version: string) =>
    Effect.fail(new SecretError({ version, message: `${version} may not be read`, fix: "ask for access" }))
  const secrets = { resolve: ((name) => access.allowed ? resolve(name) : refused(name)) satisfies Secrets["Service"]["resolve"] }
  const connectors: ConnectorSet = {
    googleDrive: (settings, context) =>
      googleDrive({ ...settings, endpoint: fakes.drive.origin }, {
        ...context,
        googleDrive: google(access.allowed ? "good" : "without the scope"),
        retry,
        pollMs: 1
      }),
    slack: (settings, context) => slack({ ...settings, endpoint: `${fakes.slack.origin}/api` }, { ...context, secrets, retry }),
    jira: (settings, context) => jira(settings, { ...context, secrets, retry }),
    sharePoint: (settings, context) =>
      sharePoint({ ...settings, endpoint: `${fakes.graph.origin}/v1.0`, loginEndpoint: fakes.graph.origin }, { ...context, secrets, retry })
  }
  const pipeline = (sources: NonNullable<PipelineInput["sources"]>, changes: Partial<PipelineInput> = {}) =>
    definePipeline({
      name: "handbook",
      engine: { vertex: { project: "p1", location: "us-central1", baseUrl: url } },
      corpus: { displayName: "Handbook" },
      sources,
      stages: [{ retrieve: { topK: 10 } }],
      ...changes
    })
  const dataDir = join(folder, "client")
  /** As programs put it together. */
  const composed = (of: ReturnType<typeof pipeline>) => asPipeline(of, connectors)
  const hostedEngine = Vertex.layer({ dataDir, project: "p1", location: "us-central1", baseUrl: url, token: Redacted.make("t") })
  /** The same without the service's 60 requests a minute, which many runs would wait for. */
  const on = connectorsOf(connectors, { dataDir }).pipe(Layer.provideMerge(
    Layer.mergeAll(
      Layer.succeed(Secrets, secrets),
      engine(url),
      TextPool.layerInline(),
      SqliteLedger.layer.pipe(Layer.provide(LedgerWrites.layerDirect), Layer.provide(State.layer(dataDir)))
    ).pipe(Layer.provideMerge(hosted(url)))
  ))
  const run = (of: ReturnType<typeof pipeline>, options: SyncOptions = {}) => runPipeline(of, options).pipe(Effect.provide(on))
  const plan = (of: ReturnType<typeof pipeline>) => planPipeline(of).pipe(Effect.provide(on))
  const held = (of: ReturnType<typeof pipeline>) =>
    Effect.gen(function*() {
      const { name } = yield* corpusOf(of)
      const files = yield* Files
      return yield* Stream.runCollect(pages((page) => files.list(name, page)))
    }).pipe(Effect.provide(on))
  const names = (of: ReturnType<typeof pipeline>) => Effect.map(held(of), (files) => files.map(({ displayName }) => displayName).toSorted())
  return { ...fakes, access, composed, held, hostedEngine, names, on, pipeline, plan, run }
})

const engine = (url: string) =>
  Layer.effect(
    Engine,
    Effect.map(Operations, (operations) =>
      Engine.of({
        name: "vertex",
        parent: "projects/p1/locations/us-central1",
        target: url,
        signature: "vertex",
        maxFileBytes: maxUploadBytes,
        immutableFiles: true,
        remoteEmbedding: true,
        concurrency: 4,
        imports: {
          sources: new Set(["storage", "googleDrive", "slack", "jira", "sharePoint"]),
          operations,
          objects: unused,
          results: () => Effect.undefined
        }
      }))
  )

const notAsked = Effect.die("not asked for")
const unused: ObjectStore["Service"] = {
  get: () => Stream.fromEffect(notAsked),
  list: () => Stream.fromEffect(notAsked),
  head: () => notAsked,
  put: () => notAsked,
  delete: () => notAsked
}

const slackSource = { channels: [{ id: "C1" }], token: version("slack") }
const driveSource = { folders: ["root"] }
const day = (text: string, ...more: ReadonlyArray<{ readonly ts: string; readonly user: string; readonly text: string }>) => ({
  name: "general",
  messages: [{ ts: at("2026-10-11T09:00:00Z"), user: "U1", text }, ...more]
})

const expectCounts = (report: Report, counts: Partial<Counts>) => {
  const seen = Object.fromEntries(Object.entries(report.totals).filter(([key, n]) => n !== 0 && key !== "listed"))
  assert.deepStrictEqual(seen, { ...counts }, JSON.stringify([report.notable, report.sources]))
  assert.isTrue(addsUp(report.totals))
}
const noteOf = ({ sources }: Report) => sources.map(({ note }) => note ?? "").join("\n")

describe("Drive, Slack, Jira and SharePoint on the hosted engine", () => {
  it.live("are listed by our connectors where they may: names, changes, moves, deletes, drift and plan", () =>
    Effect.gen(function*() {
      const { composed, drive, graph, held, hostedEngine, jira, names, on, pipeline, plan, run, slack } = yield* setUp
      slack.channels.set("C1", day("The espresso machine is descaled on Fridays."))
      jira.add("OPS-1", { summary: "VPN drops every hour" })
      jira.add("OPS-2", { summary: "Printer is out of paper" })
      drive.folder("root", undefined, { name: "Handbook" })
      drive.put("leave", "root", { name: "Leave.txt", content: "Employees receive 28 days of leave." })
      drive.put("pay", "root", { name: "Pay.txt", content: "Salary bands range from A to F." })
      graph.file("pol", "root", "Policy.txt", { content: "Laptops are encrypted." })
      const all = pipeline({
        drive: { googleDrive: driveSource },
        chat: { slack: slackSource },
        issues: { jira: { server: jira.origin, email: "bot@acme.com", projects: ["OPS"], token: version("jira") } },
        site: { sharePoint: { site: "Handbook", drive: "Documents", clientId: "app", tenantId: "t1", clientSecret: version("graph") } }
      })
      const planned = yield* plan(all)
      assert.strictEqual(planned.totals.added, 6)
      assert.isFalse(planned.warnings.some((warning) => warning.includes("import-only")))
      const first = yield* run(all)
      expectCounts(first, { added: 6 })
      assert.isTrue(first.sources.every(({ complete, kind }) => complete && ["googleDrive", "jira", "sharePoint", "slack"].includes(kind)))
      assert.deepStrictEqual(yield* names(all), [
        "#general, 2026-10-11.md",
        "Leave.txt",
        "OPS-1: VPN drops every hour.md",
        "OPS-2: Printer is out of paper.md",
        "Pay.txt",
        "Policy.txt"
      ])
      assert.isTrue((yield* held(all)).every(({ marker }) => marker?.source.startsWith("handbook/") === true))
      expectCounts(yield* run(all), { unchanged: 6 })

      drive.edit("leave", { content: "Employees receive 30 days of leave." })
      drive.edit("pay", { name: "Salaries.txt" })
      slack.channels.set(
        "C1",
        day("The espresso machine is descaled on Mondays.", { ts: at("2026-10-13T09:00:00Z"), user: "U1", text: "It is broken." })
      )
      jira.issues = jira.issues.filter(({ key }) => key !== "OPS-1")
      graph.edit("pol", { deleted: true })
      // All that the library had is gone, which waits for a word.
      assert.deepInclude((yield* plan(all)).totals, { added: 1, changed: 3, deleted: 1, held: 1, unchanged: 1 })
      expectCounts(yield* run(all, { yes: true }), { added: 1, changed: 3, deleted: 2, unchanged: 1 })
      assert.deepStrictEqual(yield* names(all), [
        "#general, 2026-10-11.md",
        "#general, 2026-10-13.md",
        "Leave.txt",
        "OPS-2: Printer is out of paper.md",
        "Salaries.txt"
      ])
      const { contexts } = yield* composed(all).retrieve("days of leave").pipe(Effect.provide(hostedEngine))
      assert.isTrue(contexts.some(({ text }) => text.includes("30 days")) && !contexts.some(({ text }) => text.includes("28 days")))

      const [lost] = yield* held(all)
      if (lost !== undefined) yield* Effect.flatMap(Files, (files) => files.delete(lost.name)).pipe(Effect.provide(on))
      const mended = yield* run(all)
      assert.strictEqual(mended.totals.added + mended.totals.changed, 1)
      assert.match(noteOf(mended), /1 file deleted or changed in the corpus by somebody else/)
      assert.strictEqual((yield* names(all)).length, 5)
    }).pipe(Effect.scoped))

  it.live("permissions narrowed at the source cost nothing, are said not to be kept, and nobody is answered as if they were", () =>
    Effect.gen(function*() {
      const { composed, drive, hostedEngine, pipeline } = yield* setUp
      drive.folder("root", undefined, { name: "Handbook" })
      const reader = (email: string) => ({ id: email, type: "user", role: "reader", emailAddress: email })
      drive.put("pay", "root", {
        name: "Pay.txt",
        content: "Salary bands range from A to F.",
        permissions: [{ id: "all", type: "anyone", role: "reader" }]
      })
      const handbook = pipeline({ drive: { googleDrive: driveSource } })
      const run = composed(handbook).run.pipe(Effect.provide(hostedEngine))
      assert.notInclude(noteOf(yield* run), "keeps no permissions")
      drive.edit("pay", { permissions: [reader("bob@acme.com")] })
      const { warnings } = yield* composed(handbook).plan().pipe(Effect.provide(hostedEngine))
      assert.match(warnings.join(), /drive: some of it is restricted at the source; the service keeps no permissions/)
      const narrowed = yield* run
      expectCounts(narrowed, { unchanged: 1 })
      assert.include(noteOf(narrowed), "the service keeps no permissions")
      const refused = yield* Effect.flip(
        composed(handbook).retrieve({ question: "salary", principal: "user:eve@acme.com" }).pipe(Effect.provide(hostedEngine))
      )
      assert.include(refused.message, "the readers of files")
      // Not shared with us any more, it is no longer ours to keep.
      drive.edit("pay", { trashed: true })
      expectCounts(yield* run, { held: 1 })
    }).pipe(Effect.scoped))

  it.live(
    "are imported whole where we may not list them, which plan and report say, and come back with the credentials",
    () =>
      Effect.gen(function*() {
        const { access, drive, held, names, on, pipeline, plan, run, slack } = yield* setUp
        slack.channels.set("C1", day("The espresso machine is descaled on Fridays."))
        drive.folder("root", undefined, { name: "Handbook" })
        for (const name of ["Leave", "Pay"]) drive.put(name, "root", { name: `${name}.txt`, content: `All about ${name}.` })
        const sources = { drive: { googleDrive: driveSource }, chat: { slack: slackSource } }
        const handbook = pipeline(sources)
        access.allowed = false
        const warnings = (yield* plan(handbook)).warnings.join("\n")
        assert.match(
          warnings,
          /chat: import-only: it cannot be listed from here \(projects\/1\/secrets\/slack\/versions\/1 may not be read\)/
        )
        assert.match(warnings, /drive: import-only: it cannot be listed from here \(.*Invalid Credentials; run `gcloud auth/)
        const first = yield* run(handbook)
        expectCounts(first, { added: 3 })
        assert.match(noteOf(first), /import-only: it cannot be listed from here .*2 imported, 0 skipped, 0 failed/)
        assert.isFalse(first.sources.some(({ complete }) => complete))
        expectCounts(yield* run(handbook), { unchanged: 3 })
        drive.edit("Pay", { content: "All about Pay, anew." })
        expectCounts(yield* run(handbook), { changed: 1, unchanged: 2 })

        // Somebody else's, of the same name.
        const { name: corpus } = yield* corpusOf(handbook).pipe(Effect.provide(on))
        yield* Effect.flatMap(Files, (files) =>
          files.upload({
            corpus,
            displayName: "Pay.txt",
            content: new TextEncoder().encode("Not the pipeline's."),
            chunking: defaultChunking
          })).pipe(Effect.provide(on))
        const foreign = (yield* held(handbook)).find(({ sourceUri }) => sourceUri === "Pay.txt")
        assert.isDefined(foreign)

        access.allowed = true
        assert.match(
          (yield* plan(handbook)).warnings.join("\n"),
          /drive: 2 files that the service imported would be replaced by the files uploaded from here/
        )
        const ours = yield* run(handbook)
        expectCounts(ours, { added: 3 })
        assert.match(noteOf(ours), /2 files that the service had imported were replaced by the files uploaded from here/)
        const expected = ["#general, 2026-10-11.md", "Leave.txt", "Pay.txt", "Pay.txt"]
        assert.deepStrictEqual(yield* names(handbook), expected)
        expectCounts(yield* run(handbook), { unchanged: 3 })

        // A token that ends gives nothing away.
        access.allowed = false
        const ended = yield* Effect.flip(run(handbook))
        assert.include(ended.message, "may not be read")
        assert.deepStrictEqual(yield* names(handbook), expected)

        access.allowed = true
        const theirs = pipeline({
          drive: { googleDrive: { ...driveSource, listing: "service" } },
          chat: { slack: { ...slackSource, listing: "service" } }
        })
        assert.match(
          (yield* plan(theirs)).warnings.join("\n"),
          /drive: 2 files uploaded from here would be replaced once the service has imported everything/
        )
        const given = yield* run(theirs)
        expectCounts(given, { added: 3 })
        assert.match(noteOf(given), /import-only: the pipeline has the service list it/)
        assert.deepStrictEqual(yield* names(theirs), expected)
        assert.isTrue((yield* held(theirs)).every(({ marker }) => marker === undefined))
        expectCounts(yield* run(theirs), { unchanged: 3 })

        drive.remove("Leave")
        expectCounts(yield* run(handbook), { added: 2 })
        assert.deepStrictEqual(yield* names(handbook), expected.filter((name) => name !== "Leave.txt"))
        assert.isTrue((yield* held(handbook)).some(({ name }) => name === foreign?.name))
      }).pipe(Effect.scoped)
  )

  it.live("are staged for it where there is a bucket, and imported in one go under their names", () =>
    Effect.gen(function*() {
      const { composed, gcs, hostedEngine, names, pipeline, slack } = yield* setUp
      gcs.put("staging", "other", "")
      yield* emulator(gcs.origin)
      slack.channels.set(
        "C1",
        day("The espresso machine is descaled on Fridays.", { ts: at("2026-10-13T09:00:00Z"), user: "U1", text: "It is broken." })
      )
      const handbook = pipeline({ chat: { slack: { ...slackSource, staging: "gs://staging/chat" } } })
      const run = composed(handbook).run.pipe(Effect.provide(hostedEngine))
      const first = yield* run
      expectCounts(first, { added: 2 })
      assert.include(noteOf(first), "2 imported, 0 skipped, 0 failed")
      assert.deepStrictEqual(yield* names(handbook), ["#general, 2026-10-11.md", "#general, 2026-10-13.md"])
      slack.channels.set("C1", day("The espresso machine is descaled on Mondays."))
      expectCounts(yield* run, { changed: 1, deleted: 1 })
      assert.deepStrictEqual(yield* names(handbook), ["#general, 2026-10-11.md"])
      assert.strictEqual(gcs.asked.filter(({ method }) => method === "DELETE").length, 3)
    }).pipe(Effect.scoped))

  it.live(
    "what the service imported stays until all of it is stored from here, and far less does not take its place",
    () =>
      Effect.gen(function*() {
        const { access, drive, names, pipeline, run } = yield* setUp
        drive.folder("root", undefined, { name: "Handbook" })
        for (let i = 0; i < 30; i++) drive.put(`f${i}`, "root", { name: `f${i}.txt`, content: `Page ${i}.` })
        const handbook = pipeline({ drive: { googleDrive: driveSource } })
        access.allowed = false
        expectCounts(yield* run(handbook), { added: 30 })
        access.allowed = true
        drive.fault(3, ({ url }) =>
          url.pathname.endsWith("/f7") && url.searchParams.get("alt") === "media", (response) =>
          void response.writeHead(500).end())
        const partly = yield* run(handbook)
        expectCounts(partly, { added: 29, failed: 1 })
        assert.match(noteOf(partly), /30 files that the service had imported stay until all listed files are stored/)
        assert.strictEqual((yield* names(handbook)).length, 59)

        for (let i = 1; i < 30; i++) {
          drive.remove(`f${i}`)
        }
        drive.edit("f0", { content: "Page 0." })
        const fewer = yield* run(handbook)
        assert.isAbove(fewer.totals.held, 0)
        assert.match(fewer.sources[0]?.heldBecause ?? "", /--yes deletes/)
        yield* run(handbook, { yes: true })
        assert.deepStrictEqual(yield* names(handbook), ["f0.txt"])
      }).pipe(Effect.scoped)
  )
})
