import { Effect, Option, Schema, Stream } from "effect"
import { CorpusName } from "../domain/Corpus.ts"
import { ServiceError } from "../domain/Errors.ts"
import { RagFileName } from "../domain/RagFile.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import { Corpora } from "../ports/Corpora.ts"
import { Engine } from "../ports/Engine.ts"
import { Files } from "../ports/Files.ts"
import { pages } from "../ports/Paging.ts"
import { optionalText } from "./Flags.ts"
import { UsageError } from "./UsageError.ts"

/** Ids are what ends a resource name; in a table they are enough. */
export const idOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1)

/** A full resource name, or the id at its end made into one. */
export const resourceName = <A>(schema: Schema.Codec<A, string>, collection: string, written: string) =>
  Effect.gen(function*() {
    const { parent } = yield* Engine
    return yield* Schema.decodeEffect(schema)(written.includes("/") ? written : `${parent}/${collection}/${written}`).pipe(
      Effect.mapError(() => new UsageError({ message: `${written} is not a name of ${collection}`, fix: "take one that `list` shows" }))
    )
  })

const isId = (written: string): boolean => /^[0-9]+$/.test(written)

/** The one item that a person named by what it is called. */
const only = <A extends { readonly name: string }>(
  found: ReadonlyArray<A>,
  what: string,
  list: string
): Effect.Effect<A["name"], ServiceError | UsageError> => {
  const [first, ...others] = found
  if (first === undefined) return Effect.fail(ServiceError.notFound(what, `see what there is: ${list}`))
  if (others.length === 0) return Effect.succeed(first.name)
  return Effect.fail(
    new UsageError({ message: `there are several of ${what}`, fix: `give the id: ${found.map(({ name }) => idOf(name)).join(", ")}` })
  )
}

/** Names of one kind listed where a person's word fits several. */
const shownDoubles = 5

/** A corpus by full name, id or display name. */
export const corpusNamed = Effect.fn("corpusNamed")(function*(written: string) {
  if (written.startsWith("projects/") || isId(written)) return yield* resourceName(CorpusName, "ragCorpora", written)
  const corpora = yield* Corpora
  const found = yield* pages(corpora.list).pipe(
    Stream.filter(({ displayName }) => displayName === written),
    Stream.take(shownDoubles),
    Stream.runCollect
  )
  return CorpusName.make(yield* only(found, `corpus "${written}"`, "sluice corpora list"))
})

/** The corpus of commands about files. */
export const corpusFlag = optionalText("corpus", "CORPUS", "The corpus's name, id or display name; the pipeline's own when left out")

/** The corpus that was named, else the one that the pipeline's runs have filled. */
export const corpusIn = Effect.fn("corpusIn")(function*(pipeline: Definition, named: Option.Option<string>) {
  if (Option.isSome(named)) return yield* corpusNamed(named.value)
  const { corpusOf } = yield* Effect.promise(() => import("../pipeline/RunPipeline.ts"))
  return (yield* corpusOf(pipeline)).name
})

export const isFileName = (written: string): boolean => written.includes("/ragFiles/")

/** A file by full name, or within a corpus by id or path. */
export const fileNamed = Effect.fn("fileNamed")(function*(written: string, pipeline: Definition, corpus: Option.Option<string>) {
  if (isFileName(written)) return RagFileName.make(written)
  const parent = yield* corpusIn(pipeline, corpus)
  if (isId(written)) return RagFileName.make(`${parent}/ragFiles/${written}`)
  const files = yield* Files
  const found = yield* pages((page) => files.list(parent, page)).pipe(
    Stream.filter(({ displayName }) => displayName === written),
    Stream.take(shownDoubles),
    Stream.runCollect
  )
  return RagFileName.make(yield* only(found, `file "${written}"`, "sluice files list"))
})
