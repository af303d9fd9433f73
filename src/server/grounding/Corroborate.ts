import type { Claim, CorroborationRequest } from "../../wire/rag/Facts.ts"

/** Support below which a claim cites nothing: the service drops supports below it too. */
const defaultThreshold = 0.6
/** What is left of the support by a fact that lacks a number of the claim: with another number it is another claim. */
const otherNumber = 0.4
/** Claims looked at; the rest of a longer text is not. */
const mostClaims = 500

const sentences = new Intl.Segmenter("en", { granularity: "sentence" })

/**
 * How far facts bear out a text, sentence by sentence: a claim's score is the share of its terms, weighted by length,
 * that one fact has. No model reads anything, so that a negation or a swapped role goes unnoticed; what is not in the
 * facts at all does not.
 *
 * The score of the whole is the mean of the claims', by their number of terms. A text without terms claims nothing and
 * scores 1.
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
    // Longer words say more; none says more than twice what another does.
    const weight = Math.min(2, Math.max(1, term.length / 5))
    all += weight
    if (fact.has(term)) found += weight
    else if (/^\p{N}/u.test(term)) numbers = false
  }
  return round((found / all) * (numbers ? 1 : otherNumber))
}

const round = (value: number): number => Math.round(value * 1000) / 1000
