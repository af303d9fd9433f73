/** A part may grow by this share of its size while a place inside fewer brackets is sought: records stay whole. */
const stretch = 0.25

/** Most brackets around a cut: each part repeats them, which must be short. */
const deepest = 20

interface Open {
  readonly bracket: number
  /** The key of the container in an object, with its quotes; undefined in an array. */
  readonly key: Buffer | undefined
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Cuts a JSON text into several of some `bytes` each, between members, each with the containers around it opened and closed again.
 * `undefined` where it is not one value with matching brackets, or cannot be cut.
 */
export const jsonParts = (file: Buffer, bytes: number): ReadonlyArray<() => Buffer> | undefined => {
  const parts: Array<() => Buffer> = []
  const open: Array<Open> = []
  /** The last key read at each depth. */
  const keys: Array<Buffer | undefined> = []
  let outer: ReadonlyArray<Open> = []
  let start = 0
  let text = { start: 0, end: 0 }
  let values = 0
  let best: { readonly at: number; readonly open: ReadonlyArray<Open> } | undefined
  const take = ({ at: end, open: after }: NonNullable<typeof best>): void => {
    const [before, from] = [outer, start]
    parts.push(() => Buffer.concat([opening(before), file.subarray(from, end), closing(after)]))
    outer = after
    start = end + 1
    best = undefined
  }
  for (let at = 0; at < file.length; at++) {
    const byte = file[at]!
    if (byte === quote) {
      const end = endOfString(file, at)
      if (end < 0) return undefined
      text = { start: at, end }
      at = end - 1
    } else if (byte === colon) keys[open.length] = file.subarray(text.start, text.end)
    else if (byte === openBrace || byte === openBracket) {
      if (open.length === 0 && values++ > 0) return undefined
      open.push({ bracket: byte, key: open.at(-1)?.bracket === openBrace ? keys[open.length] : undefined })
    } else if (byte === closeBrace || byte === closeBracket) {
      if (open.pop()?.bracket !== (byte === closeBrace ? openBrace : openBracket)) return undefined
    } else if (byte === comma) {
      if (open.length === 0) return undefined
      const length = at - start
      if (length < bytes || open.length > deepest) continue
      if (best === undefined || open.length < best.open.length) best = { at, open: [...open] }
      if (best.open.length === 1 || length >= bytes * (1 + stretch)) take(best)
    }
  }
  if (open.length > 0 || values === 0) return undefined
  take({ at: file.length, open: [] })
  return parts.length === 1 ? undefined : parts
}

/** The offset after a string, -1 where it does not end. */
const endOfString = (file: Buffer, start: number): number => {
  for (let at = file.indexOf(quote, start + 1); at >= 0; at = file.indexOf(quote, at + 1)) {
    let slashes = at
    while (file[slashes - 1] === backslash) slashes--
    if ((at - slashes) % 2 === 0) return at + 1
  }
  return -1
}

const opening = (containers: ReadonlyArray<Open>): Buffer =>
  Buffer.concat(containers.flatMap(({ bracket, key }) => [...(key === undefined ? [] : [key, Buffer.from(":")]), Buffer.from([bracket])]))

const closing = (containers: ReadonlyArray<Open>): Buffer =>
  Buffer.from(containers.map(({ bracket }) => (bracket === openBrace ? closeBrace : closeBracket)).reverse())
