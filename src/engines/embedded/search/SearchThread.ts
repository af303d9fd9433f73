import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import type { Context } from "../../../domain/Retrieval.ts"
import { ServiceError } from "../../../domain/Errors.ts"
import { StoreDamage } from "../store/Checksum.ts"
import { asError, type ErrorMessage } from "../store/Commands.ts"
import { IndexDamage } from "./CorpusIndex.ts"
import type { SearchRequest } from "./Search.ts"

/** The thread's entry point: next to this file in the sources, next to the bundle when built. */
const entry = new URL(import.meta.url.endsWith(".ts") ? "./search.worker.ts" : "./storeSearch.js", import.meta.url)

/** What the thread is started with. */
export interface SearchData {
  readonly dataDir: string
  /** Start of resource names: `projects/{project}/locations/{location}`. */
  readonly parent: string
  /** Bytes that the thread may keep of the index. */
  readonly memory: number
}

/** A search request as it is sent to the thread. */
export type SentRequest = Omit<SearchRequest, "vector"> & { readonly vector?: Float32Array | "hashed" }

/** A message to the thread: a search, or words to be weighed in a corpus. */
export type SearchMessage =
  & { readonly id: number; readonly corpus: string }
  & (
    | { readonly request: SentRequest }
    | { readonly words: ReadonlyArray<string> }
  )

export type SearchReply =
  & { readonly id: number }
  & (
    | { readonly found: ReadonlyArray<Context> }
    | { readonly weights: ReadonlyArray<number> }
    | { readonly damagedIndex: string }
    | { readonly damaged: string; readonly file: number | undefined }
    | { readonly error: ErrorMessage }
  )

type Resume = (reply: Effect.Effect<SearchReply, ServiceError>) => void

/** A thread that searches, with its own connection and cache. It starts with the first question, and again if it died. */
export class SearchThread {
  readonly #data: SearchData
  readonly #waiting = new Map<number, Resume>()
  #worker: Worker | undefined
  #next = 0

  constructor(data: SearchData) {
    this.#data = data
  }

  /** Number of questions that the thread has not answered yet. */
  get underWay(): number {
    return this.#waiting.size
  }

  search(corpus: string, request: SentRequest): Effect.Effect<ReadonlyArray<Context> | IndexDamage | StoreDamage, ServiceError> {
    return Effect.map(this.#ask({ corpus, request }), (reply) => "found" in reply ? reply.found : damageIn(reply))
  }

  /** Weight of each word in the corpus, 0 to 1: the rarer, the higher. */
  weigh(corpus: string, words: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<number> | IndexDamage | StoreDamage, ServiceError> {
    return Effect.map(this.#ask({ corpus, words }), (reply) => "weights" in reply ? reply.weights : damageIn(reply))
  }

  async close(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()))
    worker.postMessage("close")
    await ended
  }

  #ask(
    message: { readonly corpus: string } & ({ readonly request: SentRequest } | { readonly words: ReadonlyArray<string> })
  ): Effect.Effect<SearchReply, ServiceError> {
    return Effect.callback<SearchReply, ServiceError>((resume) => {
      const id = this.#next++
      this.#waiting.set(id, resume)
      this.#start().postMessage({ id, ...message } satisfies SearchMessage)
      // A cancelled question is still answered, to nobody: until then the thread is busy with it.
    }).pipe(Effect.flatMap((reply) => "error" in reply ? Effect.fail(asError(reply.error)) : Effect.succeed(reply)))
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const worker = new Worker(entry, { workerData: this.#data, name: "sluice-search" })
    worker.on("message", (reply: SearchReply) => {
      const resume = this.#waiting.get(reply.id)
      this.#waiting.delete(reply.id)
      resume?.(Effect.succeed(reply))
    })
    worker.on("error", (cause) => this.#lost(worker, cause))
    worker.on("exit", () => this.#lost(worker, undefined))
    this.#worker = worker
    return worker
  }

  #lost(worker: Worker, cause: unknown): void {
    if (this.#worker === worker) this.#worker = undefined
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const resume of waiting) {
      resume(Effect.fail(new ServiceError({ code: "UNAVAILABLE", message: "the thread that searches stopped", cause })))
    }
  }
}

const damageIn = (reply: SearchReply): IndexDamage | StoreDamage => {
  if ("damaged" in reply) return new StoreDamage(reply.damaged, reply.file)
  // Each question has its own kind of answer, and errors were handled before.
  return new IndexDamage("damagedIndex" in reply ? reply.damagedIndex : "an answer of another kind")
}
