/** Bumped whenever the same text may give other terms: an index remembers it. Apart from the analysis, which is large. */
export const analysisVersion = "5"
