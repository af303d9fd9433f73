import { Effect, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { asServiceError, ServiceError } from "../../domain/Errors.ts"
import { hostsAt, serverAddress } from "../../domain/HttpAddress.ts"
import { refuseSecret, type SecretGrant } from "../../domain/SecretGrant.ts"
import type { SecretVersion } from "../../domain/Secret.ts"
import type { ImportSource, JiraAccount, SharePointLibrary, SlackWorkspace } from "../../domain/Import.ts"
import { microsoftLogin, slackAddress } from "../../domain/sources/BuiltInSources.ts"
import type { Connector, Listed } from "../../ports/Connector.ts"
import type { Secrets } from "../../ports/Secrets.ts"

/** Values that a server passes to connectors besides the request's settings. */
interface VendorContext {
  readonly secrets: Secrets["Service"]
  readonly http: HttpClient.HttpClient
}

type Make<Config> = (config: Config, context: VendorContext) => Connector

/** Makes the connectors of vendors' services: those of `sluice/connectors`. */
export interface VendorConnectors {
  readonly googleDrive: Make<{ readonly folders: ReadonlyArray<string>; readonly files: ReadonlyArray<string>; readonly endpoint?: string }>
  readonly slack: Make<SlackWorkspace & { readonly endpoint?: string }>
  readonly jira: Make<JiraAccount>
  readonly sharePoint: Make<SharePointLibrary & { readonly endpoint?: string; readonly loginEndpoint?: string }>
}

/** Base URLs that replace the vendors' own, such as those of a proxy. */
export interface VendorEndpoints {
  readonly googleDrive?: string
  readonly slack?: string
  /** Microsoft Graph, with its version: `https://graph.microsoft.us/v1.0`. */
  readonly sharePoint?: string
  readonly microsoftLogin?: string
}

export interface VendorOptions {
  readonly connectors: VendorConnectors
  readonly endpoints: VendorEndpoints
  /** Further Jira servers that the operator allows: `HOST`, or `HOST:PORT`. */
  readonly allowHosts: ReadonlyArray<string>
  /** Secrets that requests may name, each with the host that it may be sent to. Undefined: any secret, to any host. */
  readonly allowSecrets?: ReadonlyArray<SecretGrant> | undefined
  readonly context: VendorContext
}

export type VendorSource = Exclude<ImportSource, { readonly _tag: "storage" }>

/**
 * The vendors that imports requested over HTTP may read. The addresses of Slack, Google and Microsoft are fixed, or set by the
 * operator. A request names its Jira server, and a secret that is sent to it; so only Atlassian's hosts and those that the
 * operator allowed are accepted. Otherwise callers could have the server send secrets to their own hosts, or reach into its
 * network.
 */
export const vendors = ({ allowHosts, allowSecrets, connectors, context, endpoints }: VendorOptions) => {
  const { microsoftLogin: login = microsoftLogin, slack = slackAddress } = endpoints
  const isAllowed = hostsAt(allowHosts)
  const isJiraHost = (server: string): boolean => {
    const url = serverAddress(server)
    return url !== undefined &&
      (isAllowed(url) || (url.protocol === "https:" && url.port === "" && /^[a-z0-9-]+\.atlassian\.net$/.test(url.hostname)))
  }

  const refused = (accounts: ReadonlyArray<JiraAccount>): ServiceError | undefined => {
    const index = accounts.findIndex(({ server }) => !isJiraHost(server))
    const field = `import_rag_files_config.jira_source.jira_queries[${index}].server_uri`
    return index === -1 ? undefined : new ServiceError({
      code: "PERMISSION_DENIED",
      message: `${field}: this server does not send secrets there`,
      violations: [{ field, description: "is neither a host of atlassian.net nor an allowed host" }],
      fix: "start it with --allow-host HOST to allow your own Jira server"
    })
  }

  /** The error of the first secret that a caller may not have sent to its host; undefined where all may be. */
  const keyRefused = <A>(
    accounts: ReadonlyArray<A>,
    sent: (account: A) => { readonly version: SecretVersion; readonly to: URL | undefined },
    field: (index: number) => string
  ): ServiceError | undefined => {
    for (const [index, account] of accounts.entries()) {
      const { to, version } = sent(account)
      const error = refuseSecret(allowSecrets, version, to, `import_rag_files_config.${field(index)}.api_key_secret_version`)
      if (error !== undefined) return error
    }
    return undefined
  }

  /** The connector of a source, or the error where it is refused. */
  return (source: VendorSource): Connector | ServiceError => {
    switch (source._tag) {
      case "googleDrive": {
        const idsOf = (wanted: "file" | "folder") => source.resources.flatMap(({ id, kind }) => kind === wanted ? [id] : [])
        return connectors.googleDrive({ folders: idsOf("folder"), files: idsOf("file"), ...at(endpoints.googleDrive) }, context)
      }
      case "slack":
        return keyRefused(
          source.workspaces,
          ({ token }) => ({ version: token, to: URL.parse(slack) ?? undefined }),
          (index) => `slack_source.channels[${index}].api_key_config`
        ) ?? together(source.workspaces.map((workspace) => connectors.slack({ ...workspace, endpoint: slack }, context)))
      case "jira":
        return refused(source.accounts) ?? keyRefused(
          source.accounts,
          ({ server, token }) => ({ version: token, to: serverAddress(server) }),
          (index) => `jira_source.jira_queries[${index}].api_key_config`
        ) ?? together(source.accounts.map((account) => connectors.jira(account, context)))
      case "sharePoint": {
        const addresses = { ...at(endpoints.sharePoint), loginEndpoint: login }
        return keyRefused(
          source.libraries,
          ({ clientSecret }) => ({ version: clientSecret, to: URL.parse(login) ?? undefined }),
          (index) => `share_point_sources.share_point_sources[${index}].client_secret`
        ) ?? together(source.libraries.map((library) => connectors.sharePoint({ ...library, ...addresses }, context)))
      }
    }
  }
}

const at = (endpoint: string | undefined) => endpoint === undefined ? {} : { endpoint }

/** Several connectors as one, complete when all are. A failure of one to list does not stop the others. */
export const together = (connectors: ReadonlyArray<Connector>): Connector => {
  const [only, ...more] = connectors
  if (only !== undefined && more.length === 0) return only
  const owners = new Map<string, Connector>()
  return {
    kind: only?.kind ?? "storage",
    check: Effect.forEach(connectors, ({ check }) => check, { discard: true }),
    list: () =>
      Stream.fromIterable(connectors.entries()).pipe(Stream.flatMap(([index, connector]) =>
        connector.list().pipe(
          Stream.catch((error) =>
            Stream.succeed<Listed>({ _tag: "failed", path: `${connector.kind} source ${index + 1}`, error: asServiceError(error) })
          ),
          Stream.tap((listed) => Effect.sync(() => void (listed._tag === "item" && owners.set(listed.item.uri, connector))))
        )
      )),
    read: (item, maxBytes) => owners.get(item.uri)?.read(item, maxBytes) ?? Stream.fail(ServiceError.notFound(item.uri))
  }
}
