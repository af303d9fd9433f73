import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Chunking } from "../../src/domain/Chunking.ts"
import { succeed } from "./Process.ts"
import type { Answered, Subject } from "./Subject.ts"

const folder = join(import.meta.dirname, "..", "peers")

/** Who else is measured, by the name of the program: only LangChain.js looks for what changed in a folder. */
const known = {
  langchain: { name: "LangChain.js", looksForChanges: true },
  lancedb: { name: "LanceDB", looksForChanges: false },
  orama: { name: "Orama", looksForChanges: false },
  fts5: { name: "SQLite FTS5", looksForChanges: false }
} as const

export type Peer = keyof typeof known

export const allPeers = Object.keys(known) as ReadonlyArray<Peer> // the keys of the object above

/** @throws for a name that is none of {@link allPeers} */
export const peersOf = (names: string): ReadonlyArray<Peer> =>
  names.split(",").filter((name) => name !== "").map((name) => {
    const peer = allPeers.find((peer) => peer === name)
    if (peer === undefined) throw new Error(`--peers takes some of ${allPeers.join(", ")}; ${name} is none of them`)
    return peer
  })

/** English and Markdown have about four characters to a token; the splitter of the peers counts characters. */
const charactersPerToken = 4

/** Brute force over every chunk takes too long for hundreds of queries. */
const maxQuerySeconds = 15

/** The peers, installed into `bench/peers` when they are not there as its lock file has them. @throws when npm cannot */
export const peers = async (names: ReadonlyArray<Peer>, { overlap, size }: Chunking): Promise<ReadonlyArray<Subject>> => {
  if (names.length > 0 && !isInstalled()) {
    process.stderr.write("installing the peers into bench/peers, once: 420 MB\n")
    // Not `npm ci`: it refuses a lock that names no package of another platform, and npm writes such locks.
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
