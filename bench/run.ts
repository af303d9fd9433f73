/**
 * The performance bench: one generated corpus, every figure of one run beside its budget, the floor and LangChain.js.
 *
 *     npm run bench -- [--files 2000] [--bytes 10000000] [--seed 1] [--chunk-size 256] [--overlap 50]
 *                      [--queries 300] [--repeat 3] [--no-peer] [--json results.json] [--cli FILE]
 *
 * Needs a build, or the file of another one as --cli. Figures of one run compare with each other and with nothing else:
 * machines differ, and so does the same machine tomorrow. A slow figure is printed, not failed.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { cpus, tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type CorpusOptions, defaultCorpus, writeCorpus } from "./corpus.ts"
import { changedChunks, measure, measureCold, measureProgram, type Task } from "./lib/Measure.ts"
import { langchain } from "./lib/Langchain.ts"
import { builtCommandLine, sluice } from "./lib/Sluice.ts"
import type { Cpu } from "./lib/Process.ts"
import { warmUpQueries } from "./lib/Statistics.ts"
import { type Row, table } from "./lib/Table.ts"

const { values } = parseArgs({
  allowNegative: true,
  options: {
    files: { type: "string", default: String(defaultCorpus.files) },
    bytes: { type: "string", default: String(defaultCorpus.bytes) },
    seed: { type: "string", default: String(defaultCorpus.seed) },
    "chunk-size": { type: "string", default: "256" },
    overlap: { type: "string", default: "50" },
    queries: { type: "string", default: "300" },
    repeat: { type: "string", default: "3" },
    peer: { type: "boolean", default: true },
    json: { type: "string" },
    cli: { type: "string" }
  }
})
const corpus: CorpusOptions = { files: Number(values.files), bytes: Number(values.bytes), seed: Number(values.seed) }
/** Smaller than the default, so that 10 MB make the 12,000 chunks that the budgets of queries speak of. */
const chunking = { strategy: "fixed", size: Number(values["chunk-size"]), overlap: Number(values.overlap) } as const
const repeat = Number(values.repeat)
const cliStarts = 5

const cpuOf = (ran: { readonly cpu?: Cpu } | undefined): number | undefined =>
  ran?.cpu === undefined ? undefined : ran.cpu.own + ran.cpu.descendants

