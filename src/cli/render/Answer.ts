import type { Answer } from "../../domain/Answer.ts"
import type { Context } from "../../domain/Retrieval.ts"
import { printable } from "../../domain/Text.ts"
import type { Output } from "../Output.ts"
import { place } from "./Place.ts"
import { excerpt, wrap } from "./Wrap.ts"

type Look = Pick<Output["Service"], "paint" | "width">

/** The answer, then what goes below it. */
export const renderAnswer = (answer: Answer, look: Look): string => {
  const footing = renderFooting(answer, look)
  return `${wrap(printable(answer.text), look.width)}${footing === "" ? "" : `\n${footing}`}`
}

/**
 * What goes below an answer: what a model said of which nothing could be verified, whether it was cut off, and after an empty line its sources, each with number, file, page
 * and the quoted words. Nothing where there is neither.
 */
export const renderFooting = ({ citations, truncated, unverified }: Answer, { paint, width }: Look): string => {
  const sources = citations.map((citation) => {
    const mark = `  [${citation.index}] `
    const indent = " ".repeat(mark.length)
    const quote = printable(citation.quote).replace(/\s+/g, " ").trim()
    return `${mark}${paint("cyan", place(citation))}\n${indent}${wrap(`"${quote}"`, width, indent)}`
  })
  return [
    ...(unverified === undefined || unverified === "" ? [] : [paint("dim", `It said, unverified: ${wrap(printable(unverified), width)}`)]),
    ...(truncated === true ? [paint("yellow", "(cut off: the model reached the most it may write)")] : []),
    ...(sources.length === 0 ? [] : ["", ...sources])
  ].join("\n")
}

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
