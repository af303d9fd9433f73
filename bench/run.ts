/**
 * The performance bench: measures one corpus, and prints every figure beside its budget, the floor and the peers.
 *
 *     npm run bench -- [--files 2000] [--bytes 10000000] [--seed 1] [--chunk-size 256] [--overlap 50]
 *                      [--queries 300] [--repeat 3] [--scale 1,10,100] [--peers langchain,lancedb,orama,fts5 | --no-peer]
 *                      [--text FOLDER] [--json results.json] [--cli FILE]
 *
 * Needs a build, or another build's file as --cli. Figures are only comparable within one run: machines differ, and so does the
 * same machine tomorrow. A slow figure is printed, and does not fail the command. With several --scale, the corpus is measured at
 * each multiple of its size, every figure is printed with its growth, and a figure that grew by more than 1.5 times its expected
 * growth fails the command: a cliff is a bug. Peers are measured at the smallest size only, each for what it supports. With
 * --text the corpus is a copy of a folder instead of a generated one, at one size.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { defaultCorpus, generatedText } from "./corpus.ts"
import { changedChunks, measure, measureCold, measureProgram, type Task } from "./lib/Measure.ts"
import { machineLine } from "./lib/Machine.ts"
import { allPeers, peers, peersOf } from "./lib/Peers.ts"
import { builtCommandLine, sluice } from "./lib/Sluice.ts"
import type { Cpu } from "./lib/Process.ts"
import { realText } from "./lib/RealText.ts"
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
    peers: { type: "string", default: allPeers.join(",") },
    text: { type: "string" },
    json: { type: "string" },
    cli: { type: "string" }
  }
})
const scales = values.scale.split(",").map(Number).toSorted((a, b) => a - b)
if (values.text !== undefined && scales.length > 1) throw new Error("--text is measured as it is: one --scale")
const compared = values.peer ? peersOf(values.peers) : []
if (!scales.every((scale) => scale > 0)) throw new Error("--scale takes numbers above 0, such as 1,10,100")
/** Smaller chunks than the default, so that 10 MB make the 12,000 chunks that the budgets of queries assume. */
const chunking = { strategy: "fixed", size: Number(values["chunk-size"]), overlap: Number(values.overlap) } as const
const repeat = Number(values.repeat)
const cliStarts = 5

const cpuOf = (ran: { readonly cpu?: Cpu } | undefined): number | undefined =>
  ran?.cpu === undefined ? undefined : ran.cpu.own + ran.cpu.descendants

