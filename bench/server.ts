/**
 * The server bench: what HTTP costs beside the Retrieval port called directly, and what the hosted engine's client costs
 * beside bare undici, over one generated corpus in one run.
 *
 *     npm run bench:server -- [--seconds 5] [--files 500] [--bytes 2500000] [--seed 1] [--queries 300]
 *                             [--connections 1,8,64] [--no-ingest] [--json results.json] [--cli FILE]
 *
 * Three callers ask the same questions, --seconds each, with as many requests at once as each of --connections says:
 * `port` in this process; `server` by undici from `sluice serve` in a process of its own; `client` by the hosted engine
 * from the same server. Then once more with the most connections while `sluice run` takes edited files in, again and
 * again, in a process of its own. Needs a build, or the file of another one as --cli. The ratios of one run are what counts.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { cpus, tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Effect } from "effect"
import { type CorpusOptions, corpusQueries, editCorpus, writeCorpus } from "./corpus.ts"
import { builtCommandLine, sluice } from "./lib/Sluice.ts"
import { agree, bareUndici, hostedClient, port, type Retrieve } from "./server/Callers.ts"
import { compare } from "./server/Load.ts"
import { type Compared, report } from "./server/Report.ts"
import { serve } from "./server/Serve.ts"

const { values } = parseArgs({
  allowNegative: true,
  options: {
    seconds: { type: "string", default: "5" },
    files: { type: "string", default: "500" },
    bytes: { type: "string", default: "2500000" },
    seed: { type: "string", default: "1" },
    queries: { type: "string", default: "300" },
    connections: { type: "string", default: "1,8,64" },
    ingest: { type: "boolean", default: true },
    json: { type: "string" },
    cli: { type: "string" }
  }
})
const corpus: CorpusOptions = { files: Number(values.files), bytes: Number(values.bytes), seed: Number(values.seed) }
const queries = corpusQueries(corpus, Number(values.queries))
const seconds = Number(values.seconds)
const loads = values.connections.split(",").map(Number).toSorted((a, b) => a - b)
const connections = loads.at(-1) ?? 1
/** Of the files, edited before each run that goes on meanwhile. */
const editedFraction = 0.05
const turns = 5
const queriesCompared = 20
// Whatever proxy this machine has, the server is on it.
process.env["NO_PROXY"] = "127.0.0.1"

const bench = (workspace: string) =>
  Effect.gen(function*() {
    const note = (doing: string): void => void process.stderr.write(`${doing}\n`)
    const commandLine = values.cli ?? builtCommandLine()
    const docs = join(workspace, "docs")
    const store = join(workspace, "store")
    note("corpus")
    const bytes = writeCorpus(docs, corpus)
    const { chunks } = yield* Effect.promise(() => sluice(commandLine, workspace).sync(docs, store))
    const { url } = yield* Effect.acquireRelease(Effect.promise(() => serve(commandLine, store)), ({ stop }) => Effect.promise(stop))

    const { corpusId, retrieve } = yield* port(store)
    const callers = {
      port: retrieve,
      server: yield* bareUndici(url, { connections, corpusId, queries }),
      client: yield* hostedClient(url, { connections, corpusId, dataDir: join(workspace, "client") })
    }
    yield* Effect.promise(() => agree(Object.values(callers), queries.slice(0, queriesCompared)))

    const compared: Array<Compared> = []
    const asking = (retrieve: Retrieve) => (request: number) => retrieve(queries[request % queries.length]!)
    const subjects = { port: asking(callers.port), server: asking(callers.server), client: asking(callers.client) }
    for (const atOnce of loads) {
      note(`${atOnce} at once`)
      compared.push({ callers: atOnce, loads: yield* Effect.promise(() => compare(subjects, { callers: atOnce, seconds, turns })) })
    }
    if (values.ingest) {
      note(`${connections} at once, and files are taken in`)
      const over = new AbortController()
      const ingesting = (async () => {
        for (let round = 1; !over.signal.aborted; round++) {
          editCorpus(docs, corpus, editedFraction, round)
          await sluice(commandLine, workspace).sync(docs, store)
        }
      })()
      const measured = compare(subjects, { callers: connections, seconds, turns }).finally(() => over.abort())
      const [loads] = yield* Effect.promise(() => Promise.all([measured, ingesting]))
      compared.push({ callers: connections, ingesting: true, loads })
    }

    const machine = {
      node: process.versions.node,
      platform: `${process.platform} ${process.arch}`,
      cpus: cpus().length,
      cpu: cpus()[0]?.model
    }
    process.stdout.write(`${
      [
        `${corpus.files} files, ${
          (bytes / 1e6).toFixed(1)
        } MB of Markdown, ${chunks} chunks, seed ${corpus.seed}; ${queries.length} questions, 10 contexts each; ${seconds} s per column`,
        `Node ${machine.node}, ${machine.cpus} x ${machine.cpu}, ${machine.platform}`,
        "",
        report(compared),
        "",
        "port: the Retrieval port in this process. server: sluice serve, asked by bare undici. client: the hosted engine, asking the same server.",
        "caller's CPU: processor time of the asking process per request; for the port that is all there is."
      ].join("\n")
    }\n`)
    if (values.json !== undefined) {
      writeFileSync(
        values.json,
        `${JSON.stringify({ version: 1, machine, corpus, chunks, queries: queries.length, seconds, compared }, null, 2)}\n`
      )
    }
  })

const workspace = mkdtempSync(join(tmpdir(), "sluice-bench-server-"))
try {
  await Effect.runPromise(Effect.scoped(bench(workspace)))
} catch (cause) {
  process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`)
  process.exitCode = 1
} finally {
  rmSync(workspace, { recursive: true, force: true })
}