const bench = async (workspace: string): Promise<void> => {
  const commandLine = values.cli ?? builtCommandLine()
  const docs = join(workspace, "docs")
  const bytes = writeCorpus(docs, corpus)
  const note = (doing: string): void => void process.stderr.write(`${doing}\n`)
  const task: Task = { docs, workspace, corpus, queries: Number(values.queries), repeat, note }

  note("command line start")
  const start = await measureProgram([commandLine, "--version"], cliStarts)
  const nodeStart = await measureProgram(["--eval", "0"], cliStarts)
  note("floor: read and tokenise")
  const floor = await measureProgram([join(import.meta.dirname, "lib", "floor.ts"), docs], repeat)
  const byDefault = await measureCold(sluice(commandLine, workspace), task)
  const peer = values.peer ? await langchain(chunking) : undefined
  const subjects = [sluice(commandLine, workspace, chunking), ...(peer === undefined ? [] : [peer])]
  const { edits, figures: [ours, theirs] } = await measure(subjects, task)
  const changed = await changedChunks(edits, chunking)
  if (ours === undefined) throw new Error("nothing was measured")

  const rows: ReadonlyArray<Row> = [
    { figure: "ingest, default chunks", unit: "seconds", sluice: byDefault.seconds, budget: 2, floor: floor.seconds },
    { figure: "ingest, small chunks", unit: "seconds", sluice: ours.cold.seconds, floor: floor.seconds, peer: theirs?.cold.seconds },
    { figure: "processor time, default chunks", unit: "seconds", sluice: cpuOf(byDefault), floor: cpuOf(floor) },
    { figure: "  of the main process and its writer", unit: "seconds", sluice: byDefault.cpu?.own },
    { figure: "  of the processes that read files", unit: "seconds", sluice: byDefault.cpu?.descendants },
    { figure: "processor time, small chunks", unit: "seconds", sluice: cpuOf(ours.cold), floor: cpuOf(floor), peer: cpuOf(theirs?.cold) },
    { figure: "small chunks", unit: "count", sluice: ours.cold.chunks, peer: theirs?.cold.chunks },
    { figure: "nothing changed", unit: "seconds", sluice: ours.unchanged.seconds, budget: 0.3, floor: nodeStart.seconds, peer: theirs?.unchanged.seconds },
    { figure: "nothing changed: embeddings", unit: "count", sluice: ours.unchanged.embedded, budget: 0, peer: theirs?.unchanged.embedded },
    { figure: "1% edited", unit: "seconds", sluice: ours.edited.seconds, peer: theirs?.edited.seconds },
    {
      figure: "1% edited: embeddings, all rounds", unit: "count", sluice: ours.embeddedAfterEdits, budget: 1.2 * changed, floor: changed,
      peer: theirs?.embeddedAfterEdits
    },
    { figure: "BM25 p50", unit: "milliseconds", sluice: ours.answered.sparse.p50, budget: 0.3, peer: theirs?.answered.sparse.p50 },
    { figure: "BM25 p99", unit: "milliseconds", sluice: ours.answered.sparse.p99, peer: theirs?.answered.sparse.p99 },
    { figure: "hybrid p50", unit: "milliseconds", sluice: ours.answered.hybrid.p50, budget: 5, peer: theirs?.answered.hybrid.p50 },
    { figure: "hybrid p99", unit: "milliseconds", sluice: ours.answered.hybrid.p99, peer: theirs?.answered.hybrid.p99 },
    { figure: "reopen to first answer", unit: "seconds", sluice: ours.answered.reopenSeconds, budget: 0.2, peer: theirs?.answered.reopenSeconds },
    { figure: "peak memory, default chunks", unit: "megabytes", sluice: byDefault.peakRss, budget: 400e6, floor: floor.peakRss },
    { figure: "peak memory, small chunks", unit: "megabytes", sluice: ours.cold.peakRss, floor: floor.peakRss, peer: theirs?.cold.peakRss },
    { figure: "disk / text", unit: "times", sluice: ours.storeBytes / bytes, budget: 2.5, peer: theirs === undefined ? undefined : theirs.storeBytes / bytes },
    { figure: "command line start", unit: "seconds", sluice: start.seconds, budget: 0.2, floor: nodeStart.seconds }
  ]
  const machine = { node: process.versions.node, platform: `${process.platform} ${process.arch}`, cpus: cpus().length, cpu: cpus()[0]?.model }
  process.stdout.write(`${[
    `${corpus.files} files, ${(bytes / 1e6).toFixed(1)} MB of Markdown, seed ${corpus.seed}; chunks of ${chunking.size}/${chunking.overlap} tokens; medians of ${repeat}`,
    `Node ${machine.node}, ${machine.cpus} x ${machine.cpu}, ${machine.platform}`,
    "",
    table(rows, peer?.name ?? "peer"),
    "",
    "Budgets are those of the design, for 2,000 files and 10 MB on two cores.",
    "floor: reads every file and counts its tokens; for 1% edited, the chunks whose text is new; for starts, Node alone.",
    `Queries: ${values.queries} after ${warmUpQueries} others, each asked once, ten contexts each.`,
    "Memory and processor time are sums over the process tree; a shared machine slows the clock more than processor time.",
    "LangChain.js embeds by hashing words, at next to no cost."
  ].join("\n")}\n`)
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ version: 1, machine, corpus, chunking, repeat, rows }, null, 2)}\n`)
}

const workspace = mkdtempSync(join(tmpdir(), "sluice-bench-"))
try {
  await bench(workspace)
} catch (cause) {
  process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`)
  process.exitCode = 1
} finally {
  rmSync(workspace, { recursive: true, force: true })
}
