import { availableParallelism } from "node:os"
import { MessageChannel, Worker } from "node:worker_threads"
import { Context, Effect, Layer, Semaphore } from "effect"
import { ServiceError } from "../../../domain/Errors.ts"
import { asStateError, databaseAt, openDatabase, transaction } from "../../../state/Database.ts"
import { stateFailure } from "../StateFailure.ts"
import {
  asError,
  type CommandKind,
  type Commands,
  type PutFileMessage,
  type ReplyMessage,
  type SentCommand,
  weightOf,
  type WriterData,
  type WriterMessage
} from "./Commands.ts"
import { CorpusTable } from "./CorpusTable.ts"

/** The threads' entry points: next to this file in the sources, next to the bundle when built. */
const entry = new URL(import.meta.url.endsWith(".ts") ? "./writer.worker.ts" : "./storeWriter.js", import.meta.url)
const readerEntry = new URL(import.meta.url.endsWith(".ts") ? "./analysis.worker.ts" : "./storeAnalysis.js", import.meta.url)

/** Size of the young generation of each thread's heap: commands die young, and more room would only keep them longer. */
const maxYoungGenerationSizeMb = { writer: 8, reader: 4 }

/**
 * Size of the old generation of the writer's heap, of which it needs a few percent. With more room V8 lets the heap grow to four times what
 * is in use before it collects, with less than 2 GB to twice that. A file of 50 MB needs less than half of it.
 */
const maxOldGenerationSizeMb = 2_000

/** Number of waiting files from which another thread analyzes their texts for the writer. */
const manyFiles = 16
/** Milliseconds without files after which that thread ends. */
const readerIdle = 5_000

/**
 * Least number of processors for that thread. With fewer it saves hardly any time and costs 25 to 40 MB, as parsing
 * uses the second one.
 */
const processorsOfReader = 3

export interface WriterOptions {
  /** Milliseconds for which vectors that no file uses are kept. Default 24 hours. */
  readonly keepVectors?: number
  /** Whether the texts of many files are analyzed in a separate thread. Default: with three processors or more. */
  readonly withReader?: boolean
  /**
   * Starts the thread at once, for programs that are certain to write and that nobody else does. Meanwhile a corpus is made in the calling
   * thread, so that its files are listed and parsed while the thread starts. Default false.
   */
  readonly started?: boolean
}

/** Most that may wait for the writer, in the unit of {@link weightOf}: several commits of large files, or all small files in progress. */
const capacity = 8 * 1024 * 1024

/**
 * The only way to change the store: it sends commands to a worker thread, which commits those that arrive together in one transaction. The
 * texts of many files are analyzed in another thread on the way, if a processor is free for it. A command that has returned is durable.
 * `send` waits while the writer is behind (backpressure).
 */
export class Writer extends Context.Service<Writer, {
  readonly send: <K extends CommandKind>(kind: K, payload: Commands[K]["in"]) => Effect.Effect<Commands[K]["out"], ServiceError>
  /** Whether the thread was sent something to write; before that, this service has not opened the database. */
  readonly isRunning: () => boolean
}>()("sluice/embedded/store/Writer") {
  /** The writer of a bundle, given by its path, which refuses every command with `FAILED_PRECONDITION`. */
  static readonly layerOfBundle = (bundle: string): Layer.Layer<Writer> => Layer.sync(Writer, () => Writer.of(refusing(bundle)))

  /** A writer whose thread starts with the first command, or at once, and ends with the scope, after all commands are done. */
  static readonly layer = (
    dataDir: string,
    { keepVectors, started = false, withReader = availableParallelism() >= processorsOfReader }: WriterOptions = {}
  ): Layer.Layer<Writer> =>
    Layer.effect(
      Writer,
      Effect.gen(function*() {
        const room = yield* Semaphore.make(capacity)
        const thread = yield* Effect.acquireRelease(
          Effect.sync(() => {
            const thread = new WriterThread({ dataDir, keepVectors }, withReader)
            if (started) thread.start()
            return thread
          }),
          (thread) => Effect.promise(() => thread.close())
        )
        return Writer.of({
          send: (kind, payload) => {
            if (started && kind === "createCorpus" && !thread.isRunning) {
              // Kind and payload belong together by the signature of this method; no command about a corpus has an answer.
              return createHere(dataDir, payload as Commands["createCorpus"]["in"]) as Effect.Effect<never, ServiceError>
            }
            const weight = Math.min(capacity, weightOf(payload))
            return room.withPermits(weight)(thread.send(kind, payload, weight))
          },
          isRunning: () => thread.isRunning
        })
      })
    )
}

/** Makes a corpus in the calling thread. */
const createHere = (dataDir: string, corpus: Commands["createCorpus"]["in"]): Effect.Effect<void, ServiceError> =>
  Effect.try({
    try: () => {
      const db = openDatabase(dataDir)
      try {
        const corpora = new CorpusTable(db)
        transaction(db, () => {
          corpora.insert(corpus)
          corpora.seal()
        })
      } finally {
        db.close()
      }
    },
    catch: (cause) => stateFailure(asStateError(cause, databaseAt(dataDir)))
  })

/** The writer of a bundle, which is never written. */
const refusing = (bundle: string): Writer["Service"] => ({
  send: () =>
    Effect.fail(
      new ServiceError({
        code: "FAILED_PRECONDITION",
        message: `${bundle} is a bundle, which can only be read`,
        fix: "change the corpus that it was made of, and export it again"
      })
    ),
  isRunning: () => false
})

type Resume = (reply: Effect.Effect<unknown, ServiceError>) => void

