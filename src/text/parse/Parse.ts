import type { ParsedDocument } from "../../domain/Document.ts"
import type { Limits } from "../Prepared.ts"
import { guessOf } from "./Decode.ts"
import { formats, type FormatKey } from "./Formats.ts"
import { InnerFiles } from "./Reader.ts"
import { PropertyList } from "./PropertyList.ts"
import { BrokenInstallation, ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"
import { sniff } from "./Sniff.ts"

export interface ParseInput {
  readonly bytes: Uint8Array
  /** File name or path. Its extension is a hint; the bytes decide. */
  readonly name: string
  readonly mimeType?: string
  /** The format, where it is known already: a piece from the middle of a file may not show it. */
  readonly format?: FormatKey
  readonly limits: Limits
  /** Attachments are documents of their own, so the text only names them. */
  readonly opened?: boolean
  /** Returns all properties of the document. Default false. */
  readonly properties?: boolean
}

const readers = new Map<FormatKey, Reader>()

/**
 * Parses a file to text and blocks. Returns without a promise where the format's reader is loaded and synchronous. Throws or rejects with a
 * ReadFailure; `timeMs` and `memory` are enforced by the owner of the process.
 */
export const parse = (input: ParseInput): ParsedDocument | Promise<ParsedDocument> =>
  parseWith(
    input,
    new InnerFiles(input.limits, ({ bytes, mimeType, name }, inner) =>
      parseWith({ bytes, name, limits: input.limits, mimeType }, inner), input.opened)
  )

const parseWith = (input: ParseInput, inner: InnerFiles): ParsedDocument | Promise<ParsedDocument> => {
  const { bytes, limits, name } = input
  if (bytes.length === 0) throw new ReadFailure("empty", "the file has no content")
  if (bytes.length > limits.bytes) {
    throw new ReadFailure("limit", `the file has ${bytes.length} bytes, more than ${limits.bytes}`)
  }
  const format = input.format ?? sniff(bytes, name, limits, input.mimeType)
  const reader = readers.get(format)
  if (reader !== undefined) return read(reader, input, format, inner)
  return formats[format].load().then((loaded: Reader) => {
    readers.set(format, loaded)
    return read(loaded, input, format, inner)
  }, (error: unknown) => {
    throw new BrokenInstallation(`the reader of ${formats[format].name} cannot be loaded: ${error instanceof Error ? error.message : ""}`)
  })
}

const read = (
  reader: Reader,
  { bytes, limits, name, properties: wanted }: ParseInput,
  format: FormatKey,
  inner: InnerFiles
): ParsedDocument | Promise<ParsedDocument> => {
  const properties = wanted === true ? new PropertyList() : undefined
  const finished = (parsed: ParsedDocument): ParsedDocument => {
    const document = properties === undefined ? parsed : { ...parsed, properties: properties.properties }
    if (document.blocks.length === 0) throw new ReadFailure("empty", "the file has no text")
    const guess = guessOf(bytes)
    const remarks = [
      ...inner.remarks,
      ...(properties?.remarks ?? []),
      ...(guess === undefined ? [] : [{ kind: "charset", text: guess.charset, confidence: guess.confidence } as const])
    ]
    return remarks.length === 0 ? document : { ...document, remarks: [...document.remarks ?? [], ...remarks] }
  }
  try {
    const parsed = reader({ bytes, name, format, limits, inner, properties })
    if (!(parsed instanceof Promise)) return finished(parsed)
    return parsed.then(finished, (error: unknown) => {
      throw asFailure(error, format)
    })
  } catch (error) {
    throw asFailure(error, format)
  }
}

/**
 * The failure of a reader that threw: the file is not what its format promises. Libraries quote the file in their messages, so those are
 * not passed on.
 */
const asFailure = (error: unknown, format: FormatKey): ReadFailure | BrokenInstallation => {
  if (error instanceof ReadFailure || error instanceof BrokenInstallation) return error
  const why = error instanceof Error ? error.message : ""
  if (/call stack/i.test(why)) return new ReadFailure("limit", "nested too deeply")
  if (/string length|array length/i.test(why)) return new ReadFailure("limit", "more text than fits in a string")
  if (/allocation failed/i.test(why)) return new ReadFailure("memory", "not enough memory")
  return new ReadFailure("corrupt", `cannot be read as ${formats[format].name}`)
}
