import type { Settings } from "../domain/Settings.ts"
import { isSet } from "./Optional.ts"

/** What a message says beyond the fields that are read from it one by one. */
export const settingsOf = (message: object, read: ReadonlyArray<string>): Settings | undefined => {
  const rest = Object.entries(message).filter(([field, value]) => !read.includes(field) && isSet(value))
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}

/** The same back in a message. What is wrong with settings that a caller made up, the service says. */
export const settingsIn = <A>(settings: Settings | undefined): Partial<A> => (settings ?? {}) as Partial<A>
