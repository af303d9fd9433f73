/** What the kernel offers: words of texts, and vectors of words. */
export { classes, logarithms, packed, single, tabled, votes, weights } from "./Memory"
export { remembered } from "./Memory"
export {
  addToken,
  begin,
  count,
  counted,
  forget,
  hasSpeakers,
  lastToken,
  lettersSurveyed,
  numberOfSingle,
  scan,
  scanFirst,
  stretchFrom,
  stretchTo,
  survey,
  textAt,
  tokensAt,
  tokensFound,
  wordBytes,
  wordCount,
  wordLength,
  wordsSurveyed
} from "./Words"
export { describe, features, hasParts, isDescribed, isPart, packedVector } from "./Vectors"
