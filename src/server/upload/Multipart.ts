import { ServiceError } from "../../domain/Errors.ts"

export interface Part {
  /** Name of the part, in form-data. */
  readonly name?: string
  readonly fileName?: string
  /** Content type of the part, without parameters. */
  readonly type?: string
  readonly content: Uint8Array
}

const mostParts = 16
const longestHead = 16 * 1024

/** The parts of a multipart body (RFC 2046), be it `form-data` or `related`. @throws {ServiceError} */
export const parts = (contentType: string, body: Uint8Array): ReadonlyArray<Part> => {
  const boundary = /;\s*boundary=(?:"([^"\r\n]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType)?.slice(1).find((found) => found !== undefined)
  if (boundary === undefined) throw malformed("its content type has no boundary")
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const found: Array<Part> = []
  let at = bytes.indexOf(`--${boundary}`)
  if (at < 0) throw malformed("its boundary is not in it")
  for (;;) {
    at += boundary.length + 2
    if (bytes.toString("latin1", at, at + 2) === "--") return found
    const head = endOfHead(bytes, at)
    const end = bytes.indexOf(`\r\n--${boundary}`, head - 2)
    if (end < 0) throw malformed("a part has no end")
    if (found.length === mostParts) throw malformed(`it has more than ${mostParts} parts`)
    found.push({ ...headersOf(bytes.toString("utf8", at, head)), content: bytes.subarray(head, Math.max(head, end)) })
    at = end + 2
  }
}

/** Offset at which a part's content starts. A part may have no headers. */
const endOfHead = (bytes: Buffer, at: number): number => {
  const line = bytes.indexOf("\r\n", at)
  if (line >= 0 && bytes.toString("latin1", line, line + 4) === "\r\n\r\n") return line + 4
  const end = line < 0 ? -1 : bytes.indexOf("\r\n\r\n", line)
  if (end < 0 || end - at > longestHead) throw malformed("a part has no content")
  return end + 4
}

const headersOf = (head: string): Omit<Part, "content"> => {
  const disposition = /^content-disposition:(.*)$/im.exec(head)?.[1] ?? ""
  const name = parameter(disposition, "name")
  const fileName = parameter(disposition, "filename")
  const type = /^content-type:\s*([^;\r\n]+)/im.exec(head)?.[1]?.trim().toLowerCase()
  return {
    name,
    fileName,
    type
  }
}

const parameter = (header: string, name: string): string | undefined => {
  const found = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]+))`, "i").exec(header)
  return found?.[1]?.replaceAll(/\\(.)/g, "$1") ?? found?.[2]
}

const malformed = (why: string): ServiceError =>
  new ServiceError({ code: "INVALID_ARGUMENT", message: `the multipart body cannot be read: ${why}` })
