/** A JQL string. */
export const quote = (text: string): string => `"${text.replace(/([\\"])/g, "\\$1")}"`

/** Immutable, so that what changes while it is listed does not move. */
const order = "ORDER BY created ASC, key ASC"

/** A condition in the order that listings need, narrowed to what was updated in the last so many minutes. */
export const listingJql = (condition: string, minutes?: number): string => {
  const clauses = [
    ...(condition === "" ? [] : [minutes === undefined ? condition : `(${condition})`]),
    // Absolute times would be read in the account's own time zone.
    ...(minutes === undefined ? [] : [`updated >= "-${minutes}m"`])
  ]
  return `${clauses.join(" AND ")} ${order}`.trim()
}

/** A query without its ORDER BY, which may also stand in a quoted string. */
export const conditionOf = (jql: string): string => {
  const bare = jql.replace(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/gs, (quoted) => "_".repeat(quoted.length))
  const at = bare.search(/(?:^|[\s)])order\s+by\s/i)
  return (at === -1 ? jql : jql.slice(0, bare[at] === ")" ? at + 1 : at)).trim()
}
