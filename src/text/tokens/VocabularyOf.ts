import { ByteTable, hashOf } from "./ByteTable.ts"

/**
 * A vocabulary from js-tiktoken's form of it: lines of `! {first rank} {base64 token} …`. The ranks of one
 * vocabulary follow each other from 0 on, so a token's number in the table is its rank.
 */
export const vocabularyOf = (ranks: string): ByteTable => {
  const table = new ByteTable(ranks.length >> 3, ranks.length)
  const token = new Uint8Array(256)
  for (const line of ranks.split("\n")) {
    const [mark, first] = line.split(" ", 2)
    if (mark === undefined || first === undefined) continue
    if (Number(first) !== table.count) throw new Error("the vocabulary of js-tiktoken has another form than expected")
    addTokens(table, line, mark.length + first.length + 2, token)
  }
  return table
}

const addTokens = (table: ByteTable, line: string, from: number, token: Uint8Array): void => {
  let length = 0
  let bits = 0
  let held = 0
  for (let i = from; i <= line.length; i++) {
    const code = i === line.length ? space : line.charCodeAt(i)
    if (code === space) {
      table.add(token, length, hashOf(token, 0, length))
      length = 0
      held = 0
    } else if (code !== padding) {
      bits = (bits << 6) | sextets[code]!
      held += 6
      if (held >= 8) {
        held -= 8
        token[length++] = (bits >>> held) & 0xff
      }
    }
  }
}

const space = 32
const padding = 61
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
const sextets = Uint8Array.from({ length: 128 }, (_, code) => Math.max(0, alphabet.indexOf(String.fromCharCode(code))))
