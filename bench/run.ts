/**
 * The performance bench: one generated corpus, every figure of one run beside its budget, the floor and LangChain.js.
 *
 *     npm run bench -- [--files 2000] [--bytes 10000000] [--seed 1] [--chunk-size 256] [--overlap 50]
 *                      [--queries 300] [--repeat 3] [--scale 1,10,100] [--no-peer] [--json results.json] [--cli FILE]
 *
 * Needs a build, or the file of another one as --cli. Figures of one run compare with each other and with nothing else:
 * machines differ, and so does the same machine tomorrow. A slow figure is printed, not failed. With several --scale, the
 * corpus is measured at each multiple of its size, every figure is printed with its growth, and one that grew by more
 * than 1.5 times what it may fails the command: a cliff is a bug. The peer is measured at the smallest size only.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type CorpusOptions, defaultCorpus, writeCorpus } from "./corpus.ts"
import { changedChunks, measure, measureCold, measureProgram, type Task } from "./lib/Measure.ts"
import { machineLine } from "./lib/Machine.ts"
import { langchain } from "./lib/Langchain.ts"
import { builtCommandLine, sluice } from "./lib/Sluice.ts"
import type { Cpu } from "./lib/Process.ts"
import { warmUpQueries } from "./lib/Statistics.ts"
import { growth, type Row, table } from "./lib/Table.ts"

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
    scale: { type: "string", default: "1" },
    peer: { type: "boolean", default: true },
    json: { type: "string" },
    cli: { type: "string" }
  }
})
const scales = values.scale.split(",").map(Number).toSorted((a, b) => a - b)
if (!scales.every((scale) => scale > 0)) throw new Error("--scale takes numbers above 0, such as 1,10,100")
/** Smaller than the default, so that 10 MB make the 12,000 chunks that the budgets of queries speak of. */
const chunking = { strategy: "fixed", size: Number(values["chunk-size"]), overlap: Number(values.overlap) } as const
const repeat = Number(values.repeat)
const cliStarts = 5

const cpuOf = (ran: { readonly cpu?: Cpu } | undefined): number | undefined =>
  ran?.cpu === undefined ? undefined : ran.cpu.own + ran.cpu.descendants

