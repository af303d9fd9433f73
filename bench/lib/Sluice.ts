import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { stringify } from "yaml"
import type { Chunking } from "../../src/domain/Chunking.ts"
import { succeed } from "./Process.ts"
import type { Answered, Subject } from "./Subject.ts"

const root = join(import.meta.dirname, "..", "..")

/** Path of the built command line that `package.json` names. @throws when it was not built */
export const builtCommandLine = (): string => {
  const { bin }: { bin: { sluice: string } } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  const path = join(root, bin.sluice)
  if (!existsSync(path)) throw new Error(`${bin.sluice} is missing: run \`npm run build\` first`)
  return path
}

/** Sluice as a user runs it: with a pipeline file and `sluice run`. Queries go through the engine's ports. */
export const sluice = (commandLine: string, workspace: string, chunking?: Chunking): Subject => ({
  name: "sluice",
  looksForChanges: true,
  sync: async (docs, store) => {
    const file = join(workspace, `${chunking === undefined ? "default" : "bench"}.yaml`)
    writeFileSync(
      file,
      stringify({
        name: "bench",
        engine: "embedded",
        corpus: { displayName: "Bench" },
        sources: { docs: { local: { path: docs } } },
        ...(chunking === undefined ? {} : { chunking }),
        stages: [{ retrieve: { topK: 10 } }]
      })
    )
    const { cpu, peakRss, seconds, stdout } = await succeed(process.execPath, [
      commandLine,
      "run",
      file,
      "--data-dir",
      store,
      "--json"
    ])
    const { chunks, embedded } = reportOf(stdout)
    return { seconds, chunks, embedded, ...(peakRss === undefined ? {} : { peakRss }), ...(cpu === undefined ? {} : { cpu }) }
  },
  query: async (store, queries) => {
    const program = join(import.meta.dirname, "Queries.ts")
    const { stdout } = await succeed(process.execPath, [program, store], { input: JSON.stringify(queries) })
    const answered: Answered = JSON.parse(stdout)
    return answered
  }
})

/** The report of a run, which is its last event. */
const reportOf = (events: string): { readonly chunks: number; readonly embedded: number } => {
  const last: { type?: string; report?: { chunks: number; embedded: number } } = JSON.parse(events.trimEnd().split("\n").at(-1) ?? "{}")
  if (last.type !== "report" || last.report === undefined) throw new Error("the run ended without a report event")
  return last.report
}
