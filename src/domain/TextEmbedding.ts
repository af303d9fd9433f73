import { ServiceError } from "./Errors.ts"

/** Purposes of vectors, as the API names them, with the side of a search they are for. */
export const embeddingTasks = {
  RETRIEVAL_QUERY: "query",
  RETRIEVAL_DOCUMENT: "document",
  SEMANTIC_SIMILARITY: "document",
  CLASSIFICATION: "document",
  CLUSTERING: "document",
  QUESTION_ANSWERING: "query",
  FACT_VERIFICATION: "query",
  CODE_RETRIEVAL_QUERY: "query"
} as const
export type EmbeddingTaskType = keyof typeof embeddingTasks

const isTask = (text: string): text is EmbeddingTaskType => Object.hasOwn(embeddingTasks, text)

/** Most texts of one request. */
export const mostEmbeddedTexts = 250
/** Most tokens of one text; the rest is cut off, or refused where that is not wanted. */
export const mostEmbeddedTokens = 2_048

/** Default vector lengths of the service's models. */
const nativeDimensions: Readonly<Record<string, number>> = {
  "text-embedding-004": 768,
  "text-embedding-005": 768,
  "text-multilingual-embedding-002": 768,
  "gemini-embedding-001": 3_072,
  "gemini-embedding-2": 3_072,
  "gemini-embedding-2-preview": 3_072
}

/** Longest vectors of any of them. */
export const mostDimensions = Math.max(...Object.values(nativeDimensions))

export const nativeDimensionsOf = (model: string): number | undefined => nativeDimensions[model.split("@")[0] ?? ""]

export interface TextToEmbed {
  /** Text to embed; not empty. */
  readonly content: string
  /** Title of the document it is from; only for RETRIEVAL_DOCUMENT. */
  readonly title?: string
  readonly task?: EmbeddingTaskType
}

/** Validates a text to embed; `at` is its place in the request. */
export const textToEmbed = (
  { content, taskType, title }: { readonly content: unknown; readonly taskType: unknown; readonly title: unknown },
  at: string
): TextToEmbed | ServiceError => {
  if (typeof content !== "string" || content === "") {
    return ServiceError.invalid(`${at}content`, content === "" || content === undefined ? "Required field is not set." : "must be a text")
  }
  if (taskType !== undefined && taskType !== "" && (typeof taskType !== "string" || !isTask(taskType))) {
    return ServiceError.invalid(`${at}task_type`, `must be one of ${Object.keys(embeddingTasks).join(", ")}`)
  }
  const task = typeof taskType === "string" && isTask(taskType) ? taskType : undefined
  if (title === undefined || title === "") return { content, task }
  if (typeof title !== "string") return ServiceError.invalid(`${at}title`, "must be a text")
  return task === "RETRIEVAL_DOCUMENT"
    ? { content, task, title }
    : ServiceError.invalid(`${at}title`, "goes with task_type RETRIEVAL_DOCUMENT only")
}