const bench = async (workspace: string, scale: number): Promise<{ readonly scale: number; readonly rows: ReadonlyArray<Row> }> => {
  const corpus: CorpusOptions = {
    files: Math.round(Number(values.files) * scale),
    bytes: Math.round(Number(values.bytes) * scale),
    seed: Number(values.seed)
  }
  const commandLine = values.cli ?? builtCommandLine()
  const docs = join(workspace, "docs")
  const bytes = writeCorpus(docs, corpus)
  const note = (doing: string): void => void process.stderr.write(`${doing}\n`)
  const task: Task = { docs, workspace, corpus, queries: Number(values.queries), repeat, note }

  note("command line start")
  const start = await measureProgram([commandLine, "--version"], cliStarts)
  const nodeStart = await measureProgram(["--eval", "0"], cliStarts)
  note("floor: read and tokenise")
  const floor = await measureProgram([join(import.meta.dirname, "lib", "Floor.ts"), docs], repeat)
  const byDefault = await measureCold(sluice(commandLine, workspace), task)
  const peer = values.peer && scale === scales[0] ? await langchain(chunking) : undefined
  const subjects = [sluice(commandLine, workspace, chunking), ...(peer === undefined ? [] : [peer])]
  const { edits, figures: [ours, theirs] } = await measure(subjects, task)
  const changed = await changedChunks(edits, chunking)
  if (ours === undefined) throw new Error("nothing was measured")

  const rows: ReadonlyArray<Row> = [
    { figure: "ingest, default chunks", unit: "seconds", sluice: byDefault.seconds, budget: 1.5, growth: 1, floor: floor.seconds },
    {
      figure: "ingest, small chunks",
      unit: "seconds",
      sluice: ours.cold.seconds,
      growth: 1,
      floor: floor.seconds,
      peer: theirs?.cold.seconds
    },
    { figure: "processor time, default chunks", unit: "seconds", sluice: cpuOf(byDefault), growth: 1, floor: cpuOf(floor) },
    { figure: "  of the main process and its writer", unit: "seconds", sluice: byDefault.cpu?.own },
    { figure: "  of the processes that read files", unit: "seconds", sluice: byDefault.cpu?.descendants },
    {
      figure: "processor time, small chunks",
      unit: "seconds",
      sluice: cpuOf(ours.cold),
      growth: 1,
      floor: cpuOf(floor),
      peer: cpuOf(theirs?.cold)
    },
    { figure: "small chunks", unit: "count", sluice: ours.cold.chunks, peer: theirs?.cold.chunks },
    {
      figure: "nothing changed",
      unit: "seconds",
      sluice: ours.unchanged.seconds,
      budget: 0.3,
      growth: 0.7,
      floor: nodeStart.seconds,
      peer: theirs?.unchanged.seconds
    },
    { figure: "nothing changed: embeddings", unit: "count", sluice: ours.unchanged.embedded, budget: 0, peer: theirs?.unchanged.embedded },
    { figure: "1% edited", unit: "seconds", sluice: ours.edited.seconds, peer: theirs?.edited.seconds },
    {
      figure: "1% edited: embeddings, all rounds",
      unit: "count",
      sluice: ours.embeddedAfterEdits,
      budget: 1.2 * changed,
      floor: changed,
      peer: theirs?.embeddedAfterEdits
    },
    {
      figure: "BM25 p50",
      unit: "milliseconds",
      sluice: ours.answered.sparse.p50,
      budget: 0.3,
      growth: 0.6,
      peer: theirs?.answered.sparse.p50
    },
    { figure: "BM25 p99", unit: "milliseconds", sluice: ours.answered.sparse.p99, peer: theirs?.answered.sparse.p99 },
    {
      figure: "hybrid p50",
      unit: "milliseconds",
      sluice: ours.answered.hybrid.p50,
      budget: 5,
      growth: 0.4,
      peer: theirs?.answered.hybrid.p50
    },
    { figure: "hybrid p99", unit: "milliseconds", sluice: ours.answered.hybrid.p99, peer: theirs?.answered.hybrid.p99 },
    {
      figure: "reopen to first answer",
      unit: "seconds",
      sluice: ours.answered.reopenSeconds,
      budget: 0.2,
      growth: 0,
      peer: theirs?.answered.reopenSeconds
    },
    { figure: "peak memory, default chunks", unit: "megabytes", sluice: byDefault.peakRss, budget: 400e6, growth: 0, floor: floor.peakRss },
    {
      figure: "peak memory, small chunks",
      unit: "megabytes",
      sluice: ours.cold.peakRss,
      growth: 0,
      floor: floor.peakRss,
      peer: theirs?.cold.peakRss
    },
    {
      figure: "disk / text",
      unit: "times",
      sluice: ours.storeBytes / bytes,
      budget: 2.5,
      growth: 0,
      peer: theirs === undefined ? undefined : theirs.storeBytes / bytes
    },
    { figure: "command line start", unit: "seconds", sluice: start.seconds, budget: 0.2, floor: nodeStart.seconds }
  ]
  process.stdout.write(`${
    [
      `${corpus.files} files, ${
        (bytes / 1e6).toFixed(1)
      } MB of Markdown, seed ${corpus.seed}; chunks of ${chunking.size}/${chunking.overlap} tokens; medians of ${repeat}`,
      machineLine,
      "",
      table(rows, peer?.name ?? "peer"),
      "",
      "Budgets are those of the design, for 2,000 files and 10 MB on two cores.",
      "floor: reads every file and counts its tokens; for 1% edited, the chunks whose text is new; for starts, Node alone.",
      `Queries: ${values.queries} after ${warmUpQueries} others, each asked once, ten contexts each.`,
      "Memory and processor time are sums over the process tree; a shared machine slows the clock more than processor time.",
      "LangChain.js embeds by hashing words, at next to no cost."
    ].join("\n")
  }\n`)
  return { scale, rows }
}

/** Each size in a workspace of its own, gone before the next: a hundredfold corpus is gigabytes. */
const atScale = async (scale: number) => {
  const workspace = mkdtempSync(join(tmpdir(), "sluice-bench-"))
  try {
    return await bench(workspace, scale)
  } finally {
    rmSync(workspace, { recursive: true, force: true })
  }
}

try {
  const sizes: Array<Awaited<ReturnType<typeof bench>>> = []
  for (const scale of scales) sizes.push(await atScale(scale))
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ version: 2, chunking, repeat, sizes }, null, 2)}\n`)
  if (sizes.length > 1) {
    const { cliffs, text } = growth(sizes)
    process.stdout.write(`\n${text}\n`)
    for (const { expected, figure, grew, scale } of cliffs) {
      process.stderr.write(
        `cliff: ${figure} grew ${grew.toFixed(1)} x at ${scale} x the size; ${(expected * 1.5).toFixed(1)} x is allowed\n`
      )
    }
    if (cliffs.length > 0) process.exitCode = 1
  }
} catch (cause) {
  process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`)
  process.exitCode = 1
}
