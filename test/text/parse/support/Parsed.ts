import type { DocumentProblem } from "../../../../src/domain/Errors.ts"
import { parse } from "../../../../src/text/parse/Parse.ts"
import { ReadFailure } from "../../../../src/text/parse/ReadFailure.ts"
import { defaultLimits, type Limits } from "../../../../src/text/Prepared.ts"
import { cpuTime } from "../../../support/CpuTime.ts"

const bytesOf = (content: string | Uint8Array): Uint8Array => typeof content === "string" ? Buffer.from(content) : content

/** Parses a file by its name and content; `shown` is a line a block: its kind, level and text. */
export const parsed = async (name: string, content: string | Uint8Array, limits: Partial<Limits> = {}) => {
  const document = await parse({ bytes: bytesOf(content), name, limits: { ...defaultLimits, ...limits } })
  const shown = document.blocks.map(({ kind, start, end, level }) =>
    `${kind}${level === undefined ? "" : ` ${level}`}: ${document.text.slice(start, end)}`
  )
  return { ...document, shown }
}

/** The problem and message that parsing ends with; fails the test when the file is read. */
export const refusal = async (
  name: string,
  content: string | Uint8Array,
  limits: Partial<Limits> = {}
): Promise<{ readonly problem: DocumentProblem; readonly message: string }> => {
  try {
    await parsed(name, content, limits)
  } catch (error) {
    if (error instanceof ReadFailure) return { problem: error.problem, message: error.message }
    throw error
  }
  throw new Error("the file was read")
}

/** Milliseconds of computing that parsing takes. */
export const timeOf = async (name: string, content: string): Promise<number> => {
  const start = cpuTime()
  await parsed(name, content)
  return cpuTime() - start
}
