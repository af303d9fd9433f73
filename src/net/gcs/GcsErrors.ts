import type { ServiceError } from "../../domain/Errors.ts"
import { deniedFix, loginFix } from "../GoogleErrors.ts"

/** Explains an error of Cloud Storage, and its fix. `role` is the role that the call needs. */
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
      return error.with({ fix: deniedFix(error.reason, "storage.googleapis.com", `give the account ${role} on gs://${bucket}`) })
    case "NOT_FOUND":
      return /bucket/i.test(error.message.replaceAll(uri, "")) || name === undefined
        ? error.with({ message: `the bucket gs://${bucket} does not exist`, fix: "correct the bucket's name" })
        : error.with({ message: `${uri} was not found`, fix: "correct the address; a folder's address ends in /" })
    case "FAILED_PRECONDITION":
      return error.with({ code: "ABORTED", message: `${uri} changed meanwhile` })
    case "INVALID_ARGUMENT":
      return /requester pays/i.test(error.message)
        ? error.with({
          code: "FAILED_PRECONDITION",
          message: `gs://${bucket} is a requester-pays bucket`,
          fix: "set userProject to the project that pays for reading it"
        })
        : error
    default:
      return error
  }
}
