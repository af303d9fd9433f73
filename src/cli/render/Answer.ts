import type { Answer, Citation } from "../../domain/Answer.ts"
import type { Context } from "../../domain/Retrieval.ts"
import { printable } from "../../domain/Text.ts"
import type { Output } from "../Output.ts"
import { place } from "./Place.ts"
import { excerpt, wrap } from "./Wrap.ts"

type Look = Pick<Output["Service"], "paint" | "width">

/** Renders an answer, and what goes below it. */
export const renderAnswer = (answer: Answer, look: Look): string => {
  const footing = renderFooting(answer, look)
  return `${renderText(printable(answer.text), look.width)}${footing === "" ? "" : `\n${footing}`}`
}

/** Wraps prose; fenced code is indented and keeps its lines. */
const renderText = (text: string, width: number): string => {
  let listing = false
  return text.split("\n").flatMap((line) => {
    if (line === "```") {
      listing = !listing
      return []
    }
    return [listing ? `    ${line}` : wrap(line, width)]
  }).join("\n")
}

/**
 * Renders what goes below an answer: a model's unverified text, the number of citations removed, whether the answer was
 * cut off, its probability, and after an empty line its sources, each with number, file, page, headings, the quoted words
 * and an address to open; for a refusal, the nearest passages instead. Empty where there is none of these.
 */
export const renderFooting = (
  { citations, confidence, grounded, nearest = [], removed, truncated, unverified }: Answer,
  { paint, width }: Look
): string => {
  const sources = (listed: ReadonlyArray<Citation>): ReadonlyArray<string> =>
    listed.map((citation) => {
      const { address, headings = [], index, quote } = citation
      const mark = `  [${index}] `
      const indent = " ".repeat(mark.length)
      const path = headings.length === 0 ? [] : [`${indent}${paint("bold", wrap(printable(headings.join(" > ")), width, indent))}`]
      return [
        `${mark}${paint("cyan", place(citation))}`,
        ...path,
        `${indent}${excerpt(`"${printable(quote).trim()}"`, width, indent, shownLines)}`,
        ...(address === undefined ? [] : [`${indent}${paint("dim", printable(address))}`])
      ].join("\n")
    })
  return [
    ...(unverified === undefined || unverified === "" ? [] : [paint("dim", `It said, unverified: ${wrap(printable(unverified), width)}`)]),
    ...(removed === undefined
      ? []
      : [paint("yellow", `(citations taken out: ${removed.unknown} of no passage, ${removed.unsupported} not borne out)`)]),
    ...(truncated === true ? [paint("yellow", "(cut off: the model reached the most it may write)")] : []),
    ...(grounded && confidence !== undefined ? [paint("dim", `(confidence ${confidence.toFixed(2)})`)] : []),
    ...(citations.length === 0 ? [] : ["", ...sources(citations)]),
    ...(nearest.length === 0 ? [] : ["", "Nearest passages, which do not answer it:", ...sources(nearest)])
  ].join("\n")
}

/** Lines shown of each context or quote; `--json` has all of it. */
const shownLines = 4

/** Renders retrieved contexts, best first. */
export const renderContexts = (contexts: ReadonlyArray<Context>, { paint, width }: Look): string =>
  contexts.map((context, at) => {
    const number = `${at + 1}.`.padEnd(4)
    const indent = " ".repeat(number.length)
    const distance = context.distance === undefined ? "" : `, distance ${context.distance.toFixed(4)}`
    return [
      `${number}${paint("cyan", place(context))}  score ${context.score.toFixed(4)}${distance}`,
      ...(context.headings.length === 0 ? [] : [`${indent}${paint("bold", wrap(printable(context.headings.join(" > ")), width, indent))}`]),
      `${indent}${excerpt(printable(context.text), width, indent, shownLines)}`,
      ...(context.alsoIn === undefined
        ? []
        : [`${indent}${paint("dim", wrap(`also in ${printable(alsoNamed(context.alsoIn))}`, width, indent))}`])
    ].join("\n")
  }).join("\n\n")

const alsoNamed = (alsoIn: NonNullable<Context["alsoIn"]>): string =>
  [...new Set(alsoIn.map(({ sourceDisplayName }) => sourceDisplayName))].join(", ")
