import { Result } from "effect"
import { ServiceError } from "../domain/Errors.ts"

/** A field that a request must have, in the service's words. */
export const required = <A>(value: A | undefined, field: string): Result.Result<A, ServiceError> =>
  value === undefined || value === "" ? Result.fail(ServiceError.invalid(field, "Required field is not set.")) : Result.succeed(value)

type Defined<A> =
  & { readonly [K in keyof A as undefined extends A[K] ? never : K]: A[K] }
  & { readonly [K in keyof A as undefined extends A[K] ? K : never]?: Exclude<A[K], undefined> }

/** The object without its undefined properties: in the domain and in messages what is not there is absent. */
export const defined = <A extends object>(object: A): Defined<A> =>
  // The properties left are those the type says.
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<A>

/** Proto strings have no absence: empty is unset. */
export const text = (value: string | undefined): string | undefined => (value === "" ? undefined : value)

/** Likewise for numbers. */
export const count = (value: number | undefined): number | undefined => (value === 0 ? undefined : value)
