import { type ChildProcess, fork } from "node:child_process"
import { createRequire } from "node:module"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { Effect, type Scope } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { isModelFolder, type LocalModel, localModelName } from "../../domain/LocalModel.ts"
import { workerEnvironment } from "../../text/pool/WorkerProcess.ts"
import type { FetchModelOptions } from "./Hub.ts"
import type { Reply, Request, Start, Task } from "./Messages.ts"
import { type ModelFolder, type OnnxFolder, readModelFolder } from "./ModelFolder.ts"

/** How models of this machine are found. */
export interface LocalModelOptions {
  /** Where models of the hub are kept. */
  readonly cache: string
  /** The hub's address. Default: that of Hugging Face. */
  readonly hub?: string
  /** Where onnxruntime-node is looked for besides beside Sluice. Default: the working directory. */
  readonly from?: string
}

/** A model that can be asked. */
export interface OpenedModel {
  readonly name: string
  readonly found: ModelFolder
  /** As many numbers for each text, one text after the other. */
  readonly ask: (task: Task) => Effect.Effect<Float32Array, ServiceError>
}

/** The process's entry: beside this file in the sources, beside the bundle when built. */
const entry = new URL(import.meta.url.endsWith(".ts") ? "./model.worker.ts" : "./modelWorker.js", import.meta.url)

const mostThreads = 4

/** Milliseconds in which a model opens, or a batch is through; a process that is silent for longer is ended. */
const silence = 300_000

/**
 * Finds a model and what runs it. It is opened with the first task, in a process of its own, which ends with the scope:
 * the runtime is native code, which takes the process that it fails in with it, and a thread that it runs in cannot be
 * ended. A process that ended is started anew by the next task.
 */
export const openModel = Effect.fn("openModel")(function*(
  field: string,
  settings: LocalModel,
  { cache, from = process.cwd(), hub }: LocalModelOptions
): Effect.fn.Return<OpenedModel, ServiceError, Scope.Scope> {
  const folder = isModelFolder(settings.model)
    ? settings.model
    : yield* hubModel({ ...settings, cache, hub })
  const found = yield* readModelFolder(folder, settings.file).pipe(
    Effect.mapError((error) => error.with({ field, message: `${field}: ${error.message}` }))
  )
  const name = localModelName(settings)
  const start = found.form === "static" ? found : yield* startOnnx(field, found, settings, from)
  const running = yield* Effect.acquireRelease(
    Effect.sync(() => new ModelProcess(name, start)),
    (model) => Effect.sync(() => model.close())
  )
  return {
    name,
    found,
    // What happened to the process may have had nothing to do with the task; what happens again has.
    ask: (task) => Effect.retry(running.ask(task), { times: 1, while: ({ code }) => code === "UNAVAILABLE" })
  }
})

const startOnnx = (
  field: string,
  { folder, maxTokens, weights }: OnnxFolder,
  { threads = Math.min(mostThreads, availableParallelism()) }: LocalModel,
  from: string
): Effect.Effect<Start, ServiceError> => {
  const runtime = runtimePath(from)
  return runtime === undefined
    ? Effect.fail(
      new ServiceError({
        code: "FAILED_PRECONDITION",
        message: `${field}: ONNX Runtime is a package of its own, and is not installed`,
        fix: "npm install --ignore-scripts onnxruntime-node"
      })
    )
    : Effect.succeed({ form: "onnx", runtime, folder, weights, maxTokens, threads })
}

/** Bytes of one file of a model on the hub. */
const largestFile = 16 * 2 ** 30

/** The HTTP client is large, and a model that is here needs none. */
const hubModel = Effect.fnUntraced(function*(options: FetchModelOptions) {
  const [Http, { fetchModel }] = yield* Effect.promise(() => Promise.all([import("../../net/Http.ts"), import("./Hub.ts")]))
  return yield* Effect.provide(fetchModel(options), Http.layer({ maxResponseBytes: largestFile }))
})

