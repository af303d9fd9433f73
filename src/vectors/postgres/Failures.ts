import { type Redacted } from "effect"
import { type Code, ServiceError } from "../../domain/Errors.ts"
import { redactText } from "../../domain/Redact.ts"
import type { Fields } from "../Chunks.ts"

export const fields: Fields = { address: "postgres.url", key: "postgres.url", part: "postgres.url" }

/** Ends a transaction that is to be rolled back. */
export class TakenBack extends Error {}

/** Fix where the user may not make the extension pgvector. */
export const extensionFix = "have a user with the necessary rights run CREATE EXTENSION vector"

/** PostgreSQL's code of a table that does not exist. */
export const undefinedTable = "42P01"
/** PostgreSQL's code of a full disk, or of shared memory that is too small. */
export const diskFull = "53100"

/** Meanings of error codes of PostgreSQL and the operating system, by their prefix. Source: PostgreSQL's manual, appendix A. */
const codes: ReadonlyArray<readonly [prefix: string, code: Code, fix?: string]> = [
  ["28", "UNAUTHENTICATED", "check the user and password in the secret, and that the server lets it in"],
  ["3D", "FAILED_PRECONDITION", "make the database, or check its name in the secret"],
  ["42703", "FAILED_PRECONDITION", "use another schema: a table of this name is somebody else's"],
  ["42704", "FAILED_PRECONDITION", "take out of the URL in the secret what the server does not know"],
  ["42501", "PERMISSION_DENIED", "let the user create a schema and tables in the database, or read and write those that are there"],
  ["25006", "FAILED_PRECONDITION", "name a server that takes writes, not a replica"],
  [diskFull, "FAILED_PRECONDITION", "the server's disk is full: make room"],
  ["53300", "RESOURCE_EXHAUSTED", "the server takes no more connections: let it take more, or have others close theirs"],
  ["53", "RESOURCE_EXHAUSTED", "see what the server lacks"],
  ["57014", "DEADLINE_EXCEEDED", "see what keeps the server busy"],
  ["57", "UNAVAILABLE", "see whether the server is starting or stopping"],
  ["08", "UNAVAILABLE", "check the host and port in the secret, and that a PostgreSQL server runs there"],
  ["40", "ABORTED"],
  ["55P03", "ABORTED"],
  ["ECONN", "UNAVAILABLE", "check the host and port in the secret, and that the server runs"],
  ["ENOTFOUND", "UNAVAILABLE", "check the host in the secret"],
  ["EAI_AGAIN", "UNAVAILABLE", "check the host in the secret, and that names are resolved"],
  ["EPIPE", "UNAVAILABLE"],
  ["ETIMEDOUT", "UNAVAILABLE", "check the host in the secret, and the network"],
  ["EHOSTUNREACH", "UNAVAILABLE", "check the host in the secret, and the network"],
  ["ENETUNREACH", "UNAVAILABLE", "check the host in the secret, and the network"],
  ["CONNECT", "UNAVAILABLE", "check the host and port in the secret, and that the server runs"],
  ["CONNECTION", "UNAVAILABLE"]
]

/** Whether an error is one of the connection, or one after which the server closes it. */
export const closesConnection = (cause: unknown): boolean =>
  cause instanceof Error &&
  (("code" in cause && typeof cause.code === "string" && /^(?:CONNECT|E)/.test(cause.code)) ||
    ("severity" in cause && (cause.severity === "FATAL" || cause.severity === "PANIC")))

/** The error of a failed statement or connection, with its fix. The `secrets` are redacted in its message. */
export const failureOf = (what: string, cause: unknown, secrets: ReadonlyArray<Redacted.Redacted<string>>): ServiceError => {
  const error = cause instanceof AggregateError ? cause.errors[0] as unknown : cause
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined
  const [, meaning, fix] = codes.find(([prefix]) => code?.startsWith(prefix) === true) ?? []
  const said = error instanceof Error ? redactText(error.message, secrets) : "no details"
  const field = `corpus.vectorDb.${fields.address}`
  return new ServiceError({
    code: meaning ?? "FAILED_PRECONDITION",
    message: `${field}: ${what}: ${said}`,
    reason: code,
    field,
    fix: code === "42501" && said.includes("extension") ? extensionFix : fix,
    cause: cause instanceof TakenBack ? cause : undefined
  })
}
