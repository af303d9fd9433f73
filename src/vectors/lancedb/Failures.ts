import { ServiceError } from "../../domain/Errors.ts"
import type { Fields } from "../Chunks.ts"

export const fields: Fields = { address: "lanceDb.uri", key: "lanceDb.uri", part: "lanceDb.uri" }

/** Meanings of the library's errors, which differ by their texts alone. */
const meanings: ReadonlyArray<readonly [pattern: RegExp, code: ServiceError["code"], fix?: string]> = [
  [/conflict|concurrent writers/i, "ABORTED"],
  [/No space left|os error 28|StorageFull|disk quota/i, "FAILED_PRECONDITION", "the disk is full: make room"],
  [/Read-only file system|os error 30/i, "FAILED_PRECONDITION", "name a folder that may be written to"],
  [
    /Permission denied|os error 13|AccessDenied|Forbidden|status: 403/i,
    "PERMISSION_DENIED",
    "let this user, or its credentials, write there"
  ],
  [
    /InvalidAccessKey|SignatureDoesNotMatch|Unauthorized|Unauthenticated|status: 401|CredentialsNotLoaded|no providers in chain/i,
    "UNAUTHENTICATED",
    "check the credentials of the object storage in the environment"
  ],
  [/NoSuchBucket|bucket.{0,40}not found/i, "FAILED_PRECONDITION", "name a bucket that is there"],
  [/Not a directory|File exists/i, "FAILED_PRECONDITION", "name a folder"],
  [/was not found|Not found:|os error 2\b/i, "NOT_FOUND"],
  [
    /ConnectError|Connection refused|dns error|timed out|status: (?:429|5\d\d)|SlowDown/i,
    "UNAVAILABLE",
    "check the address and the network"
  ]
]

/** The error of a failed call of the library. */
export const failureOf = (what: string, cause: unknown): ServiceError => {
  const said = cause instanceof Error ? cause.message : "no details"
  const [, code, fix] = meanings.find(([pattern]) => pattern.test(said)) ?? []
  // Locations in the library's source and a repetition of the error as its cause are cut off.
  const short = said.replace(/, \/\S+?\.rs:\d+:\d+|, location: Location \{[^}]*\}|, backtrace: \w+|\s+Caused by:.*$/gs, "").slice(0, 500)
  return new ServiceError({ code: code ?? "FAILED_PRECONDITION", message: `${what}: ${short}`, fix })
}
