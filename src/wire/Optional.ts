import { Result } from "effect"
import { ServiceError } from "../domain/Errors.ts"

export { defined } from "../domain/Defined.ts"

/** The value of a required field; fails in the service's words where it is absent or empty. */
export const required = <A>(value: A | undefined, field: string): Result.Result<A, ServiceError> =>
  value === undefined || value === "" ? Result.fail(ServiceError.invalid(field, "Required field is not set.")) : Result.succeed(value)

/** Fails where a field is set that is not supported here. It is not ignored, because the caller relies on it. */
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

/** A string; undefined where it is empty, which in protos means absent. */
export const text = (value: string | undefined): string | undefined => (value === "" ? undefined : value)

/** A number; undefined where it is 0, which in protos means absent. */
export const count = (value: number | undefined): number | undefined => (value === 0 ? undefined : value)

/** Whether a field of any type is set: absent, zero and empty values are not. */
export const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== "" && value !== false && value !== 0 &&
  !(typeof value === "object" && Object.keys(value).length === 0)
