import { defined } from "../../domain/Defined.ts"
import { bm25Defaults, type CorpusOptions, type CorpusPatch, isElsewhere, type VectorDb } from "../../domain/Corpus.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { keyedDatabaseRule, vectorDbInPlace } from "../../domain/rag/RagRules.ts"

/**
 * Applies a patch to a corpus's vector database: returns the updated database, the rule that the patch breaks, or undefined where nothing
 * changes. The kind never changes, and nothing of the managed database does; a field can be set once, if it was empty. Only the API key may
 * change later, since keys are replaced in time.
 */
export const updatedVectorDb = (stored: VectorDb, { apiKey, vectorDb }: CorpusPatch): VectorDb | ServiceError | undefined => {
  const updated = vectorDb === undefined ? undefined : fieldsUpdated(stored, vectorDbInPlace(vectorDb))
  if (apiKey === undefined || updated instanceof ServiceError) return updated
  const keyed = updated ?? stored
  return keyed._tag === "weaviate" || keyed._tag === "pinecone" || keyed._tag === "qdrant"
    ? { ...keyed, apiKey }
    : ServiceError.invalid("apiKey", keyedDatabaseRule.rule, keyedDatabaseRule.fix)
}

const fieldsUpdated = (stored: VectorDb, patch: VectorDb): VectorDb | ServiceError => {
  if (stored._tag !== patch._tag) {
    return ServiceError.invalid("vectorDb", `the kind cannot change, it is ${stored._tag}`, "create another corpus")
  }
  const before = fields(stored)
  for (const [field, value] of Object.entries(defined(fields(patch)))) {
    const old = before[field]
    if (field !== "apiKey" && old !== undefined && old !== "" && old !== value) {
      return ServiceError.invalid(`vectorDb.${field}`, "was set and can be set only once", "create another corpus")
    }
  }
  // Both are of the same kind, so every field of either belongs to it.
  return { ...stored, ...defined(patch) } as VectorDb
}

const fields = (db: VectorDb): Record<string, string | undefined> => {
  const { _tag, ...rest } = db
  return rest
}

/** The error for an option that this engine cannot fulfil: silently ignoring it would mislead those who rely on it. */
export const unservedOption = (db: VectorDb, { encryptionKey, holds, hybrid }: CorpusOptions = {}): ServiceError | undefined => {
  if (encryptionKey !== undefined) {
    return unserved(
      "options.encryptionKey",
      "nothing is encrypted by a key of one's own on this machine",
      "leave it out, and encrypt the disk of the data directory"
    )
  }
  const { b, k1 } = { ...bm25Defaults, ...hybrid?.bm25 }
  if (isElsewhere(db) && (k1 !== bm25Defaults.k1 || b !== bm25Defaults.b)) {
    return unserved(
      "options.hybrid.bm25",
      "words are found in the corpus's database by that one's own parameters",
      "leave them out, or use the managed database"
    )
  }
  return holds?._tag === "memories"
    ? unserved("options.holds", "corpora of memories are not served on this machine", "leave it out: the corpus then holds documents")
    : undefined
}

const unserved = (field: string, description: string, fix: string): ServiceError =>
  new ServiceError({ code: "UNIMPLEMENTED", message: `${field}: ${description}`, violations: [{ field, description }], fix })

/** The error for a corpus whose vectors another embedder made: vectors of two embedders cannot be compared. */
export const otherEmbedder = (corpus: string, given: string): ServiceError | undefined =>
  corpus === given ? undefined : new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `the corpus was embedded with ${corpus}, not with ${given}`,
    fix: `use ${corpus} again, or build it anew: sluice run --replace; until that is done, the pipeline as it was answers from it`
  })
