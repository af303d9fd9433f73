import { Option } from "effect"
import { Command, Flag } from "effect/cli"
import { fromHere } from "./Paths.ts"

/** The root command, and the flags that every command understands. */
export const root = Command.make("sluice").pipe(
  Command.withDescription(
    "RAG pipelines: put documents into a corpus and keep them in sync, retrieve, and answer with citations."
  ),
  Command.withExamples([
    { command: "sluice init ./docs", description: "write pipeline.yaml for a folder of documents" },
    { command: "sluice run", description: "put them into a corpus, or bring it up to date" },
    { command: "sluice ask \"How many days of leave carry over?\"", description: "an answer with its sources" },
    { command: "source <(sluice --completions bash)", description: "completion in this shell; zsh and fish have theirs" }
  ]),
  Command.withSharedFlags({
    dataDir: Flag.Directory("data-dir").pipe(
      Flag.map(fromHere),
      Flag.withDescription("Where state is kept: the ledger, and on the embedded engine the corpora. Default .sluice"),
      Flag.withMetavar("DIR"),
      Flag.withDefault(".sluice")
    ),
    engine: Flag.Literals("engine", ["embedded", "vertex"]).pipe(
      Flag.withDescription("Run on this engine instead of the one the pipeline names"),
      Flag.withMetavar("ENGINE"),
      Flag.optional
    ),
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print JSON on stdout, errors too: one document, or an event a line"),
      Flag.withDefault(false)
    )
  })
)

/** `undefined` where a flag was not given. */
export const given = Option.getOrUndefined
