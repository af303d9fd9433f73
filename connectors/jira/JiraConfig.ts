import type { HttpClient } from "effect/http"
import type { SecretVersion } from "../../src/domain/Secret.ts"
import type { RetryOptions } from "../../src/net/Retry.ts"
import type { Secrets } from "../../src/ports/Secrets.ts"

/** Issues of one Jira, Cloud or Server (Data Center). At least one project or query. */
export interface JiraConfig {
  /** Host name or `https://` address, with a context path where there is one. Plain http is for this machine only. */
  readonly server: string
  /** Of the account that the token belongs to; on Server the user name's place in basic authentication. */
  readonly email: string
  /** Keys, taken whole. */
  readonly projects?: ReadonlyArray<string>
  /** JQL. Their ORDER BY is not kept. */
  readonly queries?: ReadonlyArray<string>
  /** Holds the API token; on Server the password. */
  readonly token: SecretVersion
}

/** What surrounds the connector. */
export interface JiraContext {
  readonly secrets: Secrets["Service"]
  /** Default: one for the process, as `src/net/Http.ts` makes it. */
  readonly http?: HttpClient.HttpClient
  readonly retry?: RetryOptions
}
