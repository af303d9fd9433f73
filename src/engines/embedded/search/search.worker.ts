import { parentPort, workerData } from "node:worker_threads"
import { Cause, Effect, Exit } from "effect"
import { ServiceError } from "../../../domain/Errors.ts"
import { databaseAt, openDatabase } from "../../../state/Database.ts"
import { Names } from "../Names.ts"
import { StoreDamage } from "../store/Checksum.ts"
import type { ErrorMessage } from "../store/Commands.ts"
import { readerOf } from "../store/Reader.ts"
import { IndexDamage } from "./CorpusIndex.ts"
import { Search, type SearchRequest } from "./Search.ts"
import { attempt } from "./Searcher.ts"
import type { SearchData, SearchMessage, SearchReply, SentRequest } from "./SearchThread.ts"

/** Runs in a thread that searches, one question after the other, each in its own snapshot of the database. */

const port = parentPort
if (port === null) throw new Error("search.worker runs as a worker thread")
// Set by SearchThread.ts, which starts this thread.
const { dataDir, memory, parent } = workerData as SearchData
const [, project = "", , location = ""] = parent.split("/")

const db = openDatabase(dataDir)
const reader = readerOf(db, databaseAt(dataDir))
const search = new Search(db, new Names(project, location), memory)

type Answer = SearchReply extends infer R ? R extends { readonly id: number } ? Omit<R, "id"> : never : never

const answer = (message: SearchMessage): Answer => {
  const { corpus } = message
  const exit = Effect.runSyncExit(reader.read(() =>
    attempt((): Answer =>
      "words" in message
        ? { weights: search.weights(reader.corpusNow(corpus), message.words) }
        : { found: search.run(reader.corpusNow(corpus), requestOf(message.request)) }
    )
  ))
  if (Exit.isFailure(exit)) return { error: errorOf(Cause.squash(exit.cause)) }
  const { value } = exit
  if (value instanceof IndexDamage) return { damagedIndex: value.message }
  return value instanceof StoreDamage ? { damaged: value.message, file: value.file } : value
}

const requestOf = ({ vector, ...request }: SentRequest): SearchRequest => ({
  ...request,
  vector: vector instanceof Float32Array ? () => vector : vector
})

const errorOf = (cause: unknown): ErrorMessage => {
  if (!(cause instanceof ServiceError)) {
    // The message may quote the question, which must not appear in errors.
    return { _tag: "ServiceError", code: "INTERNAL", message: `the search failed: ${cause instanceof Error ? cause.name : "unknown"}` }
  }
  const { code, fix, message } = cause
  return { _tag: "ServiceError", code, message, fix }
}

port.on("message", (message: SearchMessage | "close") => {
  if (message === "close") {
    db.close()
    port.close()
    return
  }
  port.postMessage({ id: message.id, ...answer(message) } satisfies SearchReply)
})
