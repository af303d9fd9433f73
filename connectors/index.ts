/**
 * Connectors: sources of documents. Each is called with settings as a pipeline file writes them, and returns a source for `Pipeline.make`;
 * `connect` makes the connector itself. A connector's code is loaded when it is first connected.
 */
import { Effect } from "effect"
import { builtInSources } from "../src/domain/sources/BuiltInSources.ts"
import { type AnyConnectorDefinition, type ConnectorDefinition, connectorOf, defineConnector, type Source } from "../src/ports/Source.ts"
import type { RecordSource } from "./records/Records.ts"

type BuiltIn = typeof builtInSources
type Definition<K extends keyof BuiltIn, Short = never> = ConnectorDefinition<BuiltIn[K]["Encoded"] | Short, BuiltIn[K]["Type"], never>

/** A folder on this machine: `local("./docs")`, or with all settings that a pipeline file may have. */
export const local: Definition<"local", string> = connectorOf({
  kind: "local",
  settings: builtInSources.local,
  shorthand: "path",
  paths: ["path"],
  connect: (settings, context) => Effect.map(Effect.promise(() => import("./local/Local.ts")), ({ local }) => local(settings, context))
})

/** Object storage (`gs://`, `s3://`), and single pages by address: `storage({ uris: ["gs://acme-docs/handbook/"] })`. */
export const storage: Definition<"storage"> = connectorOf({
  kind: "storage",
  settings: builtInSources.storage,
  connect: (settings, context) =>
    Effect.map(Effect.promise(() => import("./storage/Storage.ts")), ({ storage }) => storage(settings, context))
})

/** Google Drive folders and files, by id. */
export const googleDrive: Definition<"googleDrive"> = connectorOf({
  kind: "googleDrive",
  settings: builtInSources.googleDrive,
  connect: (settings, context) =>
    Effect.map(Effect.promise(() => import("./googleDrive/GoogleDrive.ts")), ({ googleDrive }) => googleDrive(settings, context))
})

/** Slack channels, a file for each day: `slack({ channels: [{ id: "C012AB3CD" }], token: "projects/p/secrets/slack/versions/1" })`. */
export const slack: Definition<"slack"> = connectorOf({
  kind: "slack",
  settings: builtInSources.slack,
  connect: (settings, context) => Effect.map(Effect.promise(() => import("./slack/Slack.ts")), ({ slack }) => slack(settings, context))
})

/** Jira issues with their comments, by project or by JQL query. */
export const jira: Definition<"jira"> = connectorOf({
  kind: "jira",
  settings: builtInSources.jira,
  connect: (settings, context) => Effect.map(Effect.promise(() => import("./jira/Jira.ts")), ({ jira }) => jira(settings, context))
})

/** A SharePoint document library, or a folder of it. */
export const sharePoint: Definition<"sharePoint"> = connectorOf({
  kind: "sharePoint",
  settings: builtInSources.sharePoint,
  connect: (settings, context) =>
    Effect.map(Effect.promise(() => import("./sharePoint/SharePoint.ts")), ({ sharePoint }) => sharePoint(settings, context))
})

/** The files of a git repository at a ref: `git({ url: "https://github.com/acme/handbook.git", paths: ["docs/**"] })`. */
export const git: Definition<"git"> = connectorOf({
  kind: "git",
  settings: builtInSources.git,
  paths: ["path"],
  connect: (settings, context) => Effect.map(Effect.promise(() => import("./git/Git.ts")), ({ git }) => git(settings, context))
})

/** The pages of a web site, by its sitemap or by a crawl: `web("https://docs.acme.com/handbook/")`. */
export const web: Definition<"web", string> = connectorOf({
  kind: "web",
  settings: builtInSources.web,
  shorthand: "url",
  connect: (settings, context) => Effect.map(Effect.promise(() => import("./web/Web.ts")), ({ web }) => web(settings, context))
})

/**
 * Documents that the program holds itself: a map from paths to contents, or functions that list and read them. A run compares them with
 * the corpus, as it does any source: it reads what has another revision, and deletes what is no longer listed. `kind` names them in
 * errors, reports and addresses, and in the ledger: letters, digits and `-`, starting with a letter.
 *
 * @example
 * ```ts
 * const notes = new Map([["leave.md", "# Leave\n\nFive unused days carry over."]])
 * const articles = records("articles", {
 *   list: () => db.query("SELECT 'articles/' || id || '.md' AS path, updated_at AS revision FROM articles"),
 *   read: (path) => db.articleText(path)
 * })
 * Pipeline.make("site", { corpus: { displayName: "Site" }, sources: { notes: records("notes", notes), articles } })
 * ```
 */
export const records = (kind: string, documents: RecordSource | ReadonlyMap<string, string | Uint8Array>): Source =>
  defineConnector({
    kind,
    description: "Documents that the program holds itself.",
    fields: {},
    connect: () => Effect.map(Effect.promise(() => import("./records/Records.ts")), ({ records }) => records(kind, documents))
  })({})

export type { RecordContent, RecordListed, RecordSource } from "./records/Records.ts"

/** Every connector that comes with Sluice, for `Pipeline.load`. */
export const connectors: Readonly<Record<string, AnyConnectorDefinition>> = {
  local,
  storage,
  googleDrive,
  slack,
  jira,
  sharePoint,
  git,
  web
}
