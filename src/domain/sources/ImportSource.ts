import type { ImportSource } from "../Import.ts"
import type { BuiltInSource } from "./BuiltInSources.ts"

/** A source in the form that an engine imports itself; undefined for one that only this machine can reach, or can limit. */
export const importSource = (source: BuiltInSource | { readonly _tag: "own" }): ImportSource | undefined => {
  if ("endpoint" in source || "loginEndpoint" in source || (source._tag !== "storage" && "maxFileSize" in source)) return undefined
  switch (source._tag) {
    case "local":
    case "git":
    case "web":
    case "own":
      return undefined
    case "storage":
      return source.uris.some((uri) => uri.startsWith("gs://")) ? { _tag: "storage", uris: source.uris } : undefined
    case "googleDrive":
      return {
        _tag: "googleDrive",
        resources: [
          ...source.folders.map((id) => ({ kind: "folder" as const, id })),
          ...source.files.map((id) => ({ kind: "file" as const, id }))
        ]
      }
    case "slack":
      return { _tag: "slack", workspaces: [{ channels: source.channels, token: source.token }] }
    case "jira": {
      const { email, projects, queries, server, token } = source
      return { _tag: "jira", accounts: [{ server, email, projects, queries, token }] }
    }
    case "sharePoint": {
      const { clientId, clientSecret, drive, folder, site, tenantId } = source
      return {
        _tag: "sharePoint",
        libraries: [{ site, drive, clientId, tenantId, clientSecret, folder }]
      }
    }
  }
}
