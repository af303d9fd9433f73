import { Effect, Option, Result } from "effect"
import { Argument, Flag } from "effect/cli"
import type { Asker } from "../domain/Asker.ts"
import { defined } from "../domain/Defined.ts"
import { filterExample, filterMistake, keysOf, parseMetadataFilter } from "../domain/MetadataFilter.ts"
import type { Question, RetrieveOptions } from "../pipeline/stages/Retrieve.ts"
import { suggest } from "../pipeline/definition/Suggest.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import { Files } from "../ports/Files.ts"
import { askerFlag, topKFlag } from "./Flags.ts"
import { Output } from "./Output.ts"
import { given } from "./Root.ts"
import { pipelineFlag } from "./Session.ts"

/** A flag that takes an expression over metadata. */
export const whereFlag = (name: string) =>
  Flag.String(name).pipe(
    Flag.filter(
      (expression) => filterMistake(expression) === undefined,
      (expression) => `Expected an expression over metadata such as ${filterExample}; it ${filterMistake(expression) ?? ""}`
    ),
    Flag.withMetavar("EXPRESSION")
  )

/** Flags that restrict the visible files of a corpus. */
export const readerFlags = {
  where: whereFlag("where").pipe(
    Flag.withDescription("Only files whose metadata pass this filter: team == \"ops\" && year >= 2025"),
    Flag.optional
  ),
  as: askerFlag("as", "Only what this principal may read; without it you are the owner, who reads all")
}

/** An argument that is a question. */
export const questionArgument = (name: string, description: string) =>
  Argument.String(name).pipe(
    Argument.filter((text) => text.trim() !== "", () => "Expected words"),
    Argument.withDescription(description)
  )

/** Flags of commands that take a question; each overrides the pipeline's setting. */
export const questionFlags = {
  pipeline: pipelineFlag,
  topK: topKFlag("Number of contexts"),
  alpha: Flag.Finite("alpha").pipe(
    Flag.filter((alpha) => alpha >= 0 && alpha <= 1, () => "Expected a number from 0 to 1"),
    Flag.withDescription("Weight of meaning against words: 0 is words only, 1 is vectors only"),
    Flag.withMetavar("0..1"),
    Flag.optional
  ),
  maxDistance: Flag.Finite("max-distance").pipe(
    Flag.filter((distance) => distance >= 0 && distance <= 2, () => "Expected a number from 0 to 2"),
    Flag.withDescription("Only contexts closer than this cosine distance"),
    Flag.withMetavar("0..2"),
    Flag.optional
  ),
  ...readerFlags,
  noSpelling: Flag.Boolean("no-spelling").pipe(
    Flag.withDescription("Do not correct words that no document has"),
    Flag.withDefault(false)
  )
}

/** Arguments of a command with {@link questionFlags}. */
export interface QuestionArgs {
  readonly pipeline: Option.Option<string>
  readonly topK: Option.Option<number>
  readonly alpha: Option.Option<number>
  readonly maxDistance: Option.Option<number>
  readonly where: Option.Option<string>
  readonly as: Asker | undefined
  readonly noSpelling: boolean
}

export const optionsOf = (
  flags: Omit<QuestionArgs, "pipeline">,
  text: string
): { readonly question: Question; readonly options: RetrieveOptions } => {
  const topK = given(flags.topK)
  const alpha = given(flags.alpha)
  const maxDistance = given(flags.maxDistance)
  const metadataFilter = given(flags.where)
  return {
    question: { question: text, principal: flags.as },
    options: {
      topK,
      hybrid: alpha === undefined ? undefined : { alpha },
      filter: maxDistance === undefined && metadataFilter === undefined ? undefined : defined({ maxDistance, metadataFilter }),
      correctSpelling: flags.noSpelling ? false : undefined
    }
  }
}

/**
 * Says which keys of `--where` no file has, for a question that found nothing: a comparison with such a key is false for every file. Says
 * nothing where the engine would have to list every file to know.
 */
export const sayUnknownKeys = Effect.fnUntraced(function*(pipeline: Definition, { where }: Pick<QuestionArgs, "where">) {
  const { facets } = yield* Files
  const filter = Option.map(where, (expression) => parseMetadataFilter(expression, "where"))
  if (facets === undefined || Option.isNone(filter) || Result.isFailure(filter.value)) return
  const { corpusOf } = yield* Effect.promise(() => import("../pipeline/RunPipeline.ts"))
  const { name } = yield* corpusOf(pipeline)
  const asked = yield* facets(name, { keys: [...new Set(keysOf(filter.value.success))] })
  const unknown = asked.filter(({ values }) => values.length === 0).map(({ key }) => key)
  if (unknown.length === 0) return
  const known = (yield* facets(name, {})).map(({ key }) => key)
  const meant = suggest(unknown[0] as string, known)
  const output = yield* Output
  yield* output.say(
    `No file has ${unknown.join(", ")}, which --where names${
      meant !== undefined ? `; did you mean ${meant}?` : known.length === 0 ? "" : `: they have ${known.join(", ")}.`
    }`
  )
})
