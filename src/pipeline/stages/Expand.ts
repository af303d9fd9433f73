import { Effect, Stream } from "effect"
import { defined } from "../../domain/Defined.ts"
import type { FileChunk } from "../../domain/Document.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import { goesOn, passageOf } from "../../domain/Passage.ts"
import type { Context } from "../../domain/Retrieval.ts"
import { chunksOf, Files } from "../../ports/Files.ts"
import { pages } from "../../ports/Paging.ts"
import { overContexts, type Retrieved, type Unanswered } from "./Retrieve.ts"
import { described, type Stage } from "./Stage.ts"

/** How far each context is expanded: to the chunks next to it, or to the chunks of its section or file that fit. */
export interface ExpandOptions {
  /** Number of chunks added before the context, 0 to 20. Default 1; not together with `to`. */
  readonly before?: number
  /** Number of chunks added after the context, 0 to 20. Default 1; not together with `to`. */
  readonly after?: number
  /**
   * `section`: all chunks under the heading that the context stands under. `file`: all chunks of its file. In both cases the
   * nearest chunks are added first, up to 64 before and 64 after, as long as the passage has no more than `maxTokens`.
   */
  readonly to?: "section" | "file"
  /** Tokens (o200k) of a passage at most, where `to` is given; a context that has more stays as it is. Default 4,000. */
  readonly maxTokens?: number
}

/**
 * Expands each context by the text around it in its file, so that a model reads whole passages. Contexts whose passages touch
 * become one, in the place and with the score of the best of them, which may then be longer than `maxTokens`. The bytes and
 * pages of a context are those of its passage; its headings are those that the whole passage stands under. Contexts of a file
 * that was replaced or deleted since the search stay as they are.
 *
 * Fails with `UNIMPLEMENTED` on an engine that does not give the text of its files back.
 */
export const expand = (options: ExpandOptions = {}): Stage<Unanswered, Retrieved, ServiceError, Files> =>
  overContexts(
    "expand",
    described({ _tag: "expand", ...defined(options) }, (input: Unanswered) =>
      Effect.gen(function*() {
        const files = yield* Files
        const found = yield* Effect.forEach(input.contexts, (context) => around(files, context, options), { concurrency })
        return { ...input, contexts: merged(found) }
      }).pipe(Effect.withSpan("stage.expand")))
  )

/** Files read at once. */
const concurrency = 4
/** Chunks that a context grows by before it, and after it, beside `to`. */
const farthest = 64
/** Chunks read of a file to find one by its text, on an engine that does not say which one it is. */
const mostRead = 10_000
const defaultTokens = 4_000

/** A context, and the chunks of its file that it is to have; none where they are not there any more. */
interface Grown {
  readonly context: Context
  readonly chunks: ReadonlyArray<FileChunk>
}

const around = Effect.fnUntraced(function*(
  files: Files["Service"],
  context: Context,
  options: ExpandOptions
): Effect.fn.Return<Grown, ServiceError> {
  const { after = 1, before = 1, maxTokens = defaultTokens, to } = options
  const chunks = yield* chunksNear(files, context, to === undefined ? before : farthest, to === undefined ? after : farthest).pipe(
    Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.succeed<ReadonlyArray<FileChunk>>([])),
    Effect.mapError((error) =>
      error.code === "UNIMPLEMENTED"
        ? error.with({ message: `expand: ${error.message}`, fix: "leave expand out, or run on another engine" })
        : error
    )
  )
  const at = chunks.findIndex(({ ordinal, text }) => text === context.text && (context.ordinal ?? ordinal) === ordinal)
  if (at === -1) return { context, chunks: [] }
  const [first, last] = to === undefined
    ? [at - before, at + after]
    : to === "section"
    ? sectionAround(chunks, at)
    : [at - farthest, at + farthest]
  return {
    context,
    chunks: nearest(chunks, at, Math.max(0, first), Math.min(chunks.length - 1, last), to === undefined ? Infinity : maxTokens)
  }
})

/** The chunk of a context, the `before` ones before it and the `after` ones after it; from the file's first on, where its place is not known. */
const chunksNear = (
  files: Files["Service"],
  { file, ordinal }: Context,
  before: number,
  after: number
): Effect.Effect<ReadonlyArray<FileChunk>, ServiceError> => {
  if (ordinal === undefined) return pages((page) => files.chunks(file, page), 500).pipe(Stream.take(mostRead), Stream.runCollect)
  const from = Math.max(0, ordinal - before)
  // The one after the last says whether a heading stands at its beginning.
  return chunksOf(files, file, from, ordinal - from + after + 2)
}

