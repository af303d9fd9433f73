import type { Code } from "./Errors.ts"

/** Each google.rpc code with its gRPC number and HTTP status. Source: google/rpc/code.proto. */
const table: ReadonlyArray<readonly [code: Code, grpc: number, http: number]> = [
  ["CANCELLED", 1, 499],
  ["UNKNOWN", 2, 500],
  ["INVALID_ARGUMENT", 3, 400],
  ["DEADLINE_EXCEEDED", 4, 504],
  ["NOT_FOUND", 5, 404],
  ["ALREADY_EXISTS", 6, 409],
  ["PERMISSION_DENIED", 7, 403],
  ["RESOURCE_EXHAUSTED", 8, 429],
  ["FAILED_PRECONDITION", 9, 400],
  ["ABORTED", 10, 409],
  ["OUT_OF_RANGE", 11, 400],
  ["UNIMPLEMENTED", 12, 501],
  ["INTERNAL", 13, 500],
  ["UNAVAILABLE", 14, 503],
  ["DATA_LOSS", 15, 500],
  ["UNAUTHENTICATED", 16, 401]
]

const rows = new Map(table.map((row) => [row[0], row]))

/** The number of a code in gRPC and in google.rpc.Status. */
export const grpcStatusOf = (code: Code): number => rows.get(code)?.[1] ?? 2

/** The code of a gRPC number; an unassigned number is UNKNOWN, as gRPC specifies. */
export const codeOfGrpc = (status: number | undefined): Code => table.find((row) => row[1] === status)?.[0] ?? "UNKNOWN"

/** The HTTP status that answers a failed call. */
export const httpStatusOf = (code: Code): number => rows.get(code)?.[2] ?? 500

/** Meaning of HTTP statuses that belong to several codes, or to none, where the body does not say. */
const ofStatus: Readonly<Record<number, Code>> = {
  400: "INVALID_ARGUMENT",
  408: "DEADLINE_EXCEEDED",
  409: "ABORTED",
  412: "FAILED_PRECONDITION",
  413: "OUT_OF_RANGE",
  416: "OUT_OF_RANGE",
  422: "INVALID_ARGUMENT",
  500: "INTERNAL",
  502: "UNAVAILABLE"
}

/** The code of an HTTP status, where the body does not state one: proxies and front ends answer without a code. */
export const codeOfHttp = (status: number): Code =>
  ofStatus[status] ?? table.find((row) => row[2] === status)?.[0] ??
    (status >= 500 ? "UNAVAILABLE" : status >= 400 ? "FAILED_PRECONDITION" : "UNKNOWN")
