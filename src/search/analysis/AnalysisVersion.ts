/**
 * Version of the analysis, bumped whenever the same text may have other terms; an index remembers its version. It has its own file because
 * the analysis is large.
 */
export const analysisVersion = "8"