/** The chunks from `first` to `last` that go on from the one at `at`, the nearest first, as long as all have no more than `room` tokens. */
const nearest = (
  chunks: ReadonlyArray<FileChunk>,
  at: number,
  first: number,
  last: number,
  room: number
): ReadonlyArray<FileChunk> => {
  let [from, to] = [at, at]
  let tokens = chunks[at]!.tokens
  const take = (next: number, beside: number): boolean => {
    const [before, after] = next < beside ? [chunks[next]!, chunks[beside]!] : [chunks[beside]!, chunks[next]!]
    if (!goesOn(before, after)) return false
    const { byteEnd, byteStart, tokens: all } = chunks[next]!
    // What the two share counts once.
    const own = Math.max(0, byteEnd - byteStart - Math.max(0, before.byteEnd - after.byteStart)) / Math.max(1, byteEnd - byteStart)
    const more = tokens + Math.ceil(all * own)
    if (more > room) return false
    tokens = more
    return true
  }
  let [forward, backward] = [true, true]
  while (forward || backward) {
    forward = forward && to < last && take(to + 1, to)
    if (forward) to += 1
    backward = backward && from > first && take(from - 1, from)
    if (backward) from -= 1
  }
  return chunks.slice(from, to + 1)
}

/** The places of the first and the last chunk of the section that a chunk is of: those under its heading, and under headings below that. */
const sectionAround = (chunks: ReadonlyArray<FileChunk>, at: number): readonly [first: number, last: number] => {
  const section = pathAt(chunks, at)
  const within = (place: number): boolean => {
    const path = pathAt(chunks, place)
    return section.every((heading, level) => heading === path[level])
  }
  let [first, last] = [at, at]
  while (last + 1 < chunks.length && within(last + 1)) last += 1
  while (first > 0 && within(first - 1)) first -= 1
  // A section may begin within the chunk before.
  const heading = section.at(-1)
  const before = first > 0 && chunks[first]!.headings.length === section.length ? chunks[first - 1] : undefined
  return before !== undefined && heading !== undefined && linesOf(before.text).includes(heading) ? [first - 1, last] : [first, last]
}

/** UTF-16 units of a line that may be a heading. */
const longestHeading = 200

/**
 * The headings that a chunk stands under, with the one that it begins with. A chunk's text does not mark headings: one is
 * known by the chunk after it, which stands under it, or else by its looks, a line by itself that ends like no sentence.
 */
const pathAt = (chunks: ReadonlyArray<FileChunk>, at: number): ReadonlyArray<string> => {
  const { headings, text } = chunks[at]!
  const [line = "", rest = ""] = text.trimStart().split(/\n\s*\n/, 2)
  const known = chunks[at + 1]?.headings
  const begins = line !== "" && (
    (known?.[headings.length] === line && headings.every((heading, level) => heading === known[level])) ||
    (rest.trim() !== "" && line.length <= longestHeading && !/\n|^\p{Ll}|[.!;,]\s*$/u.test(line))
  )
  return begins ? [...headings, line.trim()] : headings
}

const linesOf = (text: string): ReadonlyArray<string> => text.split("\n").map((line) => line.trim())

/** Passages of a file that touch as one, each in the place of the best context in it. */
const merged = (grown: ReadonlyArray<Grown>): ReadonlyArray<Context> => {
  const placed = grown.map((one, place) => ({ ...one, place }))
  const byFile = Map.groupBy(placed, ({ chunks, context, place }) => chunks.length === 0 ? place : context.file)
  const passages: Array<{ readonly of: Array<typeof placed[number]>; readonly chunks: Array<FileChunk> }> = []
  for (const ofFile of byFile.values()) {
    let end: FileChunk | undefined
    for (const one of ofFile.toSorted((a, b) => (a.chunks[0]?.ordinal ?? 0) - (b.chunks[0]?.ordinal ?? 0))) {
      const [first] = one.chunks
      const open = passages.at(-1)
      if (open !== undefined && end !== undefined && first !== undefined && (first.ordinal <= end.ordinal || goesOn(end, first))) {
        const last = end.ordinal
        open.of.push(one)
        open.chunks.push(...one.chunks.filter(({ ordinal }) => ordinal > last))
      } else passages.push({ of: [one], chunks: [...one.chunks] })
      end = passages.at(-1)?.chunks.at(-1)
    }
  }
  return passages
    .map(({ chunks, of }) => ({ chunks, of: of.toSorted((a, b) => a.place - b.place) }))
    .toSorted((a, b) => a.of[0]!.place - b.of[0]!.place)
    .map(({ chunks: [first, ...others], of }) => {
      const { context } = of[0]!
      const alsoIn = of.flatMap(({ context: { alsoIn = [] } }) => alsoIn)
      return first === undefined || others.length === 0
        ? context
        : { ...context, ...passageOf([first, ...others]), ...(alsoIn.length === 0 ? {} : { alsoIn }) }
    })
}
