import type { Settings } from "../domain/Settings.ts"
import { isSet } from "./Optional.ts"

/** The fields of a message beyond those that are read one by one; undefined where there are none. */
export const settingsOf = (message: object, read: ReadonlyArray<string>): Settings | undefined => {
  const rest = Object.entries(message).filter(([field, value]) => !read.includes(field) && isSet(value))
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}

/** Settings of {@link settingsOf} as fields of a message. The service checks settings that a caller made up. */
export const settingsIn = <A>(settings: Settings | undefined): Partial<A> => (settings ?? {}) as Partial<A>
