import { Effect, Redacted, type Scope } from "effect"
import { HttpClient } from "effect/http"
import { googleDrive } from "../../connectors/googleDrive/GoogleDrive.ts"
import { jira } from "../../connectors/jira/Jira.ts"
import { sharePoint } from "../../connectors/sharePoint/SharePoint.ts"
import { slack } from "../../connectors/slack/Slack.ts"
import { storage } from "../../connectors/storage/Storage.ts"
import { SecretVersion } from "../../src/domain/Secret.ts"
import { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import type { Connector } from "../../src/ports/Connector.ts"
import { fakeDrive } from "../fakes/Drive.ts"
import { fakeGcs } from "../fakes/Gcs.ts"
import { fakeGraph } from "../fakes/Graph.ts"
import type { Asked, FakeServer } from "../fakes/Http.ts"
import { fakeJira } from "../fakes/Jira.ts"
import { fakeS3, s3Credentials } from "../fakes/S3.ts"
import { at, fakeSlack } from "../fakes/Slack.ts"

const version = SecretVersion.make("projects/1/secrets/s/versions/1")
const retry = { times: 2, baseMs: 1 }
const google = { ...GoogleAuth.anonymous, token: Effect.succeed(Redacted.make("good-token")) }
const secrets = (value: string) => ({ resolve: () => Effect.succeed(Redacted.make(value)) })

/** A connector and the stand-in for its vendor, which holds a dozen items on several pages. */
export interface Vendor {
  readonly connector: Connector
  readonly server: FakeServer
  /** Where content is, if not at `server`. */
  readonly files?: FakeServer
  /** Whether a request fetches content. */
  readonly reads: (asked: Asked) => boolean
  /** Whether a request lists more than what changed. */
  readonly lists: (asked: Asked) => boolean
  /** The path of an item that stands for the others, and what deletes it at the source. */
  readonly sample: string
  readonly remove: () => void
  /** Gives the sample another content, and another name. */
  readonly change?: () => void
  readonly rename?: () => string
  /** Changes something at the source that its cursor tells of. */
  readonly edit?: (next: () => number) => void
  /** The credentials, and what they are sent as. */
  readonly secrets: ReadonlyArray<string>
}

export const vendors: Readonly<Record<string, Effect.Effect<Vendor, never, HttpClient.HttpClient | Scope.Scope>>> = {
  googleDrive: Effect.gen(function*() {
    const fake = yield* fakeDrive(7)
    fake.token.value = "good-token"
    const http = yield* HttpClient.HttpClient
    const folders = ["root"]
    const files: Array<string> = []
    let made = 0
    const put = (parent: string, name: string): void => {
      files.push(`file${++made}`)
      fake.put(`file${made}`, parent, { name, content: `text ${made}` })
    }
    fake.folder("root", undefined, { name: "Handbook" })
    for (let i = 0; i < 12; i++) put("root", `Page ${i}.txt`)
    return {
      connector: googleDrive({ folders: ["root"], files: [], endpoint: fake.origin }, { http, googleDrive: google, retry, pollMs: 1 }),
      server: fake,
      reads: ({ url }) => url.searchParams.get("alt") === "media" || url.pathname.endsWith("/export"),
      sample: "Handbook/Page 3.txt",
      remove: () => fake.remove("file4"),
      change: () => fake.edit("file4", { content: "something else" }),
      rename: () => {
        fake.edit("file4", { name: "Renamed.txt" })
        return "Handbook/Renamed.txt"
      },
      secrets: ["good-token"],
      lists: ({ url }) => url.pathname.endsWith("/files"),
      edit: (next) => {
        const some = <A>(all: ReadonlyArray<A>): A => all[Math.floor(next() * all.length)]!
        switch (Math.floor(next() * 9)) {
          case 0:
            return put(some(folders), `Page ${Math.floor(next() * 20)}.txt`)
          case 1:
            return fake.edit(some(files), { content: `text ${++made}` })
          case 2:
            return fake.edit(some(files), { name: `Page ${Math.floor(next() * 20)}.txt` })
          case 3:
            return fake.edit(some(files), { parents: [some(folders)] })
          case 4:
            return fake.edit(some(files), { trashed: next() < 0.7 })
          case 5:
            return fake.edit(some(files), {
              permissions: [{ id: "p", type: "user", role: "reader", emailAddress: `u${Math.floor(next() * 3)}@acme.com` }]
            })
          case 6:
            return fake.remove(some(files))
          case 7:
            folders.push(`folder${++made}`)
            return fake.folder(`folder${made}`, some(folders.slice(0, -1)), { name: `Folder ${made}` })
          default: {
            const [, ...below] = folders
            if (below.length > 0) fake.edit(some(below), next() < 0.5 ? { name: `Folder ${++made}` } : { trashed: next() < 0.7 })
          }
        }
      }
    }
  }),
  sharePoint: Effect.gen(function*() {
    const fake = yield* fakeGraph(7)
    const http = yield* HttpClient.HttpClient
    const folders = ["root"]
    const files: Array<string> = []
    let made = 0
    const put = (parent: string, name: string): void => {
      files.push(`file${++made}`)
      fake.file(`file${made}`, parent, name, { content: `text ${made}` })
    }
    for (let i = 0; i < 12; i++) put("root", `Page ${i}.txt`)
    return {
      connector: sharePoint(
        {
          site: "Handbook",
          drive: { name: "Documents" },
          clientId: "app",
          tenantId: "t1",
          clientSecret: version,
          endpoint: `${fake.origin}/v1.0`,
          loginEndpoint: fake.origin
        },
        { http, secrets: secrets("s3cret"), retry }
      ),
      server: fake,
      files: fake.files,
      reads: () => true,
      lists: ({ url }) => url.pathname.endsWith("/delta") && !decodeURIComponent(url.search).includes("changes"),
      sample: "Page 3.txt",
      remove: () => fake.edit("file4", { deleted: true }),
      change: () => fake.edit("file4", { content: "something else" }),
      rename: () => {
        fake.edit("file4", { name: "Renamed.txt" })
        return "Renamed.txt"
      },
      secrets: ["s3cret"],
      edit: (next) => {
        const some = <A>(all: ReadonlyArray<A>): A => all[Math.floor(next() * all.length)]!
        const file = some(files)
        const inside = folders.filter((id) => id === "root" || !fake.item(id).deleted)
        switch (Math.floor(next() * 7)) {
          case 0:
            return put(some(inside), `Page ${++made}.txt`)
          case 1:
            return fake.item(file).deleted ? undefined : fake.edit(file, { content: `text ${++made}` })
          case 2:
            return fake.item(file).deleted ? undefined : fake.edit(file, { name: `Page ${++made}.txt` })
          case 3:
            return fake.item(file).deleted ? undefined : fake.edit(file, { parent: some(inside) })
          case 4:
            return fake.edit(file, { deleted: true })
          case 5: {
            const below = some(inside)
            return below === "root" ? undefined : fake.edit(below, next() < 0.5 ? { name: `Folder ${++made}` } : { deleted: true })
          }
          default:
            folders.push(`folder${++made}`)
            return fake.folder(`folder${made}`, some(inside), `Folder ${made}`)
        }
      }
    }
  }),
  jira: Effect.gen(function*() {
    const fake = yield* fakeJira("Cloud", 7)
    const http = yield* HttpClient.HttpClient
    let made = 0
    for (let i = 0; i < 12; i++) fake.add(`OPS-${++made}`)
    const updated = () => new Date().toISOString().replace("Z", "+0000")
    return {
      connector: jira({ server: fake.origin, email: "bot@acme.com", token: version, projects: ["OPS"], queries: [] }, {
        http,
        secrets: secrets("api-token"),
        retry
      }),
      server: fake,
      sample: "OPS/OPS-4",
      remove: () => void (fake.issues = fake.issues.filter(({ key }) => key !== "OPS-4")),
      change: () => {
        const issue = fake.issues.find(({ key }) => key === "OPS-4")!
        issue.fields = { ...issue.fields, summary: "Something else", updated: updated() }
      },
      secrets: ["api-token", Buffer.from("bot@acme.com:api-token").toString("base64")],
      reads: ({ url }) => /\/issue\/|\/attachment\//.test(url.pathname),
      lists: ({ body, url }) => url.pathname.includes("/search") && !body.includes("updated >="),
      edit: (next) => {
        if (next() < 0.3) fake.add(`OPS-${++made}`, { updated: updated() })
        else {
          const issue = fake.issues[Math.floor(next() * fake.issues.length)]
          if (issue !== undefined) issue.fields = { ...issue.fields, summary: `Summary ${++made}`, updated: updated() }
        }
      }
    }
  }),
  slack: Effect.gen(function*() {
    const fake = yield* fakeSlack(7)
    const http = yield* HttpClient.HttpClient
    const file = fake.host("F1", "notes.txt", "text of the file")
    fake.channels.set("C1", {
      name: "general",
      messages: Array.from({ length: 20 }, (_, i) => ({
        ts: at("2026-10-11T09:00:00Z", i),
        user: "U1",
        text: `message ${i}`,
        ...(i === 3 ? { files: [file] } : {}),
        ...(i === 5
          ? { thread_ts: at("2026-10-11T09:00:00Z", 5), reply_count: 1 }
          : i === 6
          ? { thread_ts: at("2026-10-11T09:00:00Z", 5) }
          : {})
      }))
    })
    return {
      connector: slack({ channels: [{ id: "C1" }], token: version, endpoint: `${fake.origin}/api` }, {
        http,
        secrets: secrets("xoxb-fake-token"),
        retry
      }),
      server: fake,
      reads: ({ url }) => url.pathname.startsWith("/files-pri/"),
      lists: ({ url }) => url.pathname.endsWith("/conversations.history"),
      sample: "C1/files/F1-notes.txt",
      remove: () => {
        fake.files.delete("F1")
        Object.assign(fake.channels.get("C1")?.messages[3] ?? {}, { files: [{ ...file, mode: "tombstone" }] })
      },
      secrets: ["xoxb-fake-token"]
    }
  }),
  storage: Effect.gen(function*() {
    const fake = yield* fakeGcs(7)
    const http = yield* HttpClient.HttpClient
    for (let i = 0; i < 12; i++) fake.put("bucket", `page ${i}.md`, `text ${i}`)
    return {
      connector: storage({ uris: ["gs://bucket/"] }, { http, google, environment: { STORAGE_EMULATOR_HOST: fake.origin }, retry }),
      server: fake,
      reads: ({ url }) => url.searchParams.get("alt") === "media",
      lists: ({ url }) => url.pathname.endsWith("/o"),
      sample: "gs://bucket/page 3.md",
      remove: () => fake.remove("bucket", "page 3.md"),
      change: () => fake.put("bucket", "page 3.md", "something else"),
      rename: () => {
        fake.remove("bucket", "page 3.md")
        fake.put("bucket", "renamed.md", "text 3")
        return "gs://bucket/renamed.md"
      },
      secrets: ["good-token"]
    }
  }),
  "storage (s3)": Effect.gen(function*() {
    const fake = yield* fakeS3(7)
    const http = yield* HttpClient.HttpClient
    for (let i = 0; i < 12; i++) fake.put("bucket", `page ${i}.md`, `text ${i}`)
    return {
      connector: storage({ uris: ["s3://bucket/"] }, { http, environment: { ...s3Credentials, AWS_ENDPOINT_URL: fake.origin }, retry }),
      server: fake,
      reads: ({ method, url }) => method === "GET" && url.pathname.endsWith(".md"),
      lists: ({ url }) => url.searchParams.has("list-type"),
      sample: "s3://bucket/page 3.md",
      remove: () => fake.remove("bucket", "page 3.md"),
      change: () => fake.put("bucket", "page 3.md", "something else"),
      rename: () => {
        fake.remove("bucket", "page 3.md")
        fake.put("bucket", "renamed.md", "text 3")
        return "s3://bucket/renamed.md"
      },
      secrets: [s3Credentials.AWS_SECRET_ACCESS_KEY]
    }
  })
}
