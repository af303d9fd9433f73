import type o200k from "js-tiktoken/ranks/o200k_base"

/** The data of a byte-pair encoding. */
export interface Encoding {
  /** Pattern of the pieces that tokens are made of, as a regular expression's source. */
  readonly pattern: string
  /** Bytes of each token, by rank. */
  readonly lengths: Uint8Array
  /** The tokens' bytes, one token after the other, by rank. */
  readonly tokens: Uint8Array
}

/** Most tokens that the code of `assembly/Tokens.ts` has room for. */
const mostTokens = 2 ** 18 - 1
/** Most bytes of all tokens that the code of `assembly/Tokens.ts` has room for. */
const mostBytes = 2 ** 24

/** Bytes before the pattern: its length, and the number of tokens. */
const head = 8

/**
 * An encoding as a file: the pattern, the length of each token, the tokens by rank. It is read in a fifth of the time of js-tiktoken's
 * form, lines of `! {first rank} {base64 token} …`.
 */
export const packEncoding = ({ bpe_ranks: ranks, pat_str }: typeof o200k): Uint8Array => {
  const lengths: Array<number> = []
  const tokens = new Uint8Array(ranks.length)
  let end = 0
  for (const line of ranks.split("\n")) {
    const [mark, first] = line.split(" ", 2)
    if (mark === undefined || first === undefined) continue
    // A token's rank is its position.
    if (Number(first) !== lengths.length) throw new Error("the vocabulary of js-tiktoken has another form than expected")
    end = decode(line, mark.length + first.length + 2, tokens, end, lengths)
  }
  if (lengths.some((length) => length === 0 || length > 255)) throw new Error("a token's length does not fit into a byte")
  if (lengths.length >= mostTokens || end >= mostBytes) throw new Error("the vocabulary does not fit what counts tokens")
  const pattern = Buffer.from(pat_str)
  const sizes = Buffer.alloc(head)
  sizes.writeUInt32LE(pattern.length, 0)
  sizes.writeUInt32LE(lengths.length, 4)
  return Buffer.concat([sizes, pattern, Uint8Array.from(lengths), tokens.subarray(0, end)])
}

/** Decodes the base64 words of a line from an offset on into `tokens`, and appends their lengths; returns where the tokens end. */
const decode = (line: string, from: number, tokens: Uint8Array, start: number, lengths: Array<number>): number => {
  let begin = start
  let end = start
  let bits = 0
  let held = 0
  for (let i = from; i <= line.length; i++) {
    const code = i === line.length ? space : line.charCodeAt(i)
    if (code === space) {
      lengths.push(end - begin)
      begin = end
      held = 0
    } else if (code !== padding) {
      bits = (bits << 6) | sextets[code]!
      held += 6
      if (held >= 8) {
        held -= 8
        tokens[end++] = (bits >>> held) & 0xff
      }
    }
  }
  return end
}

const space = 32
const padding = 61
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
const sextets = Uint8Array.from({ length: 128 }, (_, code) => Math.max(0, alphabet.indexOf(String.fromCharCode(code))))

/** Reads a file made by {@link packEncoding}. */
export const openEncoding = (file: Uint8Array): Encoding => {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const lengths = head + view.getUint32(0, true)
  const tokens = lengths + view.getUint32(4, true)
  return {
    pattern: Buffer.from(file.subarray(head, lengths)).toString(),
    lengths: file.subarray(lengths, tokens),
    tokens: file.subarray(tokens)
  }
}
