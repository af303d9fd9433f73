import { assert, layer } from "@effect/vitest"
import { Context, Effect, type Layer, type Scope } from "effect"
import type { ServiceError } from "../../src/domain/Errors.ts"
import type { VectorFile, VectorSpace, VectorStore } from "../../src/ports/VectorStore.ts"

/** Opens the part of a database that is a corpus's; the same one again where the corpus is the same. */
export class Opening extends Context.Service<Opening, {
  readonly open: (space: VectorSpace) => Effect.Effect<VectorStore, ServiceError, Scope.Scope>
}>()("sluice/test/VectorStore/Opening") {}

const dimensions = 8

/** A unit vector that leans from one axis to another. */
const leaning = (from: number, to: number, share: number): Float32Array => {
  const vector = new Float32Array(dimensions)
  vector[from] = Math.sqrt(1 - share * share)
  vector[to] = (vector[to] ?? 0) + share
  return vector
}

const fileOf = (file: string, texts: ReadonlyArray<string>, more: Partial<VectorFile> = {}, axis = 0): VectorFile => ({
  file,
  sourceUri: `file:///docs/${file}.md`,
  displayName: `${file}.md`,
  metadata: { title: `Title of "${file}"`, lang: "dé\u0000" },
  permissions: { public: false, principals: ["group:a", "user:b@c.d"] },
  chunks: texts.map((text, ordinal) => ({
    ordinal,
    text,
    vector: leaning(axis, (axis + 1 + ordinal) % dimensions, Math.min(0.9, ordinal / 10)),
    terms: text.toLowerCase().split(/[^\p{L}\p{N}'\\]+/u).filter((term) => term !== ""),
    headings: ["Chapter's \\ \"one\"", "Über"],
    byteStart: ordinal * 100,
    byteEnd: ordinal * 100 + 50,
    firstPage: ordinal + 1,
    lastPage: ordinal + 2,
    record: JSON.stringify({ tokens: ordinal, of: file })
  })),
  ...more
})

let corpora = 0

export interface SuiteOptions {
  /** Whether it searches by words. Default true. */
  readonly words?: boolean
  /** Whether it mixes both arms by itself. Default false. */
  readonly mixes?: boolean
  /** Whether it knows how rare words are. Default true. */
  readonly rarity?: boolean
  /** Whether it keeps chunks whose vectors are zero, which nothing finds. Default true. */
  readonly zeros?: boolean
}

/** What every vector database does. */
export const suite = <E>(
  name: string,
  opening: Layer.Layer<Opening, E>,
  { mixes = false, rarity = true, words = true, zeros = true }: SuiteOptions = {}
): void => {
  layer(opening, { excludeTestServices: true })(`VectorStore: ${name}`, (it) => {
    const fresh = Effect.gen(function*() {
      const corpus = `${Date.now()}${++corpora}`
      const { open } = yield* Opening
      const store = yield* open({ corpus, dimensions })
      yield* Effect.addFinalizer(() => Effect.ignore(store.drop))
      return { corpus, store }
    })
    const prepared = Effect.tap(fresh, ({ store }) => store.prepare)
    const weighed = (...terms: ReadonlyArray<string>) => terms.map((term) => ({ term, weight: 1 }))

    it.effect("is made once, and says what is there", () =>
      Effect.gen(function*() {
        const { corpus, store } = yield* fresh
        assert.isFalse((yield* store.corpora).some((record) => record.corpus === corpus))
        // What corpora share may be there already.
        const before = yield* Effect.result(store.check)
        if (before._tag === "Success") assert.strictEqual(before.success.chunks, 0)
        else assert.strictEqual(before.failure.code, "NOT_FOUND")
        yield* store.prepare
        yield* store.prepare
        const empty = yield* store.check
        assert.strictEqual(empty.chunks, 0)
        assert.strictEqual(empty.dimensions, dimensions)
        yield* store.put([fileOf("f1", ["one", "two"])])
        assert.strictEqual((yield* store.check).chunks, 2)
        const able = yield* store.abilities
        assert.deepStrictEqual({ ...able, rarity: !words || able.rarity }, { words, mixes, rarity: !words || rarity })
      }).pipe(Effect.scoped))

    it.effect("finds the nearest, with their cosines, at once after they are put", () =>
      Effect.gen(function*() {
        const { store } = yield* prepared
        yield* store.put([fileOf("f1", ["a", "b", "c"]), fileOf("f2", ["d"], {}, 4)])
        const { dense, sparse } = yield* store.search({ vector: leaning(0, 1, 0), count: 10 })
        assert.deepStrictEqual(dense.slice(0, 3).map(({ file, ordinal }) => [file, ordinal]), [["f1", 0], ["f1", 1], ["f1", 2]])
        assert.approximately(dense[0]?.score ?? 0, 1, 1e-3)
        assert.approximately(dense[1]?.score ?? 0, Math.sqrt(1 - 0.01), 1e-3)
        assert.deepStrictEqual(sparse, [])
        assert.lengthOf((yield* store.search({ vector: leaning(0, 1, 0), count: 2 })).dense, 2)
      }).pipe(Effect.scoped))

    if (words) {
      it.effect("finds by words, rare ones first, whatever is in them", () =>
        Effect.gen(function*() {
          const { store } = yield* prepared
          yield* store.put([
            fileOf("f1", ["the valve leaks", "the holiday of the holiday", "the the the"]),
            fileOf("f2", ["the valve holds", "l'été o'clock", "back\\slash 数据 📄"])
          ])
          const find = (...terms: ReadonlyArray<string>) =>
            Effect.map(store.search({ terms: weighed(...terms), count: 10 }), ({ sparse }) =>
              sparse.map(({ file, ordinal }) => `${file}.${ordinal}`))
          if (rarity) {
            assert.strictEqual((yield* find("the", "leaks"))[0], "f1.0")
          }
          assert.sameMembers(yield* find("valve"), ["f1.0", "f2.0"])
          assert.deepStrictEqual(yield* find("holiday"), ["f1.1"])
          assert.deepStrictEqual(yield* find("o'clock"), ["f2.1"])
          assert.deepStrictEqual(yield* find("back\\slash"), ["f2.2"])
          assert.deepStrictEqual(yield* find("数据"), ["f2.2"])
          assert.deepStrictEqual(yield* find("nothing"), [])
          assert.deepStrictEqual((yield* store.search({ terms: weighed("valve"), count: 10 })).dense, [])
          assert.lengthOf(
            yield* Effect.map(store.search({ terms: weighed("the"), count: 1 }), ({ sparse }) =>
              sparse),
            1
          )
        }).pipe(Effect.scoped))
    }

    if (mixes) {
      it.effect("mixes nearness and words by their weight", () =>
        Effect.gen(function*() {
          const { store } = yield* prepared
          yield* store.put([
            fileOf("near", ["about something else", "and another thing"]),
            fileOf("said", ["the valve leaks", "the valve"], {}, 4),
            fileOf("both", ["valve leaks"], {}, 0),
            fileOf("neither", ["far away"], {}, 2)
          ])
          const find = (alpha: number, more: { readonly files?: ReadonlyArray<string>; readonly count?: number } = {}) =>
            Effect.map(
              store.search({ vector: leaning(0, 1, 0), terms: weighed("valve", "leaks"), alpha, count: 10, ...more }),
              ({ dense, mixed = [], sparse }) => {
                assert.deepStrictEqual([dense, sparse], [[], []])
                assert.deepStrictEqual(mixed.map(({ score }) => score), mixed.map(({ score }) => score).toSorted((a, b) => b - a))
                return mixed.map(({ file, ordinal }) => `${file}.${ordinal}`)
              }
            )
          for (const alpha of [0.1, 0.5, 0.9]) {
            const found = yield* find(alpha)
            assert.strictEqual(found[0], "both.0")
            assert.lengthOf(new Set(found), found.length)
          }
          assert.strictEqual((yield* find(0.1))[1], "said.0")
          const placeOfNear = Effect.fnUntraced(function*(alpha: number) {
            return (yield* find(alpha)).indexOf("near.0")
          })
          assert.isBelow(yield* placeOfNear(0.99), yield* placeOfNear(0.3))
          assert.deepStrictEqual(yield* find(0.5, { files: ["said", "none"] }), ["said.0", "said.1"])
          assert.deepStrictEqual(yield* find(0.5, { count: 1 }), ["both.0"])
        }).pipe(Effect.scoped))
    }

    it.effect("keeps to the files it is asked for", () =>
      Effect.gen(function*() {
        const { store } = yield* prepared
        yield* store.put(Array.from({ length: 30 }, (_, i) => fileOf(`f${i}`, ["same words"], {}, i % 4)))
        const asked = { vector: leaning(0, 1, 0), ...(words ? { terms: weighed("words") } : {}), count: 50 }
        const { dense, sparse } = yield* store.search({ ...asked, files: ["f3", "f7", "none"] })
        assert.sameMembers(dense.map(({ file }) => file), ["f3", "f7"])
        assert.sameMembers(sparse.map(({ file }) => file), words ? ["f3", "f7"] : [])
        assert.lengthOf((yield* store.search(asked)).dense, 30)
      }).pipe(Effect.scoped))

    it.effect("takes the same version twice, and deletes versions, half ones and ones that are not there", () =>
      Effect.gen(function*() {
        const { store } = yield* prepared
        const file = fileOf("f1", ["one", "two", "three"])
        yield* store.put([file])
        yield* store.put([{ ...file, displayName: "moved.md" }])
        assert.strictEqual((yield* store.check).chunks, 3)
        yield* store.put([{ ...fileOf("half", ["a", "b"]), chunks: fileOf("half", ["a", "b"]).chunks.slice(1) }])
        yield* store.delete(["half", "nobody"])
        assert.strictEqual((yield* store.check).chunks, 3)
        yield* store.delete(["f1"])
        assert.strictEqual((yield* store.check).chunks, 0)
        yield* store.delete(["f1"])
        assert.deepStrictEqual((yield* store.search({ vector: leaning(0, 1, 0), count: 10 })).dense, [])
      }).pipe(Effect.scoped))

    it.effect("takes a file of many chunks, and zero vectors", () =>
      Effect.gen(function*() {
        const { store } = yield* prepared
        const many = fileOf("many", Array.from({ length: 257 }, (_, i) => `chunk number${i}`))
        const zero = fileOf("zero", ["---"])
        yield* store.put([{ ...zero, chunks: zero.chunks.map((chunk) => ({ ...chunk, vector: new Float32Array(dimensions) })) }, many])
        assert.strictEqual((yield* store.check).chunks, zeros ? 258 : 257)
        const { dense } = yield* store.search({ vector: new Float32Array(dimensions), count: 3 })
        assert.deepStrictEqual(dense, [])
        yield* store.delete(["many", "zero"])
        assert.strictEqual((yield* store.check).chunks, 0)
      }).pipe(Effect.scoped))

    it.effect("keeps corpora apart, and drops one whole", () =>
      Effect.gen(function*() {
        const one = yield* prepared
        const other = yield* prepared
        yield* one.store.put([fileOf("f1", ["shared words"])])
        yield* other.store.put([fileOf("f1", ["shared words"]), fileOf("f2", ["more"])])
        assert.strictEqual((yield* one.store.check).chunks, 1)
        assert.lengthOf((yield* one.store.search({ vector: leaning(0, 1, 0), count: 10 })).dense, 1)
        yield* one.store.drop
        yield* one.store.drop
        assert.strictEqual((yield* other.store.check).chunks, 2)
        const { open } = yield* Opening
        const again = yield* open({ corpus: one.corpus, dimensions })
        assert.deepStrictEqual(yield* again.search({ vector: leaning(0, 1, 0), count: 10 }), { dense: [], sparse: [] })
        yield* again.delete(["f1"])
      }).pipe(Effect.scoped))

    it.effect("gives back whole files as they were put, by which a lost ledger is made again", () =>
      Effect.gen(function*() {
        const { store } = yield* prepared
        yield* (yield* prepared).store.put([fileOf("f1", ["another corpus"])])
        const long = fileOf("long", Array.from({ length: 130 }, (_, i) => `chunk ${i}`))
        const plain: VectorFile = {
          ...fileOf("plain", ["only \"one\", {of} NULL, \\u0000 and \\ 'x'\n"]),
          metadata: undefined,
          permissions: undefined
        }
        const half = fileOf("half", ["a", "b", "c"])
        yield* store.put([long, plain, { ...half, chunks: half.chunks.slice(1) }])
        const versions = yield* store.versions
        assert.sameDeepMembers(versions.map(({ chunks, file, record }) => [file, chunks, record]), [
          ["long", 130, long.chunks[0]?.record],
          ["plain", 1, plain.chunks[0]?.record],
          ["half", 2, undefined]
        ])
        const read = new Map((yield* store.read(["long", "plain", "none"])).map((file) => [file.file, file]))
        assert.strictEqual(read.size, 2)
        for (const put of [long, plain]) {
          const { chunks, metadata, ...file } = read.get(put.file)!
          const { chunks: putChunks, metadata: putMetadata, ...putFile } = put
          assert.deepStrictEqual({ ...file }, putFile)
          // Not every database keeps a NUL.
          assert.deepStrictEqual(metadata?.["title"], putMetadata?.["title"])
          assert.deepStrictEqual(
            chunks.map(({ terms: _, vector: __, ...chunk }) => chunk),
            putChunks.map(({ terms: _, vector: __, ...chunk }) => chunk)
          )
          chunks.forEach(({ vector }, at) => {
            const before = putChunks[at]!.vector
            const cosine = vector.reduce((sum, value, i) => sum + value * before[i]!, 0) / Math.hypot(...vector) / Math.hypot(...before)
            assert.approximately(cosine, 1, 1e-3)
          })
        }
      }).pipe(Effect.scoped))

    it.effect("knows the corpora that left a record, until they are dropped", () =>
      Effect.gen(function*() {
        const one = yield* prepared
        const other = yield* prepared
        const mine = (owner: string) => ({ displayName: "Mine \"é\"", embedder: "hash 8", owner, description: "what it is" })
        yield* Effect.all(Array.from({ length: 8 }, () => one.store.sign(mine("a"))), { concurrency: "unbounded" })
        yield* one.store.sign(mine("b"))
        yield* other.store.sign({ displayName: "Other", embedder: "hash 8", owner: "c" })
        const own = Effect.map(other.store.corpora, (all) => all.filter(({ corpus }) => corpus === one.corpus || corpus === other.corpus))
        assert.sameDeepMembers([...yield* own], [
          { corpus: one.corpus, ...mine("b") },
          { corpus: other.corpus, displayName: "Other", embedder: "hash 8", owner: "c" }
        ])
        // A record is no chunk: it is neither counted nor found.
        assert.strictEqual((yield* one.store.check).chunks, 0)
        assert.deepStrictEqual(yield* one.store.versions, [])
        assert.deepStrictEqual((yield* one.store.search({ vector: leaning(0, 1, 0), count: 10 })).dense, [])
        yield* one.store.put([fileOf("f1", ["one"])])
        assert.strictEqual((yield* one.store.check).chunks, 1)
        yield* one.store.drop
        assert.deepStrictEqual((yield* own).map(({ corpus }) => corpus), [other.corpus])
      }).pipe(Effect.scoped))

    it.effect("refuses other dimensions, and writes nothing", () =>
      Effect.gen(function*() {
        const { corpus, store } = yield* prepared
        yield* store.put([fileOf("f1", ["one"])])
        const { open } = yield* Opening
        const wrong = yield* open({ corpus, dimensions: dimensions + 1 })
        for (const refused of [yield* Effect.flip(wrong.prepare), yield* Effect.flip(wrong.check)]) {
          assert.strictEqual(refused.code, "FAILED_PRECONDITION")
          assert.include(refused.message, "dimensions")
          assert.match(refused.message, /^corpus\.vectorDb\.\w+/)
        }
        assert.strictEqual((yield* store.check).chunks, 1)
      }).pipe(Effect.scoped))
  })
}
