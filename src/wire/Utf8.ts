// Offsets in the API count bytes of UTF-8; those in strings count code units of UTF-16.

/** Number of bytes in the first `end` code units of a string. */
export const byteOffset = (text: string, end = text.length): number => {
  let bytes = 0
  for (let i = 0; i < end; i++) bytes += width(text, i)
  return bytes
}

/** Offset in code units of the character that contains the byte at offset `bytes`. */
export const unitOffset = (text: string, bytes: number): number => {
  let passed = 0
  let i = 0
  while (i < text.length) {
    passed += text.codePointAt(i)! > 0xffff ? 4 : width(text, i)
    if (passed > bytes) return i
    i += text.codePointAt(i)! > 0xffff ? 2 : 1
  }
  return i
}

/** Bytes of one code unit. Each half of a surrogate pair counts two; a lone surrogate counts three, as U+FFFD. */
const width = (text: string, i: number): number => {
  const unit = text.charCodeAt(i)
  if (unit < 0x80) return 1
  if (unit < 0x800) return 2
  const high = unit >= 0xd800 && unit < 0xdc00
  const low = unit >= 0xdc00 && unit < 0xe000
  const paired = high ? isLow(text.charCodeAt(i + 1)) : low && isHigh(text.charCodeAt(i - 1))
  return paired ? 2 : 3
}

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000
const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
