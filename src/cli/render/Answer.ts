import type { Answer } from "../../domain/Answer.ts"
import type { Context } from "../../domain/Retrieval.ts"
import { printable } from "../../domain/Text.ts"
import type { Output } from "../Output.ts"
import { place } from "./place.ts"
import { excerpt, wrap } from "./wrap.ts"

type Look = Pick<Output["Service"], "paint" | "width">

/** The answer, then its sources: number, file, page and the quoted words. */
export const renderAnswer = (answer: Answer, look: Look): string => {
  const citations = renderCitations(answer, look)
  return `${wrap(printable(answer.text), look.width)}${citations === "" ? "" : `\n${citations}`}`
}

/** The sources of an answer, below an empty line; nothing where there are none. */
export const renderCitations = ({ citations }: Answer, { paint, width }: Look): string =>
  citations.flatMap((citation, at) => {
    const mark = `  [${citation.index}] `
    const indent = " ".repeat(mark.length)
    const quote = printable(citation.quote).replace(/\s+/g, " ").trim()
    return [...(at === 0 ? [""] : []), `${mark}${paint("cyan", place(citation))}`, `${indent}${wrap(`"${quote}"`, width, indent)}`]
  }).join("\n")

/** Lines shown of each context; `--json` has all of it. */
const shownLines = 4

/** Retrieved contexts, best first. */
export const renderContexts = (contexts: ReadonlyArray<Context>, { paint, width }: Look): string =>
  contexts.map((context, at) => {
    const number = `${at + 1}.`.padEnd(4)
    const indent = " ".repeat(number.length)
    const distance = context.distance === undefined ? "" : `, distance ${context.distance.toFixed(4)}`
    return [
      `${number}${paint("cyan", place(context))}  score ${context.score.toFixed(4)}${distance}`,
      ...(context.headings.length === 0 ? [] : [`${indent}${paint("bold", wrap(printable(context.headings.join(" > ")), width, indent))}`]),
      `${indent}${excerpt(printable(context.text), width, indent, shownLines)}`
    ].join("\n")
  }).join("\n\n")
