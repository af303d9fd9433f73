import { assert, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { googleDrive } from "../../connectors/googleDrive/GoogleDrive.ts"
import { jira } from "../../connectors/jira/Jira.ts"
import { sharePoint } from "../../connectors/sharePoint/SharePoint.ts"
import { slack } from "../../connectors/slack/Slack.ts"
import type { EmbeddedServerOptions } from "../../src/compose/Server.ts"
import type { VendorConnectors } from "../../src/server/import/Vendors.ts"
import { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import { fakeMetadata } from "../fakes/Metadata.ts"
import * as LocalSecrets from "../../src/secrets/LocalSecrets.ts"
import { fakeDrive } from "../fakes/Drive.ts"
import { fakeGraph } from "../fakes/Graph.ts"
import { fakeServer } from "../fakes/Http.ts"
import { fakeJira } from "../fakes/Jira.ts"
import { at, fakeSlack } from "../fakes/Slack.ts"
import { tempFolder } from "../support/TempFolder.ts"
import { parent, startServer, type TestServer } from "./support/TestServer.ts"

const retry = { times: 2, baseMs: 1 }
const google = { ...GoogleAuth.anonymous, token: Effect.succeed(Redacted.make("good")) }
const vendors: VendorConnectors = {
  googleDrive: (config, context) => googleDrive(config, { ...context, googleDrive: google, retry, pollMs: 1 }),
  slack: (config, context) => slack(config, { ...context, retry }),
  jira: (config, context) => jira(config, { ...context, retry }),
  sharePoint: (config, context) => sharePoint(config, { ...context, retry })
}

/** The vendors' stand-ins, and a server that knows where they are. Secrets are files of its data directory. */
const worldWith = Effect.fnUntraced(
  function*(options: (host: Readonly<Record<"slack" | "jira" | "graph", string>>) => Partial<EmbeddedServerOptions>) {
    const fakes = { slack: yield* fakeSlack(), jira: yield* fakeJira("Cloud"), drive: yield* fakeDrive(), graph: yield* fakeGraph() }
    const folder = yield* tempFolder
    const server = yield* Effect.acquireRelease(
      Effect.promise(() =>
        startServer({
          secrets: LocalSecrets.layer(join(folder, "data", "secrets")),
          vendors: Effect.succeed(vendors),
          allowRemote: true,
          allowHosts: ["127.0.0.1"],
          endpoints: {
            slack: `${fakes.slack.origin}/api`,
            googleDrive: fakes.drive.origin,
            sharePoint: `${fakes.graph.origin}/v1.0`,
            microsoftLogin: fakes.graph.origin
          },
          ...options({ slack: hostOf(fakes.slack.origin), jira: hostOf(fakes.jira.origin), graph: hostOf(fakes.graph.origin) })
        }, folder)
      ),
      (server) => Effect.promise(server.stop)
    )
    const secret = (name: string, value: string): string => {
      const folder = join(server.folder, "data", "secrets")
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, name), value, { mode: 0o600 })
      return `projects/1/secrets/${name}/versions/latest`
    }
    return { ...fakes, server, secret, corpus: yield* Effect.promise(() => server.corpus()) }
  }
)
const world = worldWith(() => ({}))
const hostOf = (url: string): string => new URL(url).host

const run = (server: TestServer, corpus: string, config: object) =>
  Effect.promise(async () => {
    const { body, status } = await server.call("POST", `/v1/${corpus}/ragFiles:import`, { importRagFilesConfig: config })
    if (status !== 200) return { status, error: body.error }
    const done = await server.done(body.name)
    const { failedRagFilesCount = 0, importedRagFilesCount = 0, skippedRagFilesCount = 0 } = done.body.response ?? {}
    return {
      status,
      error: done.body.error,
      counts: [importedRagFilesCount, skippedRagFilesCount, failedRagFilesCount].map(Number),
      progress: done.body.metadata.progressPercentage,
      failures: done.body.metadata.genericMetadata.partialFailures ?? []
    }
  })

const found = (server: TestServer, corpus: string, text: string) =>
  Effect.promise(async () => {
    const { body } = await server.call("POST", `/v1/${parent}:retrieveContexts`, {
      vertexRagStore: { ragResources: [{ ragCorpus: corpus }] },
      query: { text }
    })
    return (body.contexts.contexts ?? []).map((context: { text: string }) => context.text).join("\n")
  })

/** Every byte under a folder. */
const everything = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith("secrets"))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1")).join("\n")

