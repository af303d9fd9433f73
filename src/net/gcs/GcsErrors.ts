import type { ServiceError } from "../../domain/Errors.ts"
import { deniedFix, loginFix } from "../GoogleErrors.ts"

/** What a refusal by Cloud Storage means and what mends it. `role` is what the call needs. */
export const gcsError = (
  bucket: string,
  name: string | undefined,
  role: "roles/storage.objectViewer" | "roles/storage.objectUser"
) =>
(error: ServiceError): ServiceError => {
  const uri = name === undefined ? `gs://${bucket}` : `gs://${bucket}/${name}`
  switch (error.code) {
    case "UNAUTHENTICATED":
      return error.status === 401 ? error.with({ fix: loginFix }) : error
    case "PERMISSION_DENIED":
      return error.with({ fix: deniedFix(error.reason, "storage.googleapis.com", `Give the account ${role} on gs://${bucket}.`) })
    case "NOT_FOUND":
      return /bucket/i.test(error.message.replaceAll(uri, "")) || name === undefined
        ? error.with({ message: `the bucket gs://${bucket} does not exist`, fix: "Correct the bucket's name." })
        : error.with({ message: `${uri} was not found`, fix: "Correct the address; what lies under a folder ends in /." })
    case "FAILED_PRECONDITION":
      return error.with({ code: "ABORTED", message: `${uri} changed meanwhile` })
    case "INVALID_ARGUMENT":
      return /requester pays/i.test(error.message)
        ? error.with({
          code: "FAILED_PRECONDITION",
          message: `gs://${bucket} is a requester-pays bucket`,
          fix: "Set userProject to the project that pays for reading it."
        })
        : error
    default:
      return error
  }
}
