import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Stream } from "effect"
import type { CorpusName } from "../../src/domain/Corpus.ts"
import { defined } from "../../src/domain/Defined.ts"
import { corpusOf } from "../../src/domain/RagFile.ts"
import { Corpora } from "../../src/ports/Corpora.ts"
import { Files, filesNamed } from "../../src/ports/Files.ts"
import { pages } from "../../src/ports/Paging.ts"
import { managed, textFile } from "./Cases.ts"

/** What every engine's Files does. */
export const suite = <E>(name: string, engine: Layer.Layer<Corpora | Files, E>): void => {
  layer(engine, { excludeTestServices: true })(`Files: ${name}`, (it) => {
    it.effect("keeps an uploaded file and what is said of it", () =>
      Effect.gen(function*() {
        const files = yield* Files
        const corpus = (yield* (yield* Corpora).create(managed("upload"))).name
        const { file } = yield* files.upload({ ...textFile(corpus, "notes.txt", "Some notes."), description: "my notes" })
        assert.strictEqual(corpusOf(file.name), corpus)
        assert.strictEqual(file.displayName, "notes.txt")
        assert.strictEqual(file.description, "my notes")
        assert.strictEqual(file.state, "ACTIVE")
        const read = yield* files.get(file.name)
        assert.strictEqual(read.name, file.name)
        assert.strictEqual(read.displayName, "notes.txt")
        assert.strictEqual(read.description, "my notes")
      }))

    it.effect("takes files into corpora that are there, and no others", () =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const files = yield* Files
        const corpus = (yield* corpora.create(managed("gone"))).name
        yield* corpora.delete(corpus)
        const error = yield* Effect.flip(files.upload(textFile(corpus, "a.txt", "a text")))
        assert.strictEqual(error._tag === "ServiceError" && error.code, "NOT_FOUND")
      }))

    it.effect("lists every file once, page by page", () =>
      Effect.gen(function*() {
        const files = yield* Files
        const corpus = (yield* (yield* Corpora).create(managed("listing"))).name
        const names = yield* Effect.forEach(
          Array.from({ length: 7 }, (_, i) => `file ${i}.txt`),
          (displayName, i) => Effect.map(files.upload(textFile(corpus, displayName, `text number ${i}`)), ({ file }) => file.name)
        )
        const listed = yield* Stream.runCollect(pages((page) => files.list(corpus, page), 3))
        assert.sameMembers([...listed].map((file) => file.name), names)
      }))

    it.effect("tells what runs compare as the listing does, where it tells it by itself", () =>
      Effect.gen(function*() {
        const files = yield* Files
        const { held } = files
        if (held === undefined) return
        const corpus = (yield* (yield* Corpora).create(managed("held"))).name
        const marker = { source: "p/s", pathHash: "0123456789abcdef".repeat(2), fingerprint: "a.b.c" }
        yield* files.upload({ ...textFile(corpus, "marked.txt", "one text"), marker })
        yield* files.upload({ ...textFile(corpus, "odd.txt", "another text"), marker: { ...marker, pathHash: "no hash" } })
        yield* files.upload(textFile(corpus, "plain.txt", "a third text"))
        const listed = yield* Stream.runCollect(pages((page) => files.list(corpus, page)))
        const told = yield* Stream.runCollect(pages((page) => held(corpus, page), 2))
        assert.deepStrictEqual(
          told.map((file) => defined(file)),
          listed.map(({ displayName, errorStatus, marker, name, sizeBytes, sourceUri, state }) =>
            defined({ name, displayName, sourceUri, sizeBytes, state, errorStatus, marker })
          )
        )
        assert.deepStrictEqual(told.map(({ marker }) => marker?.pathHash), [marker.pathHash, "no hash", undefined])
      }))

    it.effect("finds files by what they are called, in one corpus, and says where there are none", () =>
      Effect.gen(function*() {
        const files = yield* Files
        const corpora = yield* Corpora
        const corpus = (yield* corpora.create(managed("named"))).name
        const other = (yield* corpora.create(managed("named too"))).name
        const upload = (at: CorpusName, displayName: string, text: string) =>
          Effect.map(files.upload(textFile(at, displayName, text)), ({ file }) => file.name)
        const first = yield* upload(corpus, "a.txt", "one text")
        yield* upload(corpus, "folder/a.txt", "another text")
        const second = yield* upload(corpus, "a.txt", "a third text")
        yield* upload(other, "a.txt", "a fourth text")
        const named = (displayName: string) => Effect.map(filesNamed(files, corpus, displayName), (found) => found.map((file) => file.name))
        assert.sameMembers([...yield* named("a.txt")], [first, second])
        assert.deepStrictEqual(yield* named("A.TXT"), [])
        yield* files.delete(first)
        assert.deepStrictEqual(yield* named("a.txt"), [second])
      }))

    it.effect("keeps the corpora's files apart", () =>
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const files = yield* Files
        const one = (yield* corpora.create(managed("one"))).name
        const two = (yield* corpora.create(managed("two"))).name
        yield* files.upload(textFile(one, "a.txt", "a text"))
        assert.strictEqual((yield* files.list(two, {})).items.length, 0)
      }))

    it.effect("deletes a file", () =>
      Effect.gen(function*() {
        const files = yield* Files
        const corpus = (yield* (yield* Corpora).create(managed("deleting"))).name
        const { file } = yield* files.upload(textFile(corpus, "a.txt", "a text"))
        yield* files.delete(file.name)
        assert.strictEqual((yield* Effect.flip(files.get(file.name))).code, "NOT_FOUND")
        assert.strictEqual((yield* Effect.flip(files.delete(file.name))).code, "NOT_FOUND")
        assert.strictEqual((yield* files.list(corpus, {})).items.length, 0)
      }))

    it.effect("replaces a file by another", () =>
      Effect.gen(function*() {
        const files = yield* Files
        const corpus = (yield* (yield* Corpora).create(managed("replacing"))).name
        const old = yield* files.upload(textFile(corpus, "a.txt", "the old text"))
        const replacement = yield* files.upload({ ...textFile(corpus, "a.txt", "the new text"), replaces: old.file.name })
        const listed = yield* files.list(corpus, {})
        assert.deepStrictEqual(listed.items.map((file) => file.name), [replacement.file.name])
      }))
  })
}
