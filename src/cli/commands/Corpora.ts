import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { lastSegment } from "../../domain/ResourceNames.ts"
import { Corpora } from "../../ports/Corpora.ts"
import { pages } from "../../ports/Paging.ts"
import { printDone, printValue, rows } from "../render/Values.ts"
import { corpusNamed } from "../Resources.ts"
import { onResources, pipelineFlag } from "../Session.ts"

const name = Argument.String("corpus").pipe(Argument.withDescription("The corpus's id, name or display name"))

const list = Command.make(
  "list",
  { pipeline: pipelineFlag },
  Effect.fn(function*(args) {
    yield* onResources(
      args.pipeline,
      Effect.gen(function*() {
        const corpora = yield* Corpora
        yield* rows(pages(corpora.list), [
          { title: "id", cell: (c) => lastSegment(c.name) },
          { title: "display name", cell: (c) => c.displayName, flexible: true },
          { title: "files", cell: (c) => String(c.filesCount ?? ""), align: "right" },
          { title: "database", cell: (c) => c.vectorDb._tag },
          { title: "state", cell: (c) => c.state }
        ])
      })
    )
  })
).pipe(
  Command.withDescription("List the corpora of the engine."),
  Command.withExamples([{ command: "sluice corpora list --json", description: "full names and everything else about each" }])
)

const get = Command.make(
  "get",
  { corpus: name, pipeline: pipelineFlag },
  Effect.fn(function*(args) {
    yield* onResources(
      args.pipeline,
      Effect.gen(function*() {
        const corpora = yield* Corpora
        yield* printValue(yield* corpora.get(yield* corpusNamed(args.corpus)))
      })
    )
  })
).pipe(
  Command.withDescription("Show one corpus."),
  Command.withExamples([{ command: "sluice corpora get Handbook", description: "by its display name" }])
)

const remove = Command.make(
  "delete",
  {
    corpus: name,
    pipeline: pipelineFlag,
    force: Flag.Boolean("force").pipe(Flag.withDescription("Delete it with the files in it"), Flag.withDefault(false))
  },
  Effect.fn(function*(args) {
    yield* onResources(
      args.pipeline,
      Effect.gen(function*() {
        const corpora = yield* Corpora
        const corpus = yield* corpusNamed(args.corpus)
        yield* corpora.delete(corpus, { force: args.force })
        yield* printDone("deleted", corpus)
      }),
      { mode: "write", holder: "sluice corpora delete" }
    )
  })
).pipe(
  Command.withDescription("Delete a corpus. One that still has files needs --force. The next run of its pipeline creates a new one."),
  Command.withExamples([{ command: "sluice corpora delete Handbook --force", description: "with its files" }])
)

/** `sluice corpora`: the engine's corpora, whatever created them. */
export const corpora = Command.make("corpora").pipe(
  Command.withDescription("List, show and delete corpora."),
  Command.withExamples([{ command: "sluice corpora list", description: "the corpora of the data directory" }]),
  Command.withSubcommands([list, get, remove])
)
