import { any, type AnyMessage, duration, int32, list, map, message, of, type Of, string } from "../Message.ts"

// google.rpc and google.longrunning, whose JSON is the same in every API version.

const FieldViolation = message("google.rpc.BadRequest.FieldViolation", {
  field: string,
  description: string,
  reason: string,
  localizedMessage: of(message("google.rpc.LocalizedMessage", { locale: string, message: string }))
})
export const BadRequest = message("google.rpc.BadRequest", { fieldViolations: list(of(FieldViolation)) })
export const ErrorInfo = message("google.rpc.ErrorInfo", { reason: string, domain: string, metadata: map(string) })
export const RetryInfo = message("google.rpc.RetryInfo", { retryDelay: duration })
export const Help = message("google.rpc.Help", { links: list(of(message("google.rpc.Help.Link", { description: string, url: string }))) })

const details: ReadonlyArray<AnyMessage> = [BadRequest, ErrorInfo, RetryInfo, Help]

export const Status = message("google.rpc.Status", { code: int32, message: string, details: list(any(() => details)) })
export type Status = Of<typeof Status>

/** Body of an HTTP error. It is not a proto. `status` is the code's name. */
export const ErrorBody = message("google.rpc.HttpError", {
  error: of(message("google.rpc.HttpError.Status", {
    code: int32,
    message: string,
    status: string,
    details: list(any(() => details))
  }))
})
export type ErrorBody = Of<typeof ErrorBody>

export const Empty = message("google.protobuf.Empty", {})
