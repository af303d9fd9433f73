/**
 * Connectors: sources of documents. Each is called with settings as a pipeline file writes them, and gives a source for
 * `Pipeline.make`; `connect` makes the connector itself.
 */
import { Effect } from "effect"
import { builtInSources } from "../src/domain/sources/BuiltInSources.ts"
import { type AnyConnectorDefinition, type ConnectorDefinition, connectorOf } from "../src/ports/Source.ts"
import { git as connectGit } from "./git/Git.ts"
import { googleDrive as connectGoogleDrive } from "./googleDrive/GoogleDrive.ts"
import { jira as connectJira } from "./jira/Jira.ts"
import { local as connectLocal } from "./local/Local.ts"
import { sharePoint as connectSharePoint } from "./sharePoint/SharePoint.ts"
import { slack as connectSlack } from "./slack/Slack.ts"
import { storage as connectStorage } from "./storage/Storage.ts"
import { web as connectWeb } from "./web/Web.ts"

type BuiltIn = typeof builtInSources
type Definition<K extends keyof BuiltIn, Short = never> = ConnectorDefinition<BuiltIn[K]["Encoded"] | Short, BuiltIn[K]["Type"], never>

/** A folder on this machine: `local("./docs")`, or with everything that a file may say of it. */
export const local: Definition<"local", string> = connectorOf({
  kind: "local",
  settings: builtInSources.local,
  shorthand: "path",
  paths: ["path"],
  connect: (settings, context) => Effect.sync(() => connectLocal(settings, context))
})

/** Object storage (`gs://`, `s3://`), and pages by address: `storage({ uris: ["gs://acme-docs/handbook/"] })`. */
export const storage: Definition<"storage"> = connectorOf({
  kind: "storage",
  settings: builtInSources.storage,
  connect: (settings, context) => Effect.sync(() => connectStorage(settings, context))
})

/** Google Drive folders and files, by id. */
export const googleDrive: Definition<"googleDrive"> = connectorOf({
  kind: "googleDrive",
  settings: builtInSources.googleDrive,
  connect: (settings, context) => Effect.sync(() => connectGoogleDrive(settings, context))
})

/** Slack channels, a file for each day: `slack({ channels: [{ id: "C012AB3CD" }], token: "projects/p/secrets/slack/versions/1" })`. */
export const slack: Definition<"slack"> = connectorOf({
  kind: "slack",
  settings: builtInSources.slack,
  connect: (settings, context) => Effect.sync(() => connectSlack(settings, context))
})

/** Jira issues with their comments, by project or by JQL query. */
export const jira: Definition<"jira"> = connectorOf({
  kind: "jira",
  settings: builtInSources.jira,
  connect: (settings, context) => Effect.sync(() => connectJira(settings, context))
})

/** A SharePoint document library, or a folder of it. */
export const sharePoint: Definition<"sharePoint"> = connectorOf({
  kind: "sharePoint",
  settings: builtInSources.sharePoint,
  connect: (settings, context) => Effect.sync(() => connectSharePoint(settings, context))
})

/** The files of a git repository at a ref: `git({ url: "https://github.com/acme/handbook.git", paths: ["docs/**"] })`. */
export const git: Definition<"git"> = connectorOf({
  kind: "git",
  settings: builtInSources.git,
  paths: ["path"],
  connect: (settings, context) => Effect.sync(() => connectGit(settings, context))
})

/** The pages of a web site, by its sitemap or by a crawl: `web("https://docs.acme.com/handbook/")`. */
export const web: Definition<"web", string> = connectorOf({
  kind: "web",
  settings: builtInSources.web,
  shorthand: "url",
  connect: (settings, context) => Effect.sync(() => connectWeb(settings, context))
})

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
