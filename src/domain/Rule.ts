import { type FieldViolation, ServiceError } from "./Errors.ts"

/** A broken rule of a request: the field as the API spells it, the rule, and what to do. */
export interface Broken extends FieldViolation {
  readonly fix?: string
}

/** A rule of `field`: broken, with this description and fix, unless it holds. */
export const violationUnless = (holds: boolean, field: string, description: string, fix?: string): ReadonlyArray<Broken> =>
  holds ? [] : [{ field, description, fix }]

/** The rule that a required text is there and not empty. */
export const isSet = (value: string | undefined, field: string): ReadonlyArray<Broken> =>
  violationUnless(value !== undefined && value !== "", field, "Required field is not set.")

/** Makes one error of all broken rules, with the first one's fix; undefined when none is broken. */
export const refusalOf = (broken: ReadonlyArray<Broken>): ServiceError | undefined => {
  const fix = broken.find((each) => each.fix !== undefined)?.fix
  return broken.length === 0 ? undefined : new ServiceError({
    code: "INVALID_ARGUMENT",
    message: broken.map(({ description, field }) => `${field}: ${description}`).join("\n"),
    violations: broken.map(({ description, field }) => ({ field, description })),
    fix
  })
}
