import type { BlockKind } from "../../../../src/domain/Document.ts"
import type { DocumentProblem } from "../../../../src/domain/Errors.ts"
import { defaultLimits, type Limits } from "../../../../src/text/Prepared.ts"
import { InnerFiles } from "../../../../src/text/parse/Reader.ts"
import { parse } from "../../../../src/text/parse/Parse.ts"
import { ReadFailure } from "../../../../src/text/parse/ReadFailure.ts"
import type { Reader } from "../../../../src/text/parse/Reader.ts"

export interface ReadBlock {
  readonly kind: BlockKind
  readonly text: string
  readonly level: number | undefined
  readonly page: number | undefined
}

/** Reads a document and gives each block with its text. */
export const readWith = async (reader: Reader, bytes: Uint8Array, limits: Partial<Limits> = {}) => {
  const all = { ...defaultLimits, ...limits }
  const inner = new InnerFiles(all, ({ bytes, name }) => parse({ bytes, name, limits: all }))
  const document = await reader({ bytes, name: "file", format: "test", limits: all, inner })
  const blocks = document.blocks.map(({ kind, start, end, level, page }): ReadBlock => ({
    kind,
    text: document.text.slice(start, end),
    level,
    page
  }))
  return { ...document, blocks, shown: blocks.map(({ kind, text }) => `${kind}: ${text}`) }
}

/** The problem a reader ends with; fails the test when it reads the document or throws anything else. */
export const problemOf = async (
  reader: Reader,
  bytes: Uint8Array,
  limits: Partial<Limits> = {}
): Promise<DocumentProblem> => {
  try {
    await readWith(reader, bytes, limits)
  } catch (error) {
    if (error instanceof ReadFailure) return error.problem
    throw error
  }
  throw new Error("the document was read")
}
