/** A document's own properties: texts as they are in the document, by a name in lower case. */
export type Properties = Readonly<Record<string, string | ReadonlyArray<string>>>

/** Most characters of a value, and most values of a list: a longer property is read up to one more than that, and breaks its rule. */
export const longestValue = 1_000
export const longestList = 200
