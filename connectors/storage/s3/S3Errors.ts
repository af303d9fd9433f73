import { ServiceError } from "../../../src/domain/Errors.ts"
import { codeOfHttp } from "../../../src/domain/Codes.ts"
import { redactText } from "../../../src/net/Redact.ts"
import { parseError } from "./ListXml.ts"

/** S3's error codes that say more than the status they come with. */
const codes: Readonly<Record<string, ServiceError["code"]>> = {
  InvalidAccessKeyId: "UNAUTHENTICATED",
  SignatureDoesNotMatch: "UNAUTHENTICATED",
  ExpiredToken: "UNAUTHENTICATED",
  InvalidToken: "UNAUTHENTICATED",
  RequestTimeTooSkewed: "UNAUTHENTICATED",
  SlowDown: "RESOURCE_EXHAUSTED",
  TooManyRequests: "RESOURCE_EXHAUSTED",
  RequestTimeout: "UNAVAILABLE",
  InternalError: "INTERNAL",
  InvalidObjectState: "FAILED_PRECONDITION",
  PreconditionFailed: "ABORTED"
}

/** A refusal by S3, with the bucket named and what mends it. */
export const s3Error = (what: string, bucket: string, key: string | undefined, failure: {
  readonly status: number
  readonly body: string
  readonly retryAfter?: number
}): ServiceError => {
  const { code: reason, message } = parseError(failure.body)
  const code = (reason === undefined ? undefined : codes[reason]) ?? (failure.status === 412 ? "ABORTED" : codeOfHttp(failure.status))
  const uri = key === undefined ? `s3://${bucket}` : `s3://${bucket}/${key}`
  const said = reason === undefined ? "" : `: ${reason}${message === undefined ? "" : `, ${redactText(message)}`}`
  const words = wordsOf(code, reason, bucket, uri)
  return new ServiceError({
    code,
    message: words.message ?? `${what} answered ${failure.status}${said}`,
    ...(words.fix === undefined ? {} : { fix: words.fix }),
    ...(reason === undefined ? {} : { reason }),
    ...(failure.retryAfter === undefined ? {} : { retryAfter: failure.retryAfter })
  })
}

const wordsOf = (
  code: ServiceError["code"],
  reason: string | undefined,
  bucket: string,
  uri: string
): { readonly message?: string; readonly fix?: string } => {
  if (reason === "RequestTimeTooSkewed") return { fix: "Set this machine's clock." }
  switch (code) {
    case "UNAUTHENTICATED":
      return { fix: "Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; session tokens expire." }
    case "PERMISSION_DENIED":
      return { fix: `Allow s3:ListBucket on ${bucket} and s3:GetObject on ${bucket}/*; a requester-pays bucket needs s3.requesterPays.` }
    case "NOT_FOUND":
      return reason === "NoSuchBucket"
        ? { message: `the bucket s3://${bucket} does not exist`, fix: "Correct the bucket's name, or the endpoint." }
        : { message: `${uri} was not found`, fix: "Correct the address; what lies under a folder ends in /." }
    case "ABORTED":
      return { message: `${uri} changed meanwhile` }
    default:
      return reason === "InvalidObjectState" ? { message: `${uri} is archived`, fix: "Restore it from the archive class first." } : {}
  }
}
