import { readFile } from "node:fs/promises"
import { Tokenizer } from "@huggingface/tokenizers"
import type { StartStatic, Task } from "./Messages.ts"
import { type Progress, unit } from "./Progress.ts"
import { readTensor } from "./Safetensors.ts"

/** UTF-16 units that are embedded between two looks at what else waits. */
const charactersAtOnce = 65_536

/** A model that is a table of vectors: a text's is the mean of its tokens', each times its weight where the model has such. */
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

  /** How often each token stands in the text under way: a row is added once, however often it counts. */
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
    // The mean points where the sum does, and only that is left of it.
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

/** Words whose tokens are remembered, and UTF-16 units of one. */
const mostWords = 200_000
const longestWord = 64

/** What a blank is in vocabularies that hold it with the word after it. */
const blank = "\u2581"

/** What is used of a tokenizer's model: it takes words apart. */
interface Words {
  readonly vocab: ReadonlyArray<string>
  readonly unk_token_id?: number
  readonly end_of_word_suffix?: string | null
  _call: (words: ReadonlyArray<string>) => ReadonlyArray<string>
}

/**
 * A text's tokens, by a tokenizer that remembers words: most words of a text were met before, and a tokenizer takes each
 * apart on its own. One that knows no words is given whole texts, in which a blank begins each; where no token has a blank
 * within, none reaches over it, so that these are words too.
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
