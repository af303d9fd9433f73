/** A document's own properties: texts as they are in the document, by a name in lower case. */
export type Properties = Readonly<Record<string, string | ReadonlyArray<string>>>

/** Most characters of a value, and most values of a list. Readers stop at one more than that, so that the rule can refuse the property. */
export const longestValue = 1_000
export const longestList = 200
