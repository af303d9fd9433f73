/**
 * The server bench: measures the cost of HTTP compared to direct calls of the Retrieval port, and of the hosted engine's client
 * compared to plain sockets, over one generated corpus in one run.
 *
 *     npm run bench:server -- [--seconds 5] [--files 2000] [--bytes 10000000] [--seed 1] [--queries 2000]
 *                             [--connections 1,8,64] [--no-ingest] [--minutes 0] [--json results.json] [--cli FILE]
 *
 * Four subjects get the same questions, for --seconds each, with as many concurrent requests as each of --connections says:
 * `port` calls the port in this process; `server` uses plain sockets to `sluice serve` in a separate process; `client` uses the
 * hosted engine with the same server; `floor` uses plain sockets to a bare `node:http` server with equally large responses. Then
 * the largest number of connections is measured again, once with repeated questions only, and once while `sluice run` keeps
 * storing edited files in a separate process. No other question is asked twice. With --minutes the server is under load for that
 * long, and the command fails if its memory grows. Needs a build, or another build's file as --cli. Only the ratios within one
 * run are meaningful.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Effect } from "effect"
import { type CorpusOptions, corpusQueries, defaultCorpus, editCorpus, writeCorpus } from "./corpus.ts"
import { machine, machineLine } from "./lib/Machine.ts"
import { builtCommandLine, sluice } from "./lib/Sluice.ts"
import { agree, bareSockets, hostedClient, port, textsOf } from "./server/Callers.ts"
import { compare, type LoadSubject } from "./server/Load.ts"
import { type Compared, report, type Subject } from "./server/Report.ts"
import { serve, serveBare, type Served } from "./server/Serve.ts"
import { steady } from "./server/Steady.ts"

const { values } = parseArgs({
  allowNegative: true,
  options: {
    seconds: { type: "string", default: "5" },
    files: { type: "string", default: String(defaultCorpus.files) },
    bytes: { type: "string", default: String(defaultCorpus.bytes) },
    seed: { type: "string", default: String(defaultCorpus.seed) },
    queries: { type: "string", default: "2000" },
    connections: { type: "string", default: "1,8,64" },
    ingest: { type: "boolean", default: true },
    minutes: { type: "string", default: "0" },
    json: { type: "string" },
    cli: { type: "string" }
  }
})
const corpus: CorpusOptions = { files: Number(values.files), bytes: Number(values.bytes), seed: Number(values.seed) }
const queries = corpusQueries(corpus, Number(values.queries))
const seconds = Number(values.seconds)
const minutes = Number(values.minutes)
/** Chunking that makes about 12,000 chunks of 10 MB, as the budgets assume. */
const chunking = { strategy: "fixed", size: 256, overlap: 50 } as const
const loads = values.connections.split(",").map(Number).toSorted((a, b) => a - b)
const connections = loads.at(-1) ?? 1
/** Fraction of the files that are edited before each run during the measurement. */
const editedFraction = 0.05
const turns = 5
const queriesCompared = 20
/** Number of different questions where questions are repeated. */
const queriesAgain = 100
const words = [...new Set(queries.flatMap((query) => query.split(" ")))]
/** An endless sequence of questions: the list with another word added in each round. */
const questionOf = (number: number): string => {
  const round = Math.floor(number / queries.length)
  const query = queries[number % queries.length] ?? ""
  return round === 0 ? query : `${query} ${words[(round + number) % words.length]}`
}
// The server is on this machine, so any proxy has to be bypassed.
process.env["NO_PROXY"] = "127.0.0.1"

