import type { Pooling } from "../../domain/LocalModel.ts"
import type { Task } from "./Messages.ts"
import { type Progress, unit } from "./Progress.ts"
import type { Runtime, Session, Tensor } from "./Runtime.ts"
import type { Reading, Row } from "./Windows.ts"

/** Most tokens of one batch, including padding: more is no faster on a processor, and takes memory. */
const tokensAtOnce = 2_048
/** Most rows of one batch: more is no faster on a processor, and takes memory. */
const rowsAtOnce = 64
/** UTF-16 units that are tokenized between two batches of other tasks. */
const charactersAtOnce = 65_536

interface Window extends Row {
  /** Index of the text that the row belongs to. */
  readonly of: number
}

/** A task's texts on their way through an ONNX model: their windows, shortest first, and the results of those that are done. */
export const progress = (ort: Runtime, session: Session, reading: Reading, task: Task): Progress => {
  const scores = "query" in task
  const unread = task.texts.map((text, of) => ({ text, of })).filter(({ text }) => text.trim() !== "").reverse()
  let left: Array<Window> = []
  const results: Array<Float32Array | undefined> = task.texts.map(() => undefined)

  /** Tokenizes some texts; if it did all at once, a question would have to wait. */
  const read = (): void => {
    for (let characters = 0; characters < charactersAtOnce;) {
      const next = unread.pop()
      if (next === undefined) break
      const { of, text } = next
      characters += text.length
      const rows = scores ? reading.pair(task.query, text) : reading.single(text, task.prefix)
      left.push(...rows.map((row) => ({ ...row, of })))
    }
    if (unread.length === 0) left = left.toSorted((a, b) => b.ids.length - a.ids.length)
  }

  const take = (): ReadonlyArray<Window> => {
    const batch: Array<Window> = []
    while (batch.length < rowsAtOnce) {
      const next = left.at(-1)
      if (next === undefined || (batch.length > 0 && (batch.length + 1) * next.ids.length > tokensAtOnce)) break
      batch.push(next)
      left.pop()
    }
    return batch
  }

  return {
    step: async () => {
      if (unread.length > 0) {
        read()
        return undefined
      }
      const batch = take()
      if (batch.length > 0) {
        const rows = scores ? scored(await run(ort, session, batch, "logits"), batch.length) : embedded(
          await run(ort, session, batch, "sentence_embedding", "last_hidden_state", "token_embeddings"),
          batch,
          task.pooling
        )
        batch.forEach(({ of }, at) => {
          const row = rows[at] ?? new Float32Array()
          const sum = results[of]
          if (sum === undefined) results[of] = row
          // A text's vector is the sum of its windows'; its score is that of its best window.
          else row.forEach((value, i) => sum[i] = scores ? Math.max(sum[i] ?? value, value) : (sum[i] ?? 0) + value)
        })
      }
      if (left.length > 0) return undefined
      const width = results.find((row) => row !== undefined)?.length ?? 0
      const values = new Float32Array(task.texts.length * width)
      results.forEach((row, at) => row !== undefined && values.set(scores ? row : unit(row), at * width))
      return values
    }
  }
}

const run = async (ort: Runtime, session: Session, batch: ReadonlyArray<Row>, ...wanted: ReadonlyArray<string>): Promise<Tensor> => {
  const length = Math.max(...batch.map(({ ids }) => ids.length))
  const tensor = (value: (row: Row, at: number) => number): Tensor => {
    const data = new BigInt64Array(batch.length * length)
    batch.forEach((row, place) => row.ids.forEach((_, at) => data[place * length + at] = BigInt(value(row, at))))
    return new ort.Tensor("int64", data, [batch.length, length])
  }
  const inputs = Object.fromEntries(session.inputNames.map((name) => {
    switch (name) {
      case "input_ids":
        return [name, tensor(({ ids }, at) => ids[at] ?? 0)]
      case "attention_mask":
        return [name, tensor(() => 1)]
      case "token_type_ids":
        return [name, tensor(({ types }, at) => types[at] ?? 0)]
      case "position_ids":
        return [name, tensor((_, at) => at)]
      default:
        throw new Error(`it asks for ${name}, which is no input of a model of texts`)
    }
  }))
  const output = wanted.find((name) => session.outputNames.includes(name)) ?? session.outputNames[0] ?? ""
  const found = (await session.run(inputs, [output]))[output]
  if (!(found?.data instanceof Float32Array)) throw new Error(`its ${output} is not of 32 bit floating point numbers`)
  return found
}

/** Unit vectors of rows. */
const embedded = ({ data, dims }: Tensor, batch: ReadonlyArray<Row>, pooling: Pooling | undefined): ReadonlyArray<Float32Array> => {
  const [rows, length = 0, width] = dims.length === 2 ? [dims[0], 1, dims[1]] : dims
  if (rows !== batch.length || width === undefined || width === 0 || !(data instanceof Float32Array)) {
    throw new Error(`it gave an output of ${dims.join(" x ")}, where it is a vector of each token or of each text that counts`)
  }
  return batch.map(({ ids }, row) => {
    const token = (at: number) => data.subarray((row * length + at) * width, (row * length + at + 1) * width)
    if (dims.length === 2) return unit(token(0))
    if (pooling === undefined) throw new Error("how its vectors are pooled is not known")
    return unit(pooled(Array.from(ids, (_, at) => token(at)), pooling, width))
  })
}

const pooled = (tokens: ReadonlyArray<Float32Array>, pooling: Pooling, width: number): Float32Array => {
  if (pooling === "cls") return tokens[0] ?? new Float32Array(width)
  if (pooling === "lastToken") return tokens.at(-1) ?? new Float32Array(width)
  const result = new Float32Array(width).fill(pooling === "max" ? -Infinity : 0)
  for (const token of tokens) {
    for (let i = 0; i < width; i++) {
      const value = token[i] ?? 0
      result[i] = pooling === "max" ? Math.max(result[i] ?? value, value) : (result[i] ?? 0) + value
    }
  }
  // The mean, and the sum divided by the root of the length, have the direction of the sum, so the three are equal as unit vectors.
  return result
}

/** How well each row answers, 0 to 1. */
const scored = ({ data, dims }: Tensor, rows: number): ReadonlyArray<Float32Array> => {
  const classes = dims[1] ?? 1
  if (dims[0] !== rows || classes > 2 || !(data instanceof Float32Array)) {
    throw new Error(`it gave an output of ${dims.join(" x ")}, where a cross encoder gives one score for each text`)
  }
  return Array.from({ length: rows }, (_, row) => {
    const logit = classes === 1 ? data[row] ?? Number.NaN : (data[2 * row + 1] ?? Number.NaN) - (data[2 * row] ?? Number.NaN)
    if (!Number.isFinite(logit)) throw new Error("it gave numbers that are none")
    return Float32Array.of(1 / (1 + Math.exp(-logit)))
  })
}
