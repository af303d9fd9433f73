import { type Document, type ErrorCode, visit } from "yaml"
import type { Wording } from "../../domain/rag/Forms.ts"

const sentences: Partial<Record<ErrorCode, Wording>> = {
  BAD_ALIAS: { rule: "this alias cannot be followed" },
  BAD_DQ_ESCAPE: { rule: "this escape is not known inside double quotes", fix: "use single quotes, or double the backslash" },
  BAD_INDENT: { rule: "the indentation does not fit, or a bracket above is not closed" },
  BAD_SCALAR_START: { rule: "text cannot begin with this character", fix: "put it in quotes" },
  BLOCK_AS_IMPLICIT_KEY: { rule: "a nested mapping cannot begin on this line", fix: "put the value in quotes, or begin a new line" },
  BLOCK_IN_FLOW: { rule: "indented blocks cannot stand inside { } or [ ]" },
  MISSING_CHAR: { rule: "a character is missing here: a colon, a comma, a quote or a bracket" },
  MULTILINE_IMPLICIT_KEY: { rule: "a key must be on one line", fix: "check for a missing colon, a blank after it, or a quote" },
  MULTIPLE_DOCS: { rule: "there is more than one document in the file", fix: "keep one, and remove the --- between them" },
  TAB_AS_INDENT: { rule: "a tab cannot indent", fix: "use spaces" },
  TAG_RESOLVE_FAILED: { rule: "tags (!name) are not used in pipeline files", fix: "remove the tag" },
  UNEXPECTED_TOKEN: { rule: "this does not belong here", fix: "check the quotes, brackets and indentation before it" }
}

const unclosed: Wording = { rule: "this quote is not closed", fix: "close it, or write the text without quotes" }
const continued: Wording = {
  rule: "the next line is indented further, and so goes on with this value",
  fix: "indent its key as far as the key here"
}

const oftenCascades: ReadonlySet<ErrorCode> = new Set(["UNEXPECTED_TOKEN", "BAD_INDENT", "MISSING_CHAR", "MULTILINE_IMPLICIT_KEY"])

interface SyntaxError extends Wording {
  readonly offset: number
}

/**
 * The document's errors in order, without those that an earlier one usually causes. The parser's own messages can quote the
 * file, and so a secret in it; these do not.
 */
export const syntaxErrors = (document: Document.Parsed): ReadonlyArray<SyntaxError> => {
  const found = [...document.errors, ...document.warnings]
    .map(({ code, pos }) => ({ code, offset: pos[0] }))
    .sort((a, b) => a.offset - b.offset)
  return found
    .filter(({ code }, at) => at === 0 || !oftenCascades.has(code))
    .map(({ code, offset }) => {
      const quote = code === "MISSING_CHAR" ? quoteEndingAt(document, offset) : undefined
      if (quote !== undefined) return { offset: quote, ...unclosed }
      const several = found.some((other) => other.code === "MULTILINE_IMPLICIT_KEY" && other.offset === offset)
      if (code === "BLOCK_AS_IMPLICIT_KEY" && several) return { offset, ...continued }
      return { offset, ...sentences[code] ?? { rule: "this is not valid YAML" } }
    })
}

/** Where the quoted text begins that ends at `offset`: its closing quote is missing there. */
const quoteEndingAt = (document: Document.Parsed, offset: number): number | undefined => {
  let start: number | undefined
  visit(document, {
    Scalar: (_, { range, type }) => {
      if (type?.startsWith("QUOTE") === true && range?.[1] === offset) start = range[0]
    }
  })
  return start
}
