import type { Claim, CorroborationRequest } from "../../wire/rag/Facts.ts"

/** Default of the least support for a citation: below it a claim cites nothing, as on the hosted service. */
const defaultThreshold = 0.6
/** Factor for the support of a fact that lacks a number of the claim: with another number it is another claim. */
const otherNumber = 0.4
/** Most claims examined; the rest of a longer text is ignored. */
const mostClaims = 500

const sentences = new Intl.Segmenter("en", { granularity: "sentence" })

/**
 * Scores how far facts support a text, sentence by sentence. A claim's score is the largest share of its terms, weighted by
 * length, in one fact. No model is involved: claims that are absent from the facts are noticed, but a negation or a swapped
 * role is not.
 *
 * The score of the text is the mean over its claims, weighted by their number of terms. A text without terms claims nothing
 * and scores 1.
 */
export const corroborate = (
  { facts, text, threshold = defaultThreshold }: CorroborationRequest,
  terms: (text: string) => ReadonlyArray<string>
): { readonly score: number; readonly claims: ReadonlyArray<Claim> } => {
  const known = facts.map(({ chunk, summary, title }) => new Set(terms(`${title ?? ""}\n${summary ?? chunk?.text ?? ""}`)))
  const claims: Array<Claim> = []
  let [sum, weights] = [0, 0]
  for (const { index, segment } of sentences.segment(text)) {
    if (claims.length === mostClaims) break
    const wanted = [...new Set(terms(segment))]
    if (wanted.length === 0) continue
    const scores = known.map((fact) => support(wanted, fact))
    const score = Math.max(0, ...scores)
    const start = index + (segment.length - segment.trimStart().length)
    claims.push({
      start,
      end: start + segment.trim().length,
      facts: scores.flatMap((each, fact) => (each > 0 && each >= threshold ? [fact] : [])),
      score
    })
    sum += score * wanted.length
    weights += wanted.length
  }
  return { score: weights === 0 ? 1 : round(sum / weights), claims }
}

const support = (wanted: ReadonlyArray<string>, fact: ReadonlySet<string>): number => {
  let [found, all] = [0, 0]
  let numbers = true
  for (const term of wanted) {
    // Longer words carry more meaning; the weight is at most twice that of a short word.
    const weight = Math.min(2, Math.max(1, term.length / 5))
    all += weight
    if (fact.has(term)) found += weight
    else if (/^\p{N}/u.test(term)) numbers = false
  }
  return round((found / all) * (numbers ? 1 : otherNumber))
}

const round = (value: number): number => Math.round(value * 1000) / 1000
