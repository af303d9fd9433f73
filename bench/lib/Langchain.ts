import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Chunking } from "../../src/domain/Chunking.ts"
import { succeed } from "./Process.ts"
import type { Answered, Subject } from "./Subject.ts"

const folder = join(import.meta.dirname, "..", "peers")
const program = join(folder, "langchain.ts")

/** English and Markdown have about four characters to a token; LangChain's splitter counts characters. */
const charactersPerToken = 4

/** Brute force over every chunk takes too long for hundreds of queries. */
const maxQuerySeconds = 15

/** LangChain.js, installed into `bench/peers` when it is not there yet. @throws when npm cannot */
export const langchain = async ({ overlap, size }: Chunking): Promise<Subject> => {
  if (!existsSync(join(folder, "node_modules"))) {
    process.stderr.write("installing LangChain.js into bench/peers, once\n")
    await succeed("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folder }).catch((cause: unknown) => {
      throw new Error("LangChain.js could not be installed: run with --no-peer to do without", { cause })
    })
  }
  return {
    name: "LangChain.js",
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
}
