import type { HttpClient } from "effect/http"
import type { SecretVersion } from "../../src/domain/Secret.ts"
import type { RetryOptions } from "../../src/net/Retry.ts"
import type { Secrets } from "../../src/ports/Secrets.ts"

/** Channels of one Slack workspace. */
export interface SlackConfig {
  /** Each channel once. */
  readonly channels: ReadonlyArray<SlackChannel>
  /**
   * Holds a bot or user token (`xoxb-…`, `xoxp-…`) with the scopes `channels:history`, `channels:read`, `users:read`
   * and `files:read`; `groups:history`, `groups:read` and `users:read.email` for private channels.
   */
  readonly token: SecretVersion
  /** Of the Web API; files are taken from its origin too. Default `https://slack.com/api`. */
  readonly endpoint?: string
}

export interface SlackChannel {
  readonly id: string
  /** RFC 3339. Messages from this time on. */
  readonly start?: string
  /** RFC 3339. Messages before this time. */
  readonly end?: string
}

/** What surrounds the connector. */
export interface SlackContext {
  readonly secrets: Secrets["Service"]
  /** Default: one for the process, as `src/net/Http.ts` makes it. */
  readonly http?: HttpClient.HttpClient
  readonly retry?: RetryOptions
}
