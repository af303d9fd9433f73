import { Effect, FileSystem, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { completionText, promptColumn } from "../../domain/batch/BatchRow.ts"
import { ExitCode, ServiceError } from "../../domain/Errors.ts"
import { BatchPrediction } from "../../ports/BatchPrediction.ts"
import { ObjectStore } from "../../ports/ObjectStore.ts"
import { TableStore } from "../../ports/TableStore.ts"
import type { JoinedRow } from "../../text/rows/JoinResults.ts"
import { jobArgument, jobNamed, onBatch } from "../Batch.ts"
import { exitWith } from "../Exit.ts"
import { optionalText } from "../Flags.ts"
import { Output } from "../Output.ts"
import { count, plural } from "../render/Numbers.ts"
import { rows } from "../render/Values.ts"
import { given, root } from "../Root.ts"

/** `sluice batch results`: shows the outcome of each row. */
export const batchResults = Command.make(
  "results",
  {
    job: jobArgument,
    out: Flag.String("out").pipe(
      Flag.withAlias("o"),
      Flag.withDescription(
        "Write a JSON line for each row to this file, completely or not at all. Default: a table, or JSON lines with --json"
      ),
      Flag.withMetavar("FILE"),
      Flag.optional
    ),
    again: optionalText("again", "FILE", "Write the rows without an answer to this file, as they were, ready to be submitted again")
  },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const tally = yield* onBatch(Effect.gen(function*() {
      const { joinResults } = yield* Effect.promise(() => import("../../text/rows/JoinResults.ts"))
      const job = yield* (yield* BatchPrediction).get(yield* jobNamed(args.job))
      const joined = yield* joinResults(job, { objects: yield* ObjectStore, tables: yield* TableStore })
      const [out, again] = [given(args.out), given(args.again)]
      const unanswered = again === undefined ? undefined : yield* wholeFile(again)
      const all = joined.rows.pipe(
        Stream.tap(({ result, row: { body, carried, customId, form } }) =>
          unanswered === undefined || (result !== undefined && result.error === undefined)
            ? Effect.void
            : unanswered.write({ custom_id: customId, ...carried, [promptColumn(form)]: body })
        )
      )
      if (out !== undefined) {
        const file = yield* wholeFile(out)
        yield* Stream.runForEach(all, (row) => file.write(shown(row)))
        yield* file.finish
      } else if (json) yield* Stream.runForEach(all, (row) => output.json({ version: 1, type: "row", ...shown(row) }))
      else {
        yield* rows(all, [
          { title: "custom_id", cell: ({ row }) => row.customId ?? "", flexible: true },
          { title: "state", cell: stateOf },
          { title: "answer", cell: ({ result }) => result?.error?.message ?? completionText(result?.response ?? {}), flexible: true }
        ])
      }
      yield* unanswered?.finish ?? Effect.void
      return joined.tally()
    })).pipe(Effect.scoped)
    if (json) yield* output.json({ version: 1, type: "results", ...tally })
    else {
      yield* output.say(`answered ${count(tally.answered)}, failed ${count(tally.failed)}, missing ${count(tally.missing)}`)
      if (tally.unmatched > 0) yield* output.say(`${plural(tally.unmatched, "result")} of rows that are no longer in the input`)
    }
    return yield* exitWith(tally.failed + tally.missing > 0 ? ExitCode.someFailed : ExitCode.done)
  })
).pipe(
  Command.withShortDescription("Join a job's results to the rows of its input."),
  Command.withDescription(
    "Join a job's results to the rows of its input by custom_id, in the order of the input, whatever its size. Reports rows that failed and rows without a result; exits 3 when there are any."
  ),
  Command.withExamples([
    { command: "sluice batch results 8013846402219253760 -o answers.jsonl", description: "every row with its answer" },
    {
      command: "sluice batch results 8013846402219253760 -o answers.jsonl --again again.jsonl",
      description: "and the failed rows, to be submitted again"
    }
  ])
)

const stateOf = ({ result }: JoinedRow): "answered" | "failed" | "missing" =>
  result === undefined ? "missing" : result.error === undefined ? "answered" : "failed"

const shown = (joined: JoinedRow): object => {
  const { result, row } = joined
  return {
    custom_id: row.customId,
    ...row.carried,
    state: stateOf(joined),
    ...(result?.response === undefined ? {} : { text: completionText(result.response), response: result.response }),
    ...(result?.error === undefined ? {} : { error: result.error })
  }
}

/** A file of JSON lines that gets its name once it is complete; until then the previous file stays. */
const wholeFile = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  const unwritable = () => ServiceError.invalid("--out", `${path} cannot be written`)
  const temporary = `${path}.${process.pid}.tmp`
  const file = yield* fs.open(temporary, { flag: "w" }).pipe(Effect.mapError(unwritable))
  yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(temporary, { force: true })))
  const encoder = new TextEncoder()
  return {
    write: (line: object) => Effect.mapError(file.writeAll(encoder.encode(`${JSON.stringify(line)}\n`)), unwritable),
    finish: Effect.mapError(Effect.andThen(file.sync, fs.rename(temporary, path)), unwritable)
  }
})
