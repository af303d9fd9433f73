import type { Duration } from "effect"
import type { SecretVersion } from "../../src/ConnectorKit.ts"

/** The files of a repository at a ref. Exactly one of `url` and `path`. */
export interface GitConfig {
  /** `https://` or `ssh://`. */
  readonly url?: string
  /** A folder on this machine, bare or with a work tree; a relative one is relative to the process's folder. */
  readonly path?: string
  /** A branch, a tag or a full commit id. Default `HEAD`. */
  readonly ref?: string
  /** Globs of the files to take. Default: every file. */
  readonly paths?: ReadonlyArray<string>
  readonly exclude?: ReadonlyArray<string>
  /** Holds an access token, sent with `user` as basic authentication to `url` alone. */
  readonly token?: SecretVersion
  readonly user?: string
  /** The longest that one fetch may take. Default 10 minutes. */
  readonly timeout?: Duration.Duration
  /** Bytes; larger files are skipped. */
  readonly maxFileSize?: number
}
