import { readFile } from "node:fs/promises"
import { Tokenizer } from "@huggingface/tokenizers"
import type { StartStatic, Task } from "./Messages.ts"
import { type Progress, unit } from "./Progress.ts"
import { readTensor } from "./Safetensors.ts"

/** UTF-16 units that are embedded before the queue is checked again. */
const charactersAtOnce = 65_536

/**
 * Opens a model that is a table of vectors: a text's vector is the mean of its tokens', each multiplied by its weight where the model has
 * weights.
 */
export const openStatic = async (start: StartStatic): Promise<(task: Task) => Progress> => {
  const { countsUnknown, dimensions, table, tokenizer, weights } = start
  const tensor = (name: string) => readTensor(weights, name)
  const rows = await tensor(table)
  const weightOf = await tensor("weights")
  const rowOf = await tensor("mapping")
  const { tokens, unknown, vocabulary } = tokensOf(JSON.parse(await readFile(tokenizer, "utf8")))
  if (rows === undefined) throw new Error(`it has no ${table}`)
  const found = Math.min(rowOf?.length ?? rows.length / dimensions, weightOf?.length ?? Infinity)
  if (found < vocabulary) throw new Error(`its tokenizer has ${vocabulary} tokens, and its table ${found}`)

  /** How often each token occurs in the current text: each row is added once, however often it counts. */
  const counts = new Uint32Array(vocabulary)
  const embed = (text: string): Float32Array => {
    const sum = new Float64Array(dimensions)
    const ids = tokens(text)
    for (const id of ids) if (countsUnknown || id !== unknown) counts[id] = (counts[id] ?? 0) + 1
    for (const id of ids) {
      const count = counts[id] ?? 0
      if (count === 0) continue
      counts[id] = 0
      const weight = count * (weightOf?.[id] ?? 1)
      const from = (rowOf?.[id] ?? id) * dimensions
      for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + weight * (rows[from + i] ?? 0)
    }
    // The mean has the sum's direction, and only the direction is kept.
    return unit(Float32Array.from(sum))
  }

  return (task) => {
    const { texts } = task
    const prefix = "prefix" in task ? task.prefix : ""
    const values = new Float32Array(texts.length * dimensions)
    let next = 0
    return {
      step: async () => {
        for (let characters = 0; next < texts.length && characters < charactersAtOnce; next++) {
          const text = texts[next] ?? ""
          characters += text.length
          if (text.trim() !== "") values.set(embed(prefix + text), next * dimensions)
        }
        return next < texts.length ? undefined : values
      }
    }
  }
}

/** Most words whose tokens are cached. */
const mostWords = 200_000
/** Most UTF-16 units of a word whose tokens are cached. */
const longestWord = 64

/** The character for a blank in vocabularies that store it with the word after it. */
const blank = "\u2581"

/** The part of a tokenizer's model that is used: it divides words. */
interface Words {
  readonly vocab: ReadonlyArray<string>
  readonly unk_token_id?: number
  readonly end_of_word_suffix?: string | null
  _call: (words: ReadonlyArray<string>) => ReadonlyArray<string>
}

/**
 * Tokenizes texts with a cache of words: most words of a text have been seen before, and a tokenizer divides each separately. A tokenizer
 * without words receives whole texts, in which each word starts with a blank; where no token contains a blank inside, none extends over
 * one, so that these count as words too.
 */
const tokensOf = (written: { readonly model: { readonly type?: string } }) => {
  const tokenizer = new Tokenizer(written, {})
  const model: Words | null = tokenizer.model
  if (model === null) throw new Error("its tokenizer has no vocabulary")
  const within = new RegExp(`[^${blank}]${blank}`)
  const isCut = (written.model.type === "BPE" || written.model.type === "Unigram") && (model.end_of_word_suffix ?? "") === "" &&
    !model.vocab.some((token) => within.test(token))
  const begin = new RegExp(`(?<!${blank})(?=${blank})`)
  const split = model._call.bind(model)
  const known = new Map<string, ReadonlyArray<string>>()
  const remembered = (word: string): ReadonlyArray<string> => {
    const before = known.get(word)
    if (before !== undefined) return before
    const parts = split([word])
    if (known.size === mostWords) known.clear()
    if (word.length <= longestWord) known.set(word, parts)
    return parts
  }
  model._call = (texts) => texts.flatMap((text) => isCut ? text.split(begin).flatMap(remembered) : remembered(text))
  return {
    tokens: (text: string): ReadonlyArray<number> => tokenizer.encode(text, { add_special_tokens: false }).ids,
    unknown: model.unk_token_id,
    vocabulary: model.vocab.length
  }
}
