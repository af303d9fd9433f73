/**
 * A process of its own that writes to the data directory named by its first argument, until it is done or killed.
 * The second argument is what it does:
 *
 * - `replace`: puts one file of three chunks again and again, each version in the place of the one before, until its
 *   stdin is closed.
 * - `ingest`: brings the corpus to 40 files, file `f{i}` at version `i % 3`; each goes through its versions one by one.
 *
 * It prints a line when it has begun to write and one when it is done.
 */
import { Effect, Stream } from "effect"
import { Corpora } from "../../../../src/ports/Corpora.ts"
import { Files } from "../../../../src/ports/Files.ts"
import { pages } from "../../../../src/ports/Paging.ts"
import { managed } from "../../../conformance/Cases.ts"
import { engine, textFile } from "./Engine.ts"
import { ingested, versionOf } from "./Ingested.ts"

const [folder = "", task = "ingest"] = process.argv.slice(2)

const corpus = Effect.gen(function*() {
  const corpora = yield* Corpora
  const [known] = (yield* corpora.list({})).items
  return (known ?? (yield* corpora.create(managed("c")))).name
})

const replace = Effect.gen(function*() {
  const files = yield* Files
  const name = yield* corpus
  const text = (version: number) => [1, 2, 3].map((part) => `marker version${version} part${part}`).join("\n\n")
  let { file } = yield* files.upload(textFile(name, "doc", text(0)))
  process.stdin.resume()
  console.log("writing")
  for (let version = 1; !process.stdin.readableEnded; version++) {
    file = (yield* files.upload(textFile(name, "doc", text(version), { replaces: file.name }))).file
  }
})

const ingest = Effect.gen(function*() {
  const files = yield* Files
  const name = yield* corpus
  const listed = yield* Stream.runCollect(pages((page) => files.list(name, page)))
  const stored = new Map([...listed].map((file) => [file.displayName, file]))
  console.log("writing")
  yield* Effect.forEach(ingested, ({ displayName, target, text }) =>
    Effect.gen(function*() {
      let file = stored.get(displayName)
      for (let version = file === undefined ? 0 : versionOf(file) + 1; version <= target; version++) {
        const replaces = file === undefined ? {} : { replaces: file.name }
        const metadata = { version: String(version) }
        file = (yield* files.upload(textFile(name, displayName, text(version), { metadata, ...replaces }))).file
      }
    }), { concurrency: 4, discard: true })
})

await Effect.runPromise(Effect.provide(task === "replace" ? replace : ingest, engine(folder)))
console.log("done")