class WriterThread {
  readonly #data: WriterData
  readonly #withReader: boolean
  readonly #waiting = new Map<number, Resume>()
  /** Ids of waiting commands that may be given up when the writer closes. */
  readonly #dispensable = new Set<number>()
  /** Ids of waiting commands that put files. */
  readonly #files = new Set<number>()
  /** Ids of those that go through the {@link #reader}. */
  readonly #read = new Set<number>()
  /** Commands of this turn of the event loop, which are sent together. */
  #outbox: Array<SentCommand> = []
  #worker: Worker | undefined
  /** Whether the thread was sent commands. */
  #isWriting = false
  #reader: Worker | undefined
  #readerIdle: NodeJS.Timeout | undefined
  #next = 0

  constructor(data: WriterData, withReader: boolean) {
    this.#data = data
    this.#withReader = withReader
  }

  send<K extends CommandKind>(kind: K, payload: Commands[K]["in"], weight: number): Effect.Effect<Commands[K]["out"], ServiceError> {
    return Effect.callback<unknown, ServiceError>((resume) => {
      const id = this.#next++
      this.#isWriting = true
      this.#waiting.set(id, resume)
      if ("dispensable" in payload && payload.dispensable === true) this.#dispensable.add(id)
      if (kind === "putFile") this.#files.add(id)
      if (this.#outbox.length === 0) setImmediate(() => this.#flush())
      // Kind and payload belong together by the signature of this method.
      this.#outbox.push({ id, kind, payload, weight, alone: kind === "writeState" && this.#waiting.size === 1 } as SentCommand)
    }).pipe(
      // The worker answers each kind with its own `out`: Committer's handlers are typed by the same table.
      Effect.map((value) => value as Commands[K]["out"])
    )
  }

  #flush(): void {
    const commands = this.#outbox
    this.#outbox = []
    if (commands.length === 0) return
    const worker = this.start()
    if (!this.#withReader || (this.#reader === undefined && this.#files.size < manyFiles)) return worker.postMessage(commands)
    const { files = [], others = [] } = Object.groupBy(commands, ({ kind }) => kind === "putFile" ? "files" : "others")
    if (others.length > 0) worker.postMessage(others)
    if (files.length > 0) this.#sendToReader(files.filter((command) => command.kind === "putFile"), worker)
  }

  #sendToReader(files: ReadonlyArray<PutFileMessage>, worker: Worker): void {
    clearTimeout(this.#readerIdle)
    for (const { id } of files) this.#read.add(id)
    this.#reader ??= this.#startReader(worker)
    this.#reader.postMessage(files)
  }

  get isRunning(): boolean {
    return this.#isWriting
  }

  async close(): Promise<void> {
    this.#flush()
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()))
    // SQLite rolls back what is not committed.
    if (this.#waiting.size > 0 && this.#waiting.size === this.#dispensable.size) await worker.terminate()
    else worker.postMessage("close" satisfies WriterMessage)
    this.#endReader()
    await ended
  }

  start(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const worker = new Worker(entry, {
      workerData: this.#data,
      name: "sluice-writer",
      resourceLimits: { maxYoungGenerationSizeMb: maxYoungGenerationSizeMb.writer, maxOldGenerationSizeMb }
    })
    worker.on("message", (replies: ReadonlyArray<ReplyMessage>) => {
      for (const reply of replies) {
        this.#settle(reply.id, reply.ok ? Effect.succeed(reply.value) : Effect.fail(asError(reply.error)))
      }
      if (this.#read.size === 0 && this.#reader !== undefined) this.#letReaderIdle()
    })
    worker.on("error", (cause) => this.#lost(worker, cause))
    worker.on("exit", () => this.#lost(worker, undefined))
    this.#worker = worker
    return worker
  }

  #startReader(worker: Worker): Worker {
    const { port1, port2 } = new MessageChannel()
    const reader = new Worker(readerEntry, {
      workerData: { writer: port1 },
      transferList: [port1],
      name: "sluice-reader",
      resourceLimits: { maxYoungGenerationSizeMb: maxYoungGenerationSizeMb.reader }
    })
    worker.postMessage({ reader: port2 } satisfies WriterMessage, [port2])
    reader.on("error", (cause) => this.#readerLost(reader, cause))
    reader.on("exit", () => this.#readerLost(reader, undefined))
    return reader
  }

  #letReaderIdle(): void {
    clearTimeout(this.#readerIdle)
    this.#readerIdle = setTimeout(() => this.#endReader(), readerIdle)
    this.#readerIdle.unref()
  }

  /** Lets the reader end once it has done what it was sent. */
  #endReader(): void {
    clearTimeout(this.#readerIdle)
    this.#reader?.postMessage("close")
    this.#reader = undefined
  }

  /** Handles the loss of the reader: files that were on their way through it may be written or not. */
  #readerLost(reader: Worker, cause: unknown): void {
    if (this.#reader !== reader) return
    this.#reader = undefined
    this.#abort([...this.#read], cause)
  }

  /** Handles the loss of the thread: unanswered commands may be written or not, and the next command starts another thread. */
  #lost(worker: Worker, cause: unknown): void {
    if (this.#worker === worker) {
      this.#worker = undefined
      this.#isWriting = false
    }
    this.#endReader()
    this.#outbox = []
    this.#abort([...this.#waiting.keys()], cause)
  }

  #abort(ids: ReadonlyArray<number>, cause: unknown): void {
    for (const id of ids) this.#settle(id, Effect.fail(new ServiceError({ code: "ABORTED", message: "the store's writer stopped", cause })))
  }

  #settle(id: number, reply: Effect.Effect<unknown, ServiceError>): void {
    const resume = this.#waiting.get(id)
    this.#waiting.delete(id)
    this.#dispensable.delete(id)
    this.#files.delete(id)
    this.#read.delete(id)
    resume?.(reply)
  }
}
