/** Receives the tokens of an RTF file, in order. Line ends of the source mean nothing and are left out. */
export interface RtfHandler {
  readonly open: () => void
  readonly close: () => void
  /** A control word, or a control symbol such as `*` or `~`. */
  readonly word: (name: string, parameter: number | undefined) => void
  /** One byte of text in the current code page. */
  readonly byte: (value: number) => void
  /** Raw bytes of a picture or an object. */
  readonly raw: (bytes: Buffer) => void
}

const backslash = 0x5c
const isLetter = (byte: number): boolean => byte >= 0x61 && byte <= 0x7a || byte >= 0x41 && byte <= 0x5a
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39

/** Splits RTF into tokens (Rich Text Format 1.9.1, "RTF Syntax"). A file that is cut off is read as far as it goes. */
export const scanRtf = (bytes: Uint8Array, handler: RtfHandler): void => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  while (at < file.length) {
    const byte = file[at++] ?? 0
    if (byte === 0x7b) handler.open()
    else if (byte === 0x7d) handler.close()
    else if (byte === backslash) at = control(file, at, handler)
    else if (byte !== 0x0a && byte !== 0x0d && byte !== 0) handler.byte(byte)
  }
}

/** Reads what follows a backslash and returns the position after it. */
const control = (file: Buffer, start: number, handler: RtfHandler): number => {
  const first = file[start] ?? 0
  if (!isLetter(first)) return symbol(file, start, first, handler)
  let at = start
  while (at < file.length && isLetter(file[at] ?? 0)) at++
  const name = file.toString("latin1", start, at)
  const digits = file[at] === 0x2d ? at + 1 : at
  let end = digits
  while (end < file.length && isDigit(file[end] ?? 0)) end++
  const parameter = end > digits ? Number(file.toString("latin1", at, end)) : undefined
  if (parameter !== undefined) at = end
  if (file[at] === 0x20) at++
  if (name === "bin") {
    const end = at + Math.max(0, parameter ?? 0)
    handler.raw(file.subarray(at, end))
    return end
  }
  handler.word(name, parameter)
  return at
}

const symbol = (file: Buffer, start: number, first: number, handler: RtfHandler): number => {
  if (first === 0x27) {
    const value = Number.parseInt(file.toString("latin1", start + 1, start + 3), 16)
    if (!Number.isNaN(value)) handler.byte(value)
    return start + 3
  }
  if (first === backslash || first === 0x7b || first === 0x7d) handler.byte(first)
  else if (first === 0x0a || first === 0x0d) handler.word("par", undefined)
  else handler.word(String.fromCharCode(first), undefined)
  return start + 1
}
