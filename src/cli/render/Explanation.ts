import type { Context, Explanation, TermWeight } from "../../domain/Retrieval.ts"
import { printable } from "../../domain/Text.ts"
import type { Output } from "../Output.ts"
import { place } from "./Place.ts"
import { table } from "./Table.ts"
import { wrap } from "./Wrap.ts"

type Look = Pick<Output["Service"], "paint" | "width">

const indent = "    "

/** Renders the query's terms, and why each context has its rank. */
export const renderExplanations = (contexts: ReadonlyArray<Context>, look: Look): string => {
  const terms = termsOf(contexts)
  const legend = contexts.some(({ explanation }) => explanation !== undefined)
    ? [
      look.paint("bold", "Looked for"),
      terms.length === 0
        ? "  no word of the query is in the corpus; vectors alone decide"
        : indented("  ", [termTable(terms, look.width - 2), ...sharedLine(contexts, terms, look.width - 2)].join("\n")),
      ""
    ]
    : []
  return [...legend, contexts.map((context, at) => explained(context, at, look)).join("\n\n")].join("\n")
}

/** A query's terms are the same for every context that it found first. */
const allTerms = (contexts: ReadonlyArray<Context>): ReadonlyArray<TermWeight> => {
  const several = contexts.some(({ explanation }) => explanation?.queries !== undefined)
  return (several ? contexts : contexts.slice(0, 1)).flatMap(({ explanation }) => explanation?.terms ?? [])
}

const isShared = ({ shared }: TermWeight): boolean => shared === true

/** The terms of the query's own words. The best contexts may share one of these too, which does not change what was written. */
const termsOf = (contexts: ReadonlyArray<Context>): ReadonlyArray<TermWeight> => {
  const own = allTerms(contexts).filter((term) => !isShared(term))
  return [...new Map(own.map((term) => [`${term.term} ${term.from ?? ""}`, term])).values()]
}

/** The terms that only the best contexts brought in. */
const sharedLine = (contexts: ReadonlyArray<Context>, own: ReadonlyArray<TermWeight>, width: number): ReadonlyArray<string> => {
  const shared = new Set(allTerms(contexts).filter(isShared).map(({ term }) => term))
  for (const { term } of own) shared.delete(term)
  return shared.size === 0 ? [] : [wrap(`and, weaker, what the best of those share: ${[...shared].join(", ")}`, width)]
}

/** Renders a query's terms. They are the same for every context; how often each context has them is not. */
const termTable = (terms: ReadonlyArray<TermWeight>, width: number): string =>
  table(
    [{ title: "term" }, { title: "written", flexible: true }, { title: "in chunks", align: "right" }],
    terms.map((t) => [t.term, written(t), String(t.documentFrequency)]),
    width
  )

const written = ({ corrected, factor, from, term }: TermWeight): string =>
  `${from ?? term}${corrected === true ? ", corrected" : ""}${factor === undefined ? "" : `, counts ${factor}`}`

const explained = (context: Context, at: number, { paint, width }: Look): string => {
  const e = context.explanation
  const head = `${`${at + 1}.`.padEnd(indent.length)}${paint("cyan", place(context))}`
  if (e === undefined) return `${head}\n${indent}this engine does not explain its order`
  return [
    head,
    ...[fusion(e), `words    ${e.sparse.toFixed(3)} BM25 = ${words(e)}`, ...ofFile(e), meaning(e), ...near(e), ...foundBy(e), ...ranked(e)]
      .map((line) => indent + wrap(line, width, `${indent}         `))
  ].join("\n")
}

const words = ({ terms }: Explanation): string => {
  const found = terms.filter(({ termFrequency }) => termFrequency > 0)
  const sum = (some: ReadonlyArray<TermWeight>) =>
    some.map(({ term, termFrequency, weight }) => `${term} ${weight.toFixed(3)} (${termFrequency}x)`).join(" + ")
  const own = found.filter((term) => !isShared(term))
  const shared = found.filter(isShared)
  return [own.length === 0 ? "no word of the query" : sum(own), ...(shared.length === 0 ? [] : [`shared: ${sum(shared)}`])].join(" + ")
}

const fusion = ({ alpha, fused, normalizedDense, normalizedSparse, proximity }: Explanation): string =>
  `${proximity === undefined ? "score" : "mixed"}    ${fused.toFixed(3)} = ${round(1 - alpha)} x words ${normalizedSparse.toFixed(3)} + ${
    round(alpha)
  } x meaning ${normalizedDense.toFixed(3)}`

const ofFile = ({ file, headed, named, options = 0, title }: Explanation): ReadonlyArray<string> => {
  const parts = [
    ...(file === undefined ? [] : [`${file.toFixed(3)} BM25 of the whole file`]),
    ...(title === undefined || title === 0 ? [] : [`${(title * 100).toFixed(0)}% of the query in its title or name`]),
    ...(headed === true ? ["a heading is the query"] : []),
    ...(named === true ? ["named by its number"] : []),
    ...(options > 0 ? ["explains the option"] : [])
  ]
  return parts.length === 0 ? [] : [`file     ${parts.join(", ")}`]
}

const meaning = ({ cosine, related }: Explanation): string =>
  `meaning  ${cosine.toFixed(3)} cosine${related === undefined ? "" : `, ${related.toFixed(3)} with what the best are about`}`

const near = ({ fused, proximity }: Explanation): ReadonlyArray<string> => {
  if (proximity === undefined) return []
  const { share, weight } = proximity
  const score = (fused + weight * share) / (1 + weight)
  return [
    `score    ${score.toFixed(3)} = (mixed + ${round(weight)} x ${share.toFixed(3)} of the query's words in a row) / ${round(1 + weight)}`
  ]
}

const foundBy = ({ queries = [] }: Explanation): ReadonlyArray<string> =>
  queries.length === 0 ? [] : [`found    ${queries.map(({ from, query }) => `at place ${from + 1} by "${printable(query)}"`).join(", ")}`]

const ranked = ({ ranked: r }: Explanation): ReadonlyArray<string> =>
  r === undefined ? [] : [`ranked   ${r.score.toFixed(3)}, from place ${r.from + 1}`]

/** Rounds for display: 1 - 0.2 is not exactly 0.8 in binary. */
const round = (n: number): string => String(Number(n.toFixed(4)))

const indented = (by: string, text: string): string => text.replace(/^/gm, by)
