/** What a document says of itself: texts as they are written there, by a name in lower case. */
export type Properties = Readonly<Record<string, string | ReadonlyArray<string>>>

/** Characters of one value, and values of one list: a property that has more is read to one more than that, and breaks its rule. */
export const longestValue = 1_000
export const longestList = 200
