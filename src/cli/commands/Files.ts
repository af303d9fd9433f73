import { Effect, Option, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { defined } from "../../domain/Defined.ts"
import { parseMetadataFilter } from "../../domain/MetadataFilter.ts"
import { facetsOf, Files } from "../../ports/Files.ts"
import { pages } from "../../ports/Paging.ts"
import { Output } from "../Output.ts"
import { renderChunks } from "../render/Document.ts"
import { generationLines } from "../render/Generations.ts"
import { count, plural } from "../render/Numbers.ts"
import { printable } from "../../domain/Text.ts"
import { lastSegment } from "../../domain/ResourceNames.ts"
import { asWritten, printDone, printValue, rows } from "../render/Values.ts"
import { readerFlags } from "../Question.ts"
import { makeTable } from "../render/Table.ts"
import { corpusFlag, corpusIn, fileNamed, isFileName } from "../Resources.ts"
import { given, root } from "../Root.ts"
import { notTogether } from "../UsageError.ts"
import { onEngine, openForResources, openPipeline, pipelineFlag, reading } from "../Session.ts"

const flags = { corpus: corpusFlag, pipeline: pipelineFlag }

const file = Argument.String("file").pipe(Argument.withDescription("The file's path, id or full name"))

/** Without a named corpus it is the pipeline's, so there must be a pipeline. */
const open = (args: { readonly corpus: Option.Option<string>; readonly pipeline: Option.Option<string> }, named = false) =>
  named || Option.isSome(args.corpus) ? openForResources(args.pipeline) : openPipeline(args.pipeline)

const optional = (n: number | undefined): string => (n === undefined ? "" : count(n))

/** Flag for the generation of a pipeline. */
const candidateFlag = {
  candidate: Flag.Boolean("candidate").pipe(
    Flag.withDescription("Use the pipeline's candidate instead of the live corpus"),
    Flag.withDefault(false)
  )
}

/** Only a pipeline has a candidate: fails where another corpus is named. */
const oneGeneration = (args: { readonly candidate: boolean; readonly corpus: Option.Option<string> }) =>
  notTogether({ "--candidate": args.candidate, "--corpus": Option.isSome(args.corpus) })

const list = Command.make(
  "list",
  {
    ...flags,
    ...candidateFlag
  },
  Effect.fn(function*(args) {
    yield* oneGeneration(args)
    const output = yield* Output
    const loaded = yield* open(args)
    const [{ GenerationInUse }, { generationsOf }] = yield* Effect.promise(() =>
      Promise.all([import("../../pipeline/sync/Generations.ts"), import("../../pipeline/RunPipeline.ts")])
    )
    yield* onEngine(
      loaded,
      reading,
      Effect.gen(function*() {
        const files = yield* Files
        const generations = Option.isSome(args.corpus) ? [] : yield* generationsOf(loaded.pipeline)
        if (generations.length > 1) { for (const line of generationLines(generations)) yield* output.say(printable(line)) }
        const corpus = yield* corpusIn(loaded.pipeline, args.corpus)
        yield* rows(pages((page) => files.list(corpus, page)), [
          { title: "id", cell: (f) => lastSegment(f.name) },
          { title: "path", cell: (f) => f.displayName, flexible: true },
          { title: "chunks", cell: (f) => optional(f.chunks), align: "right" },
          { title: "bytes", cell: (f) => optional(f.sizeBytes), align: "right" },
          { title: "state", cell: (f) => f.state }
        ])
      }).pipe(Effect.provideService(GenerationInUse, args.candidate ? "candidate" : "live"))
    )
  })
).pipe(
  Command.withDescription("List the files of a corpus."),
  Command.withExamples([
    { command: "sluice files list", description: "files of the corpus of the pipeline in this folder" },
    { command: "sluice files list --corpus Handbook --json", description: "full names and everything else about each" }
  ])
)

const get = Command.make(
  "get",
  { file, ...flags },
  Effect.fn(function*(args) {
    const loaded = yield* open(args, isFileName(args.file))
    yield* onEngine(
      loaded,
      reading,
      Effect.gen(function*() {
        const files = yield* Files
        yield* printValue(yield* files.get(yield* fileNamed(args.file, loaded.pipeline, args.corpus)))
      })
    )
  })
).pipe(
  Command.withDescription("Show one file."),
  Command.withExamples([{ command: "sluice files get people/leave-policy.md", description: "by its path in the source" }])
)

/** Chunks printed at a time, so that a long file is shown with constant memory. */
const chunksShown = 200

const show = Command.make(
  "show",
  { file, ...flags },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const loaded = yield* open(args, isFileName(args.file))
    yield* onEngine(
      loaded,
      reading,
      Effect.gen(function*() {
        const files = yield* Files
        const name = yield* fileNamed(args.file, loaded.pipeline, args.corpus)
        const chunks = pages((page) => files.chunks(name, page), chunksShown)
        if (json) {
          const stored = yield* Stream.runCollect(chunks)
          return yield* output.json({ version: 1, file: asWritten(yield* files.get(name)), chunks: stored })
        }
        const { displayName, metadata = {}, ...about } = yield* files.get(name)
        const facts = [
          ...(about.chunks === undefined ? [] : [plural(about.chunks, "chunk")]),
          ...(about.sizeBytes === undefined ? [] : [`${count(about.sizeBytes)} bytes`]),
          ...Object.entries(metadata).map(([key, value]) => `${key} ${value}`)
        ]
        yield* output.print(`${output.paint("bold", printable(displayName))}  ${printable(facts.join(", "))}`)
        yield* Stream.runForEach(Stream.grouped(chunks, chunksShown), (some) => output.print(`\n${renderChunks(some, output)}`))
      })
    )
  })
).pipe(
  Command.withDescription(
    "Print the text of one file as it is stored and searched: its chunks with their pages, headings and offsets, which are UTF-8 bytes of the file's text. Vertex AI does not return the texts of its files."
  ),
  Command.withExamples([
    { command: "sluice files show people/leave-policy.md", description: "by its path in the source" },
    {
      command: "sluice files show report.pdf --json > stored.json",
      description: "which `sluice parse report.pdf --diff stored.json` compares"
    }
  ])
)

