import { readFileSync } from "node:fs"
import { type Latency, latencies } from "../lib/Statistics.ts"

/** The searches that a peer offers. Contexts are read, so that no lazy result counts as an answer. */
export interface Asked {
  readonly sparse?: (query: string) => Promise<unknown>
  readonly dense?: (query: string) => Promise<unknown>
  readonly hybrid?: (query: string) => Promise<unknown>
}

export interface Peer {
  /** Stores a folder, in pieces of a number of characters. */
  readonly ingest: (
    docs: string,
    store: string,
    chunkSize: number,
    chunkOverlap: number
  ) => Promise<{ readonly chunks: number; readonly embedded: number }>
  /** Opens a store. */
  readonly open: (store: string) => Promise<Asked>
}

/** Contexts per query. */
export const topK = 10

/**
 * Runs a peer as a program, which prints one line of JSON.
 *
 *     node PEER.ts ingest DOCS STORE CHARACTERS OVERLAP
 *     node PEER.ts query STORE SECONDS < queries.json
 */
export const run = async ({ ingest, open }: Peer): Promise<void> => {
  const [command, ...args] = process.argv.slice(2)
  const result = command === "ingest"
    ? await ingest(args[0]!, args[1]!, Number(args[2]), Number(args[3]))
    : await query(open, args[0]!, Number(args[1]))
  process.stdout.write(`${JSON.stringify(result)}\n`)
}

const query = async (open: Peer["open"], store: string, maxSeconds: number) => {
  const queries: Array<string> = JSON.parse(readFileSync(0, "utf8"))
  const started = performance.now()
  const { dense, hybrid, sparse } = await open(store)
  await (hybrid ?? dense ?? sparse)?.(queries[0] ?? "")
  const reopenSeconds = (performance.now() - started) / 1000
  const timed = async (ask: ((query: string) => Promise<unknown>) | undefined): Promise<Latency | undefined> =>
    ask === undefined ? undefined : latencies(queries, ask, { maxSeconds, warmUp: 1 })
  return { reopenSeconds, sparse: await timed(sparse), dense: await timed(dense), hybrid: await timed(hybrid) }
}
