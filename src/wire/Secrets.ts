import { Result, Schema } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import { SecretVersion } from "../domain/Secret.ts"

export const apiKey = (version: string): { readonly apiKeySecretVersion: string } => ({ apiKeySecretVersion: version })

const isSecretVersion = Schema.is(SecretVersion)

/** A refused value is not repeated: whoever put it there may have put the secret itself. */
export const secretVersion = (value: string | undefined, field: string): Result.Result<SecretVersion, ServiceError> =>
  isSecretVersion(value) ? Result.succeed(value) : Result.fail(ServiceError.invalid(
    field,
    value === undefined || value === ""
      ? "Required field is not set."
      : "must be a secret version, projects/{project}/secrets/{secret}/versions/{number or latest}"
  ))
