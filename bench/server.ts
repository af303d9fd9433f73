/**
 * The server bench: what HTTP costs beside the Retrieval port called directly, and what the hosted engine's client costs
 * beside bare undici, over one generated corpus in one run.
 *
 *     npm run bench:server -- [--seconds 5] [--files 500] [--bytes 2500000] [--seed 1] [--queries 300]
 *                             [--connections 16] [--json results.json] [--cli FILE]
 *
 * Three callers ask the same questions, --seconds each, one request at a time and then --connections at once:
 * `port` in this process; `server` by undici from `sluice serve` in a process of its own; `client` by the hosted engine
 * from the same server. Needs a build, or the file of another one as --cli. The ratios of one run are what counts.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { cpus, tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Effect } from "effect"
import { type CorpusOptions, corpusQueries, writeCorpus } from "./corpus.ts"
import { builtCommandLine, sluice } from "./lib/Sluice.ts"
import { agree, bareUndici, hostedClient, port, type Retrieve } from "./server/Callers.ts"
import { compare } from "./server/Load.ts"
import { type Compared, report } from "./server/Report.ts"
import { serve } from "./server/Serve.ts"

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    files: { type: "string", default: "500" },
    bytes: { type: "string", default: "2500000" },
    seed: { type: "string", default: "1" },
    queries: { type: "string", default: "300" },
    connections: { type: "string", default: "16" },
    json: { type: "string" },
    cli: { type: "string" }
  }
})
const corpus: CorpusOptions = { files: Number(values.files), bytes: Number(values.bytes), seed: Number(values.seed) }
const queries = corpusQueries(corpus, Number(values.queries))
const seconds = Number(values.seconds)
const connections = Number(values.connections)
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
    for (const atOnce of [1, connections]) {
      note(`${atOnce} at once`)
      const asking = (retrieve: Retrieve) => (request: number) => retrieve(queries[request % queries.length]!)
      const { client, port, server } = callers
      const subjects = { port: asking(port), server: asking(server), client: asking(client) }
      compared.push({ callers: atOnce, loads: yield* Effect.promise(() => compare(subjects, { callers: atOnce, seconds, turns })) })
    }

    const machine = { node: process.versions.node, platform: `${process.platform} ${process.arch}`, cpus: cpus().length, cpu: cpus()[0]?.model }
    process.stdout.write(`${[
      `${corpus.files} files, ${(bytes / 1e6).toFixed(1)} MB of Markdown, ${chunks} chunks, seed ${corpus.seed}; ${queries.length} questions, 10 contexts each; ${seconds} s per column`,
      `Node ${machine.node}, ${machine.cpus} x ${machine.cpu}, ${machine.platform}`,
      "",
      report(compared),
      "",
      "port: the Retrieval port in this process. server: sluice serve, asked by bare undici. client: the hosted engine, asking the same server.",
      "caller's CPU: processor time of the asking process per request; for the port that is all there is."
    ].join("\n")}\n`)
    if (values.json !== undefined) {
      writeFileSync(values.json, `${JSON.stringify({ version: 1, machine, corpus, chunks, queries: queries.length, seconds, compared }, null, 2)}\n`)
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
