import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { ExitCode } from "../../domain/Errors.ts"
import { printable } from "../../domain/Text.ts"
import type { Diff, Difference } from "../../pipeline/sync/Diff.ts"
import { joinsNote } from "../../pipeline/sync/Diff.ts"
import { exitWith } from "../Exit.ts"
import { Output } from "../Output.ts"
import { plural } from "../render/Numbers.ts"
import { makeTable } from "../render/Table.ts"
import { wrap } from "../render/Wrap.ts"
import { root } from "../Root.ts"
import { onEngine, openPipeline, pipelineArgument, reading } from "../Session.ts"

/** Lines printed at a time, so that a difference of any size is shown with constant memory. */
const pageSize = 200

/** `sluice diff`: compares the ledger with the target, without contacting the sources. */
export const diff = Command.make(
  "diff",
  {
    pipeline: pipelineArgument,
    detailedExitcode: Flag.Boolean("detailed-exitcode").pipe(
      Flag.withDescription("Exit 2 when they differ, 0 when they do not"),
      Flag.withDefault(false)
    )
  },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const loaded = yield* openPipeline(args.pipeline)
    const { diffPipeline } = yield* Effect.promise(() => import("../../pipeline/RunPipeline.ts"))
    const table = makeTable([{ title: "difference" }, { title: "file", flexible: true }, { title: "why", flexible: true }], output.width)
    let page: Array<ReadonlyArray<string>> = []
    const flush = Effect.suspend(() => {
      const rows = page
      page = []
      return rows.length === 0 ? Effect.void : output.print(table(rows))
    })
    const found = yield* onEngine(
      loaded,
      reading,
      diffPipeline(loaded.pipeline, (difference) => {
        if (json) return output.json({ version: 1, ...difference })
        page.push(rowOf(difference))
        return page.length < pageSize ? Effect.void : flush
      })
    )
    if (json) yield* output.json({ version: 1, type: "diff", ...found })
    else {
      yield* flush
      if (found.joins !== undefined) {
        const note = joinsNote(`"${loaded.pipeline.corpus.displayName}"`, found.joins)
        yield* output.print(output.paint("yellow", wrap(printable(`the next run ${note}`), output.width)))
      }
      yield* output.print(summary(found))
    }
    return yield* exitWith(args.detailedExitcode && differs(found) ? ExitCode.changesPending : ExitCode.done)
  })
).pipe(
  Command.withShortDescription("Show where the ledger and the corpus differ."),
  Command.withDescription(
    "Show where the ledger and the corpus differ: files deleted or replaced by others, files that others stored, and writes that were begun and not confirmed. Sources are not contacted, and nothing is changed."
  ),
  Command.withExamples([
    { command: "sluice diff pipeline.yaml", description: "does the corpus have what was stored there?" },
    { command: "sluice diff --detailed-exitcode", description: "for scripts: 2 means that it does not" }
  ])
)

const rowOf = (d: Difference): ReadonlyArray<string> => {
  switch (d.type) {
    case "missing":
      return [d.type, `${d.source}: ${d.path}`, "in the ledger, not in the corpus"]
    case "differs":
      return [d.type, `${d.source}: ${d.path}`, d.why]
    case "open":
      return [d.type, `${d.source}: ${d.path}`, "a write was begun and not confirmed; the next run settles it"]
    case "stray":
      return [d.type, d.displayName, `carries this pipeline's mark, and the ledger does not know it (${d.file})`]
    case "foreign":
      return [
        d.type,
        d.displayName,
        `put there by ${d.pipeline === undefined ? "something else" : `pipeline ${d.pipeline}`}, and left alone (${d.file})`
      ]
  }
}

/** Whether anything differs. Files of others do not count. */
const differs = ({ differences: { foreign: _, ...ours } }: Diff): boolean => Object.values(ours).some((n) => n > 0)

const summary = (found: Diff): string =>
  found.corpus === "missing"
    ? "There is no corpus yet: sluice run"
    : `${plural(found.same, "file")} as the ledger says` +
      Object.entries(found.differences).filter(([, n]) => n > 0).map(([kind, n]) => `, ${n} ${kind}`).join("")
