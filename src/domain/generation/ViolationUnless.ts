import type { Broken } from "../Rule.ts"

/** A rule: broken at `field` unless it holds. */
export const violationUnless = (holds: boolean, field: string, description: string, fix?: string): ReadonlyArray<Broken> =>
  holds ? [] : [{ field, description, fix }]

export const isSet = (value: string | undefined, field: string): ReadonlyArray<Broken> =>
  violationUnless(value !== undefined && value !== "", field, "Required field is not set.")
