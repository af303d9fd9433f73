import { Result } from "effect"
import { ServiceError } from "../domain/Errors.ts"

export { defined } from "../domain/Defined.ts"

/** A field that a request must have, in the service's words. */
export const required = <A>(value: A | undefined, field: string): Result.Result<A, ServiceError> =>
  value === undefined || value === "" ? Result.fail(ServiceError.invalid(field, "Required field is not set.")) : Result.succeed(value)

/** A field that is read, and that nothing here does anything with: refused where it says something, for whoever sends it relies on it. */
export const unserved = (value: unknown, field: string, fix?: string): Result.Result<void, ServiceError> =>
  isSet(value)
    ? Result.fail(
      new ServiceError({
        code: "UNIMPLEMENTED",
        message: `${field}: is not served on this machine`,
        violations: [{ field, description: "is not served on this machine" }],
        fix
      })
    )
    : Result.succeed(undefined)

/** Proto strings have no absence: empty is unset. */
export const text = (value: string | undefined): string | undefined => (value === "" ? undefined : value)

/** Likewise for numbers. */
export const count = (value: number | undefined): number | undefined => (value === 0 ? undefined : value)

/** Whether a field of whatever type says something: nothing, zero and empty do not. */
export const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== "" && value !== false && value !== 0 &&
  !(typeof value === "object" && Object.keys(value).length === 0)