const bench = (workspace: string) =>
  Effect.gen(function*() {
    const note = (doing: string): void => void process.stderr.write(`${doing}\n`)
    const commandLine = values.cli ?? builtCommandLine()
    const docs = join(workspace, "docs")
    const store = join(workspace, "store")
    note("corpus")
    const bytes = writeCorpus(docs, corpus)
    const subject = sluice(commandLine, workspace, chunking)
    const { chunks } = yield* Effect.promise(() => subject.sync(docs, store))
    const running = (serving: () => Promise<Served>) => Effect.acquireRelease(Effect.promise(serving), ({ stop }) => Effect.promise(stop))
    const server = yield* running(() => serve(commandLine, store))

    const { corpusId, retrieve } = yield* port(store)
    const asServer = yield* bareSockets(server.url, { connections, corpusId })
    const asClient = yield* hostedClient(server.url, { connections, corpusId, dataDir: join(workspace, "client") })
    const answers = [retrieve, async (query: string) => textsOf(await asServer(query)), asClient]
    yield* Effect.promise(() => agree(answers, queries.slice(0, queriesCompared)))
    const answerFile = join(workspace, "answer.json")
    writeFileSync(answerFile, yield* Effect.promise(() => asServer(queries[0] ?? "")))
    const floor = yield* running(() => serveBare(answerFile))
    const asFloor = yield* bareSockets(floor.url, { connections, corpusId })

    const compared: Array<Compared> = []
    let asked = 0
    /** A question that was not asked before: the server caches results while the corpus does not change. */
    const anew = () => questionOf(asked++)
    const subjectsAsking = (question: (request: number) => string): Readonly<Record<Subject, LoadSubject>> => {
      const asking = (ask: (query: string) => Promise<unknown>) => (request: number) => ask(question(request))
      return {
        port: { ask: asking(retrieve) },
        floor: { ask: asking(asFloor), taken: floor.taken },
        server: { ask: asking(asServer), taken: server.taken },
        client: { ask: asking(asClient) }
      }
    }
    const subjects = subjectsAsking(anew)
    for (const atOnce of loads) {
      note(`${atOnce} at once`)
      compared.push({ callers: atOnce, loads: yield* Effect.promise(() => compare(subjects, { callers: atOnce, seconds, turns })) })
    }
    note(`${connections} at once, asked before`)
    const again = subjectsAsking((request) => queries[request % queriesAgain] ?? "")
    compared.push({
      callers: connections,
      meanwhile: "asked before",
      loads: yield* Effect.promise(() => compare(again, { callers: connections, seconds, turns }))
    })
    if (values.ingest) {
      note(`${connections} at once, and files are taken in`)
      const over = new AbortController()
      const ingesting = (async () => {
        for (let round = 1; !over.signal.aborted; round++) {
          editCorpus(docs, corpus, editedFraction, round)
          await subject.sync(docs, store)
        }
      })()
      const measured = compare(subjects, { callers: connections, seconds, turns }).finally(() => over.abort())
      const [loads] = yield* Effect.promise(() => Promise.all([measured, ingesting]))
      compared.push({ callers: connections, meanwhile: "ingest", loads })
    }

    process.stdout.write(`${
      [
        `${corpus.files} files, ${
          (bytes / 1e6).toFixed(1)
        } MB of Markdown, ${chunks} chunks, seed ${corpus.seed}; ${queries.length} questions, 10 contexts each; ${seconds} s per column`,
        machineLine,
        "",
        report(compared),
        "",
        "port: the Retrieval port in this process. server: sluice serve, asked over plain sockets. client: the hosted engine, asking the same server.",
        "floor: a server of node:http alone, which reads a request as JSON and answers as many bytes, asked over plain sockets.",
        "CPU: processor time per request, of the asking process and of the server's; for the port the first is all there is.",
        "loop held: for how long the server's event loop could answer nobody; what the floor's has is the machine's own noise."
      ].join("\n")
    }\n`)
    const long = minutes === 0 ? undefined : yield* Effect.promise(() => {
      note(`${connections} at once for ${minutes} minutes`)
      return steady(server, subjects.server.ask, connections, minutes * 60)
    })
    if (long !== undefined) {
      const { after, before, grew, requestsPerSecond } = long
      const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`
      process.stdout.write(
        `\n${minutes} minutes, ${connections} at once: ${Math.round(requestsPerSecond)} requests/s, memory of the server ${
          megabytes(before)
        } at first, ${megabytes(after)} at last: ${grew ? "IT GROWS" : "steady"}\n`
      )
      if (grew) process.exitCode = 1
    }
    if (values.json !== undefined) {
      writeFileSync(
        values.json,
        `${
          JSON.stringify(
            { version: 2, machine, corpus, chunking, chunks, queries: queries.length, seconds, compared, steady: long },
            null,
            2
          )
        }\n`
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
