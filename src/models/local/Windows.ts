/** Texts as the model reads them: with its own tokens around a text, and in several windows where the text is longer than its input. */

/** The part of a tokenizer that is used. */
export interface Encoder {
  readonly encode: (
    text: string,
    options: { readonly text_pair?: string; readonly add_special_tokens: boolean; readonly return_token_type_ids: true }
  ) => { readonly ids: ReadonlyArray<number>; readonly token_type_ids: ReadonlyArray<number> }
}

/** One row of a model's input. */
export interface Row {
  readonly ids: ReadonlyArray<number>
  readonly types: ReadonlyArray<number>
}

export interface Reading {
  /** The windows of a text, each starting with the prefix; together they contain all of the text. */
  readonly single: (text: string, prefix: string) => ReadonlyArray<Row>
  /** The windows of a text, each together with the question. */
  readonly pair: (query: string, text: string) => ReadonlyArray<Row>
}

/** How a tokenizer writes one text, or two: the tokens before, between and after them, and the types of all tokens. */
interface Template {
  readonly before: Row
  readonly between: Row
  readonly after: Row
  /** The types of the first and the second text's tokens. */
  readonly types: readonly [number, number]
}

/** Largest share of the tokens that a question takes beside a text; it is cut there. */
const questionShare = 0.5

export const reading = (encoder: Encoder, maxTokens: number): Reading => {
  const plain = (text: string) => encoder.encode(text, { add_special_tokens: false, return_token_type_ids: true }).ids
  const one = templateOf(encoder, plain)
  const two = templateOf(encoder, plain, "b")
  const row = ({ after, before, between, types }: Template, first: ReadonlyArray<number>, second: ReadonlyArray<number>): Row => ({
    ids: [...before.ids, ...first, ...between.ids, ...second, ...after.ids],
    types: [
      ...before.types,
      ...first.map(() => types[0]),
      ...between.types,
      ...second.map(() => types[1]),
      ...after.types
    ]
  })
  const around = ({ after, before, between }: Template) => before.ids.length + between.ids.length + after.ids.length
  return {
    single: (text, prefix) => {
      const ids = plain(prefix + text)
      const start = prefix === "" ? [] : commonStart(ids, plain(prefix))
      const room = Math.max(1, maxTokens - around(one) - start.length)
      return windows(ids.slice(start.length), room).map((part) => row(one, [...start, ...part], []))
    },
    pair: (query, text) => {
      const all = maxTokens - around(two)
      const question = plain(query).slice(0, Math.max(1, Math.floor(all * questionShare)))
      return windows(plain(text), Math.max(1, all - question.length)).map((part) => row(two, question, part))
    }
  }
}

/** Windows of equal length except for the last tokens, and no more of them than are needed. */
const windows = (ids: ReadonlyArray<number>, room: number): ReadonlyArray<ReadonlyArray<number>> => {
  if (ids.length <= room) return [ids]
  const size = Math.ceil(ids.length / Math.ceil(ids.length / room))
  return Array.from({ length: Math.ceil(ids.length / size) }, (_, at) => ids.slice(at * size, (at + 1) * size))
}

const commonStart = (ids: ReadonlyArray<number>, prefix: ReadonlyArray<number>): ReadonlyArray<number> => {
  const end = prefix.findIndex((id, at) => ids[at] !== id)
  return end === -1 ? prefix : prefix.slice(0, end)
}

/** The template, derived from how the tokenizer writes short texts: it puts its tokens around whole texts only. */
const templateOf = (encoder: Encoder, plain: (text: string) => ReadonlyArray<number>, second?: string): Template => {
  const { ids, token_type_ids: types } = encoder.encode("a", {
    ...(second === undefined ? {} : { text_pair: second }),
    add_special_tokens: true,
    return_token_type_ids: true
  })
  const first = plain("a")
  const from = indexOf(ids, first, 0)
  const next = second === undefined ? [] : plain(second)
  const to = second === undefined ? ids.length : indexOf(ids, next, from + first.length)
  if (from < 0 || to < 0) throw new Error("the tokenizer does not keep the tokens of a text together")
  const part = (start: number, end: number): Row => ({ ids: ids.slice(start, end), types: types.slice(start, end) })
  return {
    before: part(0, from),
    between: second === undefined ? part(ids.length, ids.length) : part(from + first.length, to),
    after: second === undefined ? part(from + first.length, ids.length) : part(to + next.length, ids.length),
    types: [types[from] ?? 0, types[to] ?? 0]
  }
}

const indexOf = (ids: ReadonlyArray<number>, part: ReadonlyArray<number>, from: number): number => {
  for (let at = from; at + part.length <= ids.length; at++) if (part.every((id, i) => ids[at + i] === id)) return at
  return -1
}