const runtimePath = (folder: string): string | undefined => {
  for (const place of [import.meta.url, pathToFileURL(join(folder, "package.json"))]) {
    try {
      return createRequire(place).resolve("onnxruntime-node")
    } catch {
      // It may be in the other place.
    }
  }
  return undefined
}

type Resume = (reply: Effect.Effect<Float32Array, ServiceError>) => void

class ModelProcess {
  readonly #name: string
  readonly #start: Start
  readonly #waiting = new Map<number, Resume>()
  #child: ChildProcess | undefined
  #silent: NodeJS.Timeout | undefined
  #next = 0

  constructor(name: string, start: Start) {
    this.#name = name
    this.#start = start
  }

  ask(task: Task): Effect.Effect<Float32Array, ServiceError> {
    return Effect.callback<Float32Array, ServiceError>((resume) => {
      const id = this.#next++
      const child = this.#child ??= this.#fork()
      this.#waiting.set(id, resume)
      this.#hold(child)
      send(child, { id, task })
      return Effect.sync(() => {
        if (!this.#waiting.delete(id) || this.#child !== child) return
        send(child, { cancel: id })
        this.#hold(child)
      })
    })
  }

  close(): void {
    const child = this.#child
    if (child === undefined) return
    this.#child = undefined
    clearTimeout(this.#silent)
    child.removeAllListeners()
    child.on("error", () => {})
    child.kill("SIGKILL")
    this.#fail(() => this.#gone("was closed"))
  }

  #fork(): ChildProcess {
    const child = fork(fileURLToPath(entry), {
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      env: workerEnvironment(),
      execArgv: []
    })
    // Our own process's messages, of the types it sends.
    child.on("message", (message) => this.#receive(child, message as Reply))
    child.on("error", () => this.#ended(child, "could not be started"))
    child.on("exit", (code, signal) => this.#ended(child, signal === null ? `ended with ${code}` : `was ended by ${signal}`))
    send(child, { start: this.#start })
    return child
  }

  #receive(child: ChildProcess, reply: Reply): void {
    if (this.#child !== child) return
    if ("broken" in reply) {
      const { broken } = reply
      this.#fail(() => this.#fault(`cannot be opened: ${broken}`))
      this.close()
      return
    }
    if ("id" in reply) {
      const resume = this.#waiting.get(reply.id)
      this.#waiting.delete(reply.id)
      resume?.("values" in reply ? Effect.succeed(reply.values) : Effect.fail(this.#fault(`failed: ${reply.error}`)))
    }
    this.#hold(child)
  }

  /** A process with tasks keeps this one alive and is waited for, an idle one does not. */
  #hold(child: ChildProcess): void {
    clearTimeout(this.#silent)
    const busy = this.#waiting.size > 0
    for (const handle of [child, child.channel]) {
      if (busy) handle?.ref()
      else handle?.unref()
    }
    if (!busy) return
    this.#silent = setTimeout(() => {
      this.#fail(() =>
        new ServiceError({
          code: "DEADLINE_EXCEEDED",
          message: `the model ${this.#name} gave no answer for ${silence / 1_000} s`,
          fix: "use a smaller model, or its quantized file"
        })
      )
      this.close()
    }, silence)
  }

  #ended(child: ChildProcess, how: string): void {
    if (this.#child !== child) return
    this.#child = undefined
    clearTimeout(this.#silent)
    this.#fail(() => this.#gone(how))
  }

  #fail(error: () => ServiceError): void {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const resume of waiting) resume(Effect.fail(error()))
  }

  #gone(how: string): ServiceError {
    return new ServiceError({
      code: "UNAVAILABLE",
      message: `the process of the model ${this.#name} ${how}`,
      fix: "if it ends again, it may want more memory than there is: use a smaller model, or its quantized file"
    })
  }

  #fault(what: string): ServiceError {
    return new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `the model ${this.#name} ${what}`,
      fix: `check that ${this.#start.folder} holds the whole model, and that it is one for this use`
    })
  }
}

const send = (child: ChildProcess, request: Request): void => {
  child.send(request, () => {
    // A pipe that broke is followed by the process's end, which is where its tasks are dealt with.
  })
}
