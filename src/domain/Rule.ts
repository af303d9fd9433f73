import { type FieldViolation, ServiceError } from "./Errors.ts"

/** A broken rule of a request: the field as the API spells it, the rule, and what to do. */
export interface Broken extends FieldViolation {
  readonly fix?: string
}

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
