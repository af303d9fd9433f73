import { Effect, Option } from "effect"
import { Command, Flag, Param, Primitive } from "effect/cli"
import { fromHere } from "./Paths.ts"

const { parse } = Primitive.Path("directory")

/** A folder. The empty text of a variable that is not set is refused: as a path, it is the working directory. */
const folder = Object.assign(Primitive.Path("directory"), {
  parse: (value: string) => value === "" ? Effect.fail("Expected a folder") : parse(value)
})

/** The root command, and the flags that every command understands. */
export const root = Command.make("sluice").pipe(
  Command.withDescription(
    "RAG pipelines: store documents in a corpus and keep it in sync, retrieve, and answer with citations."
  ),
  Command.withExamples([
    { command: "sluice init ./docs", description: "write pipeline.yaml for a folder of documents" },
    { command: "sluice run", description: "store them in a corpus, or bring it up to date" },
    { command: "sluice ask \"How many days of leave carry over?\"", description: "an answer with its sources" },
    { command: "source <(sluice --completions bash)", description: "completion in this shell; also for zsh and fish" }
  ]),
  Command.withSharedFlags({
    dataDir: Param.makeSingle({ kind: Param.flagKind, name: "data-dir", typeName: "directory", primitiveType: folder }).pipe(
      Flag.map(fromHere),
      Flag.withDescription("Folder of the state: the ledger and, on the embedded engine, the corpora. Default .sluice"),
      Flag.withMetavar("DIR"),
      Flag.withDefault(".sluice")
    ),
    engine: Flag.Literals("engine", ["embedded", "vertex"]).pipe(
      Flag.withDescription("Run on this engine instead of the one the pipeline names"),
      Flag.withMetavar("ENGINE"),
      Flag.optional
    ),
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print JSON on stdout, errors included: one document, or one event per line"),
      Flag.withDefault(false)
    )
  })
)

/** The value of a flag; `undefined` where it was not given. */
export const given = Option.getOrUndefined
