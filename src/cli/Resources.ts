import { Effect, Option, Schema, Stream } from "effect"
import { CorpusName } from "../domain/Corpus.ts"
import { ServiceError } from "../domain/Errors.ts"
import { RagFileName } from "../domain/RagFile.ts"
import { lastSegment } from "../domain/ResourceNames.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import { Corpora } from "../ports/Corpora.ts"
import { Engine } from "../ports/Engine.ts"
import { Files } from "../ports/Files.ts"
import { pages } from "../ports/Paging.ts"
import { optionalText } from "./Flags.ts"
import { UsageError } from "./UsageError.ts"

/** Makes a full resource name of one, or of its id. */
export const resourceName = <A>(schema: Schema.Codec<A, string>, collection: string, written: string) =>
  Effect.gen(function*() {
    const { parent } = yield* Engine
    return yield* Schema.decodeEffect(schema)(written.includes("/") ? written : `${parent}/${collection}/${written}`).pipe(
      Effect.mapError(() => new UsageError({ message: `${written} is not a name of ${collection}`, fix: "use one that `list` shows" }))
    )
  })

const isId = (written: string): boolean => /^[0-9]+$/.test(written)

/** The only item that matches what a person wrote. */
const only = <A extends { readonly name: string }>(
  found: ReadonlyArray<A>,
  what: string,
  list: string
): Effect.Effect<A["name"], ServiceError | UsageError> => {
  const [first, ...others] = found
  if (first === undefined) return Effect.fail(ServiceError.notFound(what, `see what there is: ${list}`))
  if (others.length === 0) return Effect.succeed(first.name)
  return Effect.fail(
    new UsageError({
      message: `several resources match ${what}`,
      fix: `give the id: ${found.map(({ name }) => lastSegment(name)).join(", ")}`
    })
  )
}

/** Most names listed where a person's word matches several. */
const shownDoubles = 5

/** Finds a corpus by full name, id or display name. */
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

/** Flag for the corpus of commands about files. */
export const corpusFlag = optionalText("corpus", "CORPUS", "The corpus's name, id or display name; the pipeline's own when left out")

/** The named corpus, or else the one that the pipeline's runs have filled. */
export const corpusIn = Effect.fn("corpusIn")(function*(pipeline: Definition, named: Option.Option<string>) {
  if (Option.isSome(named)) return yield* corpusNamed(named.value)
  const { corpusOf } = yield* Effect.promise(() => import("../pipeline/RunPipeline.ts"))
  return (yield* corpusOf(pipeline)).name
})

export const isFileName = (written: string): boolean => written.includes("/ragFiles/")

/** Finds a file by full name, or within a corpus by id or path. */
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