const facets = Command.make(
  "facets",
  {
    ...flags,
    keys: Argument.String("key").pipe(
      Argument.withDescription("Metadata keys; without any, all keys that people and the pipeline's rules wrote"),
      Argument.variadic()
    ),
    ...readerFlags,
    ...candidateFlag
  },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    yield* oneGeneration(args)
    const loaded = yield* open(args)
    const where = given(args.where)
    const filter = where === undefined ? undefined : yield* Effect.fromResult(parseMetadataFilter(where, "--where"))
    const query = defined({ keys: args.keys.length === 0 ? undefined : args.keys, where: filter, principal: args.as })
    const { GenerationInUse } = yield* Effect.promise(() => import("../../pipeline/sync/Generations.ts"))
    const facets = yield* onEngine(
      loaded,
      reading,
      Effect.gen(function*() {
        return yield* facetsOf(yield* Files, yield* corpusIn(loaded.pipeline, args.corpus), query)
      }).pipe(Effect.provideService(GenerationInUse, args.candidate ? "candidate" : "live"))
    )
    if (json) return yield* output.json({ version: 1, facets })
    const table = makeTable([{ title: "key" }, { title: "value", flexible: true }, { title: "files", align: "right" }], output.width)
    const shown = facets.flatMap(({ key, others, values, without }) => [
      ...values.map(({ files, value }) => [key, printable(String(value)), count(files)]),
      ...(others === undefined ? [] : [[key, `(${plural(others.values, "other value")})`, count(others.files)]]),
      ...(without === 0 ? [] : [[key, "(none)", count(without)]])
    ])
    yield* shown.length === 0 ? output.say("no file has metadata") : output.print(table(shown))
  })
).pipe(
  Command.withDescription("Count the files of a corpus by the values of their metadata, the 100 most frequent of each key."),
  Command.withExamples([
    { command: "sluice files facets", description: "every key" },
    { command: "sluice files facets --candidate", description: "values in the candidate, before it is promoted" },
    { command: "sluice files facets team year --where 'status == \"final\"'", description: "two keys, of files that pass a filter" }
  ])
)

const remove = Command.make(
  "delete",
  { file, ...flags },
  Effect.fn(function*(args) {
    const loaded = yield* open(args, isFileName(args.file))
    yield* onEngine(
      loaded,
      { mode: "write", holder: "sluice files delete" },
      Effect.gen(function*() {
        const files = yield* Files
        const name = yield* fileNamed(args.file, loaded.pipeline, args.corpus)
        yield* files.delete(name)
        yield* printDone("deleted", name)
      })
    )
  })
).pipe(
  Command.withDescription(
    "Delete one file from its corpus. The next run of a pipeline whose source still has it stores it again: leave it out of the source, with exclude or .sluiceignore, to keep it out."
  ),
  Command.withExamples([{ command: "sluice files delete drafts/old.md", description: "by its path in the source" }])
)

/** `sluice files`: the files of a corpus. */
export const files = Command.make("files").pipe(
  Command.withDescription("List, count, show and delete the files of a corpus."),
  Command.withExamples([{ command: "sluice files list", description: "of the corpus that the pipeline in this folder fills" }]),
  Command.withSubcommands([list, facets, get, show, remove])
)