const key = (version: string) => ({ apiKeySecretVersion: version })

describe("imports of what vendors keep", () => {
  it.live("take Slack, Jira, Drive and SharePoint through their connectors, and skip what they took before", () =>
    Effect.gen(function*() {
      const { corpus, drive, graph, jira, secret, server, slack } = yield* world
      slack.token = "xoxb-canary-5fd1"
      jira.token = "jira-canary-77aa"
      graph.tokens.secret = "graph-canary-90c3"
      slack.channels.set("C1", {
        name: "general",
        messages: [
          { ts: at("2026-10-11T09:00:00Z"), user: "U1", text: "The espresso machine is descaled on Fridays." },
          { ts: at("2026-10-13T09:00:00Z"), user: "U1", text: "Out of range." }
        ]
      })
      jira.add("OPS-1", { summary: "VPN drops every hour" })
      drive.folder("root", undefined, { name: "Handbook" })
      drive.put("leave", "root", { name: "Leave.txt", content: "Employees receive 28 days of leave." })
      graph.file("pol", "root", "Policy.txt", { content: "Laptops are encrypted." })
      const sources = {
        slackSource: {
          channels: [{
            channels: [{ channelId: "C1", startTime: "2026-10-11T00:00:00Z", endTime: "2026-10-12T00:00:00Z" }],
            apiKeyConfig: key(secret("slack", "xoxb-canary-5fd1"))
          }]
        },
        jiraSource: {
          jiraQueries: [{
            projects: ["OPS"],
            email: "bot@acme.com",
            serverUri: jira.origin,
            apiKeyConfig: key(secret("jira", "jira-canary-77aa"))
          }]
        },
        googleDriveSource: { resourceIds: [{ resourceType: "RESOURCE_TYPE_FOLDER", resourceId: "root" }] },
        sharePointSources: {
          sharePointSources: [{
            driveName: "Documents",
            sharepointSiteName: "Handbook",
            clientId: "app",
            tenantId: "t1",
            clientSecret: key(secret("graph", "graph-canary-90c3"))
          }]
        }
      }
      for (const [name, source] of Object.entries(sources)) {
        assert.deepInclude(yield* run(server, corpus, { [name]: source }), { counts: [1, 0, 0], progress: 100 }, name)
      }
      const reads = drive.asked.filter(({ url }) => url.searchParams.get("alt") === "media").length
      for (const [name, source] of Object.entries(sources)) {
        assert.deepInclude(yield* run(server, corpus, { [name]: source }), { counts: [0, 1, 0], progress: 100 }, name)
      }
      assert.strictEqual(drive.asked.filter(({ url }) => url.searchParams.get("alt") === "media").length, reads)
      for (const words of ["descaled on Fridays", "VPN drops", "28 days", "encrypted"]) {
        assert.include(yield* found(server, corpus, words), words)
      }
      assert.notInclude(yield* found(server, corpus, "Out of range"), "Out of range")

      drive.edit("leave", { content: "Employees receive 30 days of leave." })
      const chunked = {
        ragFileTransformationConfig: { ragFileChunkingConfig: { fixedLengthChunking: { chunkSize: 64, chunkOverlap: 0 } } }
      }
      assert.deepInclude(yield* run(server, corpus, { googleDriveSource: sources.googleDriveSource }), { counts: [1, 0, 0] })
      assert.deepInclude(yield* run(server, corpus, { slackSource: sources.slackSource, ...chunked }), { counts: [1, 0, 0] })
      assert.include(yield* found(server, corpus, "days of leave"), "30 days")

      const sink = { importResultGcsSink: { outputUriPrefix: "gs://docs/results/jira.ndjson" } }
      assert.deepInclude(yield* run(server, corpus, { jiraSource: sources.jiraSource, ...sink }), { counts: [0, 1, 0] })
      const row = JSON.parse(readFileSync(join(server.folder, "bucket/results/jira.ndjson"), "utf8"))
      assert.strictEqual(row.status, "SKIPPED")
      assert.include(JSON.stringify(row), `${jira.origin}/browse/OPS-1`)

      const { body: { ragFiles } } = yield* Effect.promise(() => server.call("GET", `/v1/${corpus}/ragFiles?pageSize=100`))
      assert.deepInclude(ragFiles.map((file: { googleDriveSource?: object }) => file.googleDriveSource), {
        resourceIds: [{ resourceType: "RESOURCE_TYPE_FILE", resourceId: "leave" }]
      })

      const kept = everything(server.folder)
      for (const canary of ["xoxb-canary-5fd1", "jira-canary-77aa", "graph-canary-90c3"]) assert.notInclude(kept, canary)
      const { body } = yield* Effect.promise(() => server.call("GET", `/v1/${parent}/operations?pageSize=100`))
      assert.notInclude(JSON.stringify(body), "canary")
    }).pipe(Effect.scoped))

  it.live("take several accounts in one request; one with a wrong or missing secret costs only itself", () =>
    Effect.gen(function*() {
      const { corpus, secret, server, slack } = yield* world
      slack.channels.set("C1", {
        name: "general",
        messages: [{ ts: at("2026-10-11T09:00:00Z"), user: "U1", text: "The plotter is on floor three." }]
      })
      const group = (version: string) => ({ channels: [{ channelId: "C1" }], apiKeyConfig: key(version) })
      const mixed = yield* run(server, corpus, {
        slackSource: {
          channels: [
            group(secret("wrong", "xoxb-canary-wrong")),
            group("projects/1/secrets/nowhere/versions/1"),
            group(secret("good", "xoxb-fake-token"))
          ]
        }
      })
      assert.deepInclude(mixed, { counts: [1, 0, 2], error: undefined })
      assert.deepStrictEqual(mixed.failures?.map(({ code }: { code: number }) => code).toSorted(), [16, 7])
      assert.include(JSON.stringify(mixed), "SLUICE_SECRET_NOWHERE")
      assert.notInclude(JSON.stringify(mixed), "canary")
      assert.include(yield* found(server, corpus, "plotter"), "floor three")
      assert.notInclude(everything(server.folder), "xoxb-canary-wrong")
      assert.isTrue(existsSync(join(server.folder, "data/secrets/wrong")))
    }).pipe(Effect.scoped))

  it.live("send secrets to no host that the request chose", () =>
    Effect.gen(function*() {
      const { corpus, jira, secret, server } = yield* world
      const version = secret("jira", jira.token)
      const servers = [
        "http://169.254.169.254/latest",
        "metadata.google.internal",
        "localhost:8686",
        "10.0.0.1",
        "https://[::1]:8080",
        "https://acme.atlassian.net@evil.example",
        "acme.atlassian.net.evil.example",
        "http://acme.atlassian.net",
        "acme.atlassian.net:8443",
        "a.atlassian.net#@127.0.0.1",
        "https://a.atlassian.net#@127.0.0.1",
        "a.atlassian.net?@127.0.0.1",
        "https://127.0.0.1\\@a.atlassian.net",
        "a.atlassian.net\\@evil.example",
        "https://evil.example\n.atlassian.net",
        "file://a.atlassian.net",
        "a.atlassian.net.",
        "a.atlassian.net%2eevil.example",
        "a.atlassian.net%00.evil.example",
        "evil.example/.atlassian.net",
        "evil.example\u3002atlassian.net/",
        "https://a。evil.example",
        "[::ffff:7f00:1]",
        "http://[::ffff:127.0.0.1]",
        "0",
        "2130706434",
        "//127.0.0.2",
        "jira.acme.example"
      ]
      for (const serverUri of servers) {
        const { error, status } = yield* run(server, corpus, {
          jiraSource: { jiraQueries: [{ projects: ["OPS"], email: "bot@acme.com", serverUri, apiKeyConfig: key(version) }] }
        })
        // No form of a server's address at all, or not one that is allowed.
        assert.include(
          error.status === "PERMISSION_DENIED" ? JSON.stringify(error.details) : error.message,
          error.status === "PERMISSION_DENIED" ? "--allow-host" : "must be the server's host name"
        )
        assert.include([400, 403], status, serverUri)
        assert.include(JSON.stringify(error.details), "jira_queries[0].server_uri")
      }
      assert.lengthOf(jira.asked, 0)
    }).pipe(Effect.scoped))

  it.live("send a secret to the one host that it was allowed for, and no other secret anywhere", () =>
    Effect.gen(function*() {
      const { corpus, graph, jira, secret, server, slack } = yield* worldWith((host) => ({
        allowHosts: ["127.0.0.1", "127.0.0.2"],
        allowSecrets: [
          { secret: "slack", host: host.slack },
          { secret: "projects/1/secrets/jira", host: host.jira },
          { secret: "projects/1/secrets/graph/versions/latest", host: host.graph }
        ]
      }))
      slack.channels.set("C1", { name: "general", messages: [{ ts: at("2026-10-11T09:00:00Z"), user: "U1", text: "Of plotters." }] })
      jira.add("OPS-1", { summary: "VPN drops every hour" })
      graph.file("pol", "root", "Policy.txt", { content: "Laptops are encrypted." })
      const own = { slack: secret("slack", slack.token), jira: secret("jira", jira.token), graph: secret("graph", graph.tokens.secret) }
      secret("prod-db", "canary-prod-db")
      const ofSlack = (version: string) => ({
        slackSource: { channels: [{ channels: [{ channelId: "C1" }], apiKeyConfig: key(version) }] }
      })
      const ofJira = (version: string, serverUri = jira.origin) => ({
        jiraSource: { jiraQueries: [{ projects: ["OPS"], email: "bot@acme.com", serverUri, apiKeyConfig: key(version) }] }
      })
      const ofSharePoint = (version: string) => ({
        sharePointSources: {
          sharePointSources: [{
            driveName: "Documents",
            sharepointSiteName: "Handbook",
            clientId: "app",
            tenantId: "t1",
            clientSecret: key(version)
          }]
        }
      })
      for (
        const config of [ofSlack(own.slack), ofSlack("projects/2/secrets/slack/versions/7"), ofJira(own.jira), ofSharePoint(own.graph)]
      ) {
        const { error, failures } = yield* run(server, corpus, config)
        assert.deepStrictEqual([error, failures], [undefined, []], JSON.stringify(config))
      }
      const asked = () => [slack, jira, graph].map(({ asked: { length } }) => length)
      const before = asked()
      const slackKey = "slack_source.channels[0].api_key_config.api_key_secret_version"
      const jiraKey = "jira_source.jira_queries[0].api_key_config.api_key_secret_version"
      const refused: ReadonlyArray<readonly [field: string, fix: string, config: object]> = [
        [slackKey, `--allow-secret prod-db=${hostOf(slack.origin)}`, ofSlack("projects/1/secrets/prod-db/versions/latest")],
        [slackKey, `--allow-secret jira=${hostOf(slack.origin)}`, ofSlack(own.jira)],
        [slackKey, "--allow-secret SLACK=", ofSlack("projects/1/secrets/SLACK/versions/latest")],
        // Its variable would be that of another secret.
        [slackKey, "--allow-secret projects/1/secrets/slack/versions/ault=", ofSlack("projects/1/secrets/slack/versions/ault")],
        [jiraKey, `--allow-secret slack=${hostOf(jira.origin)}`, ofJira(own.slack)],
        [jiraKey, "--allow-secret jira=evil.atlassian.net", ofJira(own.jira, "evil.atlassian.net")],
        [jiraKey, "--allow-secret jira=127.0.0.2", ofJira(own.jira, "https://127.0.0.2")],
        [jiraKey, "--allow-secret jira=", ofJira("projects/2/secrets/jira/versions/latest")],
        [
          "share_point_sources.share_point_sources[0].client_secret.api_key_secret_version",
          `--allow-secret slack=${hostOf(graph.origin)}`,
          ofSharePoint(own.slack)
        ],
        [
          "share_point_sources.share_point_sources[0].client_secret.api_key_secret_version",
          "--allow-secret graph=",
          ofSharePoint("projects/1/secrets/graph/versions/2")
        ]
      ]
      for (const [field, fix, config] of refused) {
        const { error, status } = yield* run(server, corpus, config)
        assert.deepStrictEqual([status, error?.status], [403, "PERMISSION_DENIED"], fix)
        assert.include(JSON.stringify(error), `import_rag_files_config.${field}`)
        assert.include(JSON.stringify(error.details), fix)
        // Nor does it say whether there is such a secret.
        assert.notInclude(JSON.stringify(error), "SLUICE_SECRET_")
      }
      assert.deepStrictEqual(asked(), before)
    }).pipe(Effect.scoped))

  it.live("send no secret for callers with a token, unless one was allowed", () =>
    Effect.gen(function*() {
      const token = "0123456789abcdef"
      const headers = { authorization: `Bearer ${token}` }
      const jira = yield* fakeJira("Cloud")
      const server = yield* Effect.acquireRelease(
        Effect.promise(() =>
          startServer({ vendors: Effect.succeed(vendors), allowRemote: true, allowHosts: ["127.0.0.1"], token: Redacted.make(token) })
        ),
        (server) => Effect.promise(server.stop)
      )
      const apiKeyConfig = key("projects/1/secrets/jira/versions/latest")
      const { body: { response } } = yield* Effect.promise(() =>
        server.call("POST", `/v1/${parent}/ragCorpora`, { displayName: "docs" }, headers)
      )
      const { body: { error } } = yield* Effect.promise(() =>
        server.call("POST", `/v1/${response.name}/ragFiles:import`, {
          importRagFilesConfig: {
            jiraSource: { jiraQueries: [{ projects: ["OPS"], email: "bot@acme.com", serverUri: jira.origin, apiKeyConfig }] }
          }
        }, headers)
      )
      assert.strictEqual(error.status, "PERMISSION_DENIED")
      assert.include(JSON.stringify(error.details), `--allow-secret jira=${hostOf(jira.origin)}`)
      assert.lengthOf(jira.asked, 0)
    }).pipe(Effect.scoped))

  it.live("look for no cloud credentials because a request names a secret, unless the operator allows it", () =>
    Effect.gen(function*() {
      // Without a token, so that the secrets' service itself is not asked.
      const metadata = yield* fakeMetadata((response, path) => path.endsWith("/token") && response.writeHead(404).end().writableEnded)
      const jira = yield* fakeJira("Cloud")
      const environment = {
        GCE_METADATA_HOST: new URL(metadata.origin).host,
        METADATA_SERVER_DETECTION: "assume-present",
        HOME: metadata.origin,
        CLOUDSDK_CONFIG: "/nonexistent",
        GOOGLE_APPLICATION_CREDENTIALS: undefined,
        NO_PROXY: "*"
      }
      const before = Object.fromEntries(Object.keys(environment).map((name) => [name, process.env[name]]))
      const set = (values: Readonly<Record<string, string | undefined>>) => {
        for (const [name, value] of Object.entries(values)) {
          if (value === undefined) delete process.env[name]
          else process.env[name] = value
        }
      }
      yield* Effect.acquireRelease(Effect.sync(() => set(environment)), () => Effect.sync(() => set(before)))
      const asked = Effect.fnUntraced(function*(secretManager: boolean) {
        const server = yield* Effect.acquireRelease(
          Effect.promise(() =>
            startServer({ vendors: Effect.succeed(vendors), allowRemote: true, allowHosts: ["127.0.0.1"], secretManager })
          ),
          (server) => Effect.promise(server.stop)
        )
        const corpus = yield* Effect.promise(() => server.corpus())
        const { counts, failures } = yield* run(server, corpus, {
          jiraSource: {
            jiraQueries: [{
              projects: ["OPS"],
              email: "bot@acme.com",
              serverUri: jira.origin,
              apiKeyConfig: key("projects/1/secrets/nowhere/versions/1")
            }]
          }
        })
        assert.deepStrictEqual(counts, [0, 0, 1])
        // Where it looked, without the server's paths.
        assert.notInclude(JSON.stringify(failures), server.folder)
        return { requests: metadata.asked.length, failures: JSON.stringify(failures) }
      })
      const local = yield* asked(false)
      assert.strictEqual(local.requests, 0)
      assert.include(local.failures, "SLUICE_SECRET_NOWHERE")
      assert.include(local.failures, "{data directory}/secrets/nowhere")
      assert.isAtLeast((yield* asked(true)).requests, 1)
    }).pipe(Effect.scoped))

  it.live("follow no address in an answer into the server's network", () =>
    Effect.gen(function*() {
      const { corpus, jira, secret, server } = yield* world
      const inside = yield* fakeServer((_, response) => void response.end("a secret of the network"))
      // An address like that of the allowed host, by another name.
      jira.media = inside.origin.replace("127.0.0.1", "localhost")
      jira.attachments.set("7", Buffer.from("text"))
      jira.add("OPS-1", { attachment: [{ id: "7", filename: "plan.txt", size: 4, mimeType: "text/plain" }] })
      const { counts, failures } = yield* run(server, corpus, {
        jiraSource: {
          jiraQueries: [{ projects: ["OPS"], email: "bot@acme.com", serverUri: jira.origin, apiKeyConfig: key(secret("jira", jira.token)) }]
        }
      })
      assert.deepStrictEqual(counts, [1, 0, 1])
      assert.include(JSON.stringify(failures), "localhost is not a public address")
      assert.lengthOf(inside.asked, 0)
    }).pipe(Effect.scoped))

  it.live("ask a SharePoint for nothing above what it is named", () =>
    Effect.gen(function*() {
      const { corpus, graph, secret, server } = yield* world
      const clientSecret = key(secret("graph", "graph-canary-90c3"))
      graph.tokens.secret = "graph-canary-90c3"
      const named = { sharepointSiteName: "Handbook", driveName: "Documents", clientId: "app", tenantId: "t1", clientSecret }
      for (
        const place of [
          { sharepointSiteName: "contoso.sharepoint.com:/../../users" },
          { sharepointSiteName: "contoso.sharepoint.com:/sites/.." },
          { driveName: undefined, driveId: ".." },
          { sharepointFolderPath: "/a/../../../../me" },
          { sharepointFolderId: ".." }
        ]
      ) {
        const before = graph.asked.length
        const { counts, error, failures } = yield* run(server, corpus, {
          sharePointSources: { sharePointSources: [{ ...named, ...place }] }
        })
        assert.include(JSON.stringify([error, failures]), ". or ..", `${JSON.stringify(place)} ${JSON.stringify(counts)}`)
        for (const { url } of graph.asked.slice(before)) assert.match(url.pathname, /^\/(?:t1\/oauth2|v1\.0\/(?:sites|drives))(?:\/|$)/)
      }
    }).pipe(Effect.scoped))

  it.live("say which field of a source is missing or wrong", () =>
    Effect.gen(function*() {
      const { corpus, server } = yield* world
      const apiKeyConfig = key("projects/1/secrets/s/versions/1")
      const jira = { projects: ["P"], email: "a@b.c", serverUri: "acme.atlassian.net", apiKeyConfig }
      const site = { sharepointSiteName: "s", driveName: "d", clientId: "c", tenantId: "t", clientSecret: apiKeyConfig }
      const bad: ReadonlyArray<readonly [field: string, config: object]> = [
        ["slack_source.channels", { slackSource: {} }],
        ["slack_source.channels[0].channels", { slackSource: { channels: [{ apiKeyConfig }] } }],
        ["slack_source.channels[0].channels[0].channel_id", { slackSource: { channels: [{ channels: [{}], apiKeyConfig }] } }],
        ["slack_source.channels[0].api_key_config.api_key_secret_version", {
          slackSource: { channels: [{ channels: [{ channelId: "C" }] }] }
        }],
        ["slack_source.channels[0].api_key_config.api_key_secret_version", {
          slackSource: { channels: [{ channels: [{ channelId: "C" }], apiKeyConfig: key("xoxb-canary-inline") }] }
        }],
        ["slack_source.channels[0].channels[0].end_time", {
          slackSource: {
            channels: [{ channels: [{ channelId: "C", startTime: "2026-01-02T00:00:00Z", endTime: "2026-01-01T00:00:00Z" }], apiKeyConfig }]
          }
        }],
        ["jira_source.jira_queries[0].email", { jiraSource: { jiraQueries: [{ ...jira, email: "" }] } }],
        ["jira_source.jira_queries[1].server_uri", { jiraSource: { jiraQueries: [jira, { ...jira, serverUri: undefined }] } }],
        ["jira_source.jira_queries[0]", { jiraSource: { jiraQueries: [{ ...jira, projects: [] }] } }],
        ["google_drive_source.resource_ids[0].resource_type", { googleDriveSource: { resourceIds: [{ resourceId: "x" }] } }],
        ["share_point_sources.share_point_sources[0].drive_name", {
          sharePointSources: { sharePointSources: [{ ...site, driveName: undefined }] }
        }],
        ["share_point_sources.share_point_sources[0].client_secret.api_key_secret_version", {
          sharePointSources: { sharePointSources: [{ ...site, clientSecret: undefined }] }
        }],
        ["drive_source", { sharePointSources: { sharePointSources: [{ ...site, driveId: "x" }] } }],
        ["folder_source", { sharePointSources: { sharePointSources: [{ ...site, sharepointFolderPath: "/a", sharepointFolderId: "b" }] } }]
      ]
      for (const [field, config] of bad) {
        const { error, status } = yield* run(server, corpus, config)
        assert.strictEqual(status, 400, field)
        assert.strictEqual(error.status, "INVALID_ARGUMENT")
        assert.include(JSON.stringify(error), field)
        assert.notInclude(JSON.stringify(error), "canary")
      }
    }).pipe(Effect.scoped))
})
