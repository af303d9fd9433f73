import { Effect } from "effect"
import type { VectorHit, VectorQuery, VectorStore } from "../../ports/VectorStore.ts"
import { heavyTerms, vectorJson } from "../Chunks.ts"
import * as Answers from "./Answers.ts"
import { type Connection, ofCorpus, ofFiles, tenantArgument } from "./Connection.ts"

/** Searches the corpus by vector, by BM25 over its terms, or by both mixed, in one request. */
export const searchOf = ({ corpus, decoded, name, query, tenantOf }: Connection): VectorStore["search"] =>
  Effect.fnUntraced(function*({ alpha, count, files, terms, vector }: VectorQuery) {
    const tenant = yield* tenantOf()
    const where = `where: ${files === undefined ? ofCorpus(corpus) : ofFiles(corpus, files)}`
    const arm = (alias: string, by: string, score: "distance" | "score") =>
      `${alias}: ${name}(${tenantArgument(tenant)}limit: ${count}, ${where}, ${by}) { fileId chunkOrdinal _additional { ${score} } }`
    const nearness = vector === undefined || vector.every((value) => value === 0) ? undefined : vectorJson(vector)
    const words = heavyTerms(terms ?? []).join(" ")
    const asked = words === "" ? undefined : `query: ${JSON.stringify(words)}, properties: ["chunkTerms"]`
    const arms: Array<string> = []
    if (alpha !== undefined && nearness !== undefined && asked !== undefined) {
      arms.push(arm("mixed", `hybrid: { ${asked}, vector: ${nearness}, alpha: ${alpha}, fusionType: relativeScoreFusion }`, "score"))
    } else {
      if (nearness !== undefined) arms.push(arm("dense", `nearVector: { vector: ${nearness} }`, "distance"))
      if (asked !== undefined) arms.push(arm("sparse", `bm25: { ${asked} }`, "score"))
    }
    if (arms.length === 0) return { dense: [], sparse: [] }
    const data = yield* query("searching", `{ Get { ${arms.join(" ")} } }`)
    const { dense, mixed, sparse } = yield* decoded(Answers.Found, data["Get"])
    const scored = (hits: typeof Answers.Hits.Type) => hits.flatMap((hit) => hitOf(hit, Number(hit._additional.score ?? 0)))
    return {
      dense: (dense ?? []).flatMap((hit) => hitOf(hit, 1 - (hit._additional.distance ?? 1))),
      sparse: scored(sparse ?? []),
      ...(mixed === undefined ? {} : { mixed: scored(mixed ?? []) })
    }
  }, Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.succeed({ dense: [], sparse: [] })))

/** The hit of an object. Objects that the service itself wrote have no ordinal, and are left out. */
const hitOf = ({ chunkOrdinal, fileId }: (typeof Answers.Hits.Type)[number], score: number): ReadonlyArray<VectorHit> =>
  chunkOrdinal === null ? [] : [{ file: fileId, ordinal: chunkOrdinal, score }]
