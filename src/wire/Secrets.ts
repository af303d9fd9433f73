import { Result, Schema } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import { secretForm, SecretVersion } from "../domain/Secret.ts"

export const apiKey = (version: string): { readonly apiKeySecretVersion: string } => ({ apiKeySecretVersion: version })

const isSecretVersion = Schema.is(SecretVersion)

/** A refused value is not repeated: whoever put it there may have put the secret itself. */
export const secretVersion = (value: string | undefined, field: string): Result.Result<SecretVersion, ServiceError> =>
  isSecretVersion(value) ? Result.succeed(value) : Result.fail(
    value === undefined || value === ""
      ? ServiceError.invalid(field, "Required field is not set.")
      : ServiceError.invalid(field, secretForm.rule, secretForm.fix)
  )