const bench = async (workspace: string, scale: number): Promise<{ readonly scale: number; readonly rows: ReadonlyArray<Row> }> => {
  const seed = Number(values.seed)
  const corpus = values.text === undefined
    ? generatedText({ files: Math.round(Number(values.files) * scale), bytes: Math.round(Number(values.bytes) * scale), seed })
    : realText(values.text, seed)
  const commandLine = values.cli ?? builtCommandLine()
  const docs = join(workspace, "docs")
  const bytes = corpus.write(docs)
  const note = (doing: string): void => void process.stderr.write(`${doing}\n`)
  const task: Task = { docs, workspace, corpus, queries: Number(values.queries), repeat, note }

  note("command line start")
  const start = await measureProgram([commandLine, "--version"], cliStarts)
  const nodeStart = await measureProgram(["--eval", "0"], cliStarts)
  note("floor: read and tokenise")
  const floor = await measureProgram([join(import.meta.dirname, "lib", "Floor.ts"), docs], repeat)
  const byDefault = await measureCold(sluice(commandLine, workspace), task)
  const others = await peers(scale === scales[0] ? compared : [], chunking)
  const { edits, figures: [ours, ...theirs] } = await measure([sluice(commandLine, workspace, chunking), ...others], task)
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
      peers: theirs.map((their) => their.cold.seconds)
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
      peers: theirs.map(({ cold }) => cpuOf(cold))
    },
    { figure: "small chunks", unit: "count", sluice: ours.cold.chunks, peers: theirs.map((their) => their.cold.chunks) },
    {
      figure: "nothing changed",
      unit: "seconds",
      sluice: ours.unchanged?.seconds,
      budget: 0.3,
      growth: 0.7,
      floor: nodeStart.seconds,
      peers: theirs.map((their) => their.unchanged?.seconds)
    },
    {
      figure: "nothing changed: embeddings",
      unit: "count",
      sluice: ours.unchanged?.embedded,
      budget: 0,
      peers: theirs.map((their) => their.unchanged?.embedded)
    },
    { figure: "1% edited", unit: "seconds", sluice: ours.edited?.seconds, peers: theirs.map((their) => their.edited?.seconds) },
    {
      figure: "1% edited: embeddings, all rounds",
      unit: "count",
      sluice: ours.embeddedAfterEdits,
      budget: 1.2 * changed,
      floor: changed,
      peers: theirs.map((their) => their.embeddedAfterEdits)
    },
    {
      figure: "BM25 p50",
      unit: "milliseconds",
      sluice: ours.answered.sparse?.p50,
      budget: 0.3,
      growth: 0.6,
      peers: theirs.map((their) => their.answered.sparse?.p50)
    },
    {
      figure: "BM25 p99",
      unit: "milliseconds",
      sluice: ours.answered.sparse?.p99,
      peers: theirs.map((their) => their.answered.sparse?.p99)
    },
    {
      figure: "hybrid p50",
      unit: "milliseconds",
      sluice: ours.answered.hybrid?.p50,
      budget: 5,
      growth: 0.4,
      peers: theirs.map((their) => their.answered.hybrid?.p50)
    },
    {
      figure: "vectors alone p50",
      unit: "milliseconds",
      sluice: ours.answered.dense?.p50,
      growth: 0.4,
      peers: theirs.map((their) => their.answered.dense?.p50)
    },
    {
      figure: "hybrid p99",
      unit: "milliseconds",
      sluice: ours.answered.hybrid?.p99,
      peers: theirs.map((their) => their.answered.hybrid?.p99)
    },
    { figure: "exact first ten missed, hybrid", unit: "percent", sluice: ours.answered.missed?.hybrid, budget: 0.03 },
    { figure: "exact first ten missed, vectors", unit: "percent", sluice: ours.answered.missed?.dense },
    {
      figure: "reopen to first answer",
      unit: "seconds",
      sluice: ours.answered.reopenSeconds,
      budget: 0.2,
      growth: 0,
      peers: theirs.map((their) => their.answered.reopenSeconds)
    },
    { figure: "peak memory, default chunks", unit: "megabytes", sluice: byDefault.peakRss, budget: 400e6, growth: 0, floor: floor.peakRss },
    {
      figure: "peak memory, small chunks",
      unit: "megabytes",
      sluice: ours.cold.peakRss,
      growth: 0,
      floor: floor.peakRss,
      peers: theirs.map((their) => their.cold.peakRss)
    },
    {
      figure: "disk / text",
      unit: "times",
      sluice: ours.storeBytes / bytes,
      budget: 2.5,
      growth: 0,
      peers: theirs.map(({ storeBytes }) => storeBytes / bytes)
    },
    { figure: "command line start", unit: "seconds", sluice: start.seconds, budget: 0.2, floor: nodeStart.seconds }
  ]
  process.stdout.write(`${
    [
      `${corpus.about}, ${(bytes / 1e6).toFixed(1)} MB; chunks of ${chunking.size}/${chunking.overlap} tokens; medians of ${repeat}`,
      machineLine,
      "",
      table(rows, others.map(({ name }) => name)),
      "",
      "Budgets are those of the design, for 2,000 files and 10 MB on two cores.",
      "floor: reads every file and counts its tokens; for 1% edited, the chunks whose text is new; for starts, Node alone.",
      `Queries: ${values.queries} after ${warmUpQueries} others, each asked once, ten contexts each.`,
      "Memory and processor time are sums over the process tree; a shared machine slows the clock more than processor time.",
      "The peers embed by hashing words, at next to no cost; a dash is what a peer does not do."
    ].join("\n")
  }\n`)
  return { scale, rows }
}

/** Measures one size in a separate workspace, deleted before the next size: a hundredfold corpus takes gigabytes. */
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
