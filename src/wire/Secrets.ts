import { Result, Schema } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import { secretForm, SecretVersion } from "../domain/Secret.ts"

export const apiKey = (version: string): { readonly apiKeySecretVersion: string } => ({ apiKeySecretVersion: version })

const isSecretVersion = Schema.is(SecretVersion)

/** Parses the name of a secret version. Errors do not repeat the value: it could be the secret itself, put there by mistake. */
export const secretVersion = (value: string | undefined, field: string): Result.Result<SecretVersion, ServiceError> =>
  isSecretVersion(value) ? Result.succeed(value) : Result.fail(
    value === undefined || value === ""
      ? ServiceError.invalid(field, "Required field is not set.")
      : ServiceError.invalid(field, secretForm.rule, secretForm.fix)
  )
