import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Chunking } from "../../src/domain/Chunking.ts"
import { succeed } from "./Process.ts"
import type { Answered, Subject } from "./Subject.ts"

const folder = join(import.meta.dirname, "..", "peers")

/** The measured peers, by the name of their program. Only LangChain.js looks for changes in a folder. */
const known = {
  langchain: { name: "LangChain.js", looksForChanges: true },
  lancedb: { name: "LanceDB", looksForChanges: false },
  orama: { name: "Orama", looksForChanges: false },
  fts5: { name: "SQLite FTS5", looksForChanges: false }
} as const

export type Peer = keyof typeof known

export const allPeers = Object.keys(known) as ReadonlyArray<Peer> // the keys of the object above

/** The peers in a comma-separated list. @throws for a name that is not one of {@link allPeers} */
export const peersOf = (names: string): ReadonlyArray<Peer> =>
  names.split(",").filter((name) => name !== "").map((name) => {
    const peer = allPeers.find((peer) => peer === name)
    if (peer === undefined) throw new Error(`--peers takes some of ${allPeers.join(", ")}; ${name} is none of them`)
    return peer
  })

/** Characters per token in English and Markdown, about: the peers' splitter counts characters. */
const charactersPerToken = 4

/** Seconds after which queries of a peer stop: brute force takes too long for hundreds of queries. */
const maxQuerySeconds = 15

/** The peers as subjects. They are installed into `bench/peers` where they differ from its lock file. @throws when npm fails */
export const peers = async (names: ReadonlyArray<Peer>, { overlap, size }: Chunking): Promise<ReadonlyArray<Subject>> => {
  if (names.length > 0 && !isInstalled()) {
    process.stderr.write("installing the peers into bench/peers, once: 420 MB\n")
    // Not `npm ci`: it refuses lock files without the packages of other platforms, which npm itself writes.
    await succeed("npm", ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder }).catch(
      (cause: unknown) => {
        throw new Error("the peers could not be installed: run with --no-peer to do without", { cause })
      }
    )
  }
  return names.map((peer): Subject => {
    const program = join(folder, `${peer}.ts`)
    return {
      ...known[peer],
      sync: async (docs, store) => {
        const { cpu, peakRss, seconds, stdout } = await succeed(process.execPath, [
          program,
          "ingest",
          docs,
          store,
          String(size * charactersPerToken),
          String(overlap * charactersPerToken)
        ])
        const counts: { chunks: number; embedded: number } = JSON.parse(stdout)
        return { seconds, ...counts, ...(peakRss === undefined ? {} : { peakRss }), ...(cpu === undefined ? {} : { cpu }) }
      },
      query: async (store, queries) => {
        const { stdout } = await succeed(process.execPath, [program, "query", store, String(maxQuerySeconds)], {
          input: JSON.stringify(queries)
        })
        const answered: Answered = JSON.parse(stdout)
        return answered
      }
    }
  })
}

const isInstalled = (): boolean => {
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  return Object.entries(dependencies).every(([name, wanted]) => {
    const file = join(folder, "node_modules", name, "package.json")
    if (!existsSync(file)) return false
    const { version }: { version: string } = JSON.parse(readFileSync(file, "utf8"))
    return version === wanted
  })
}
