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

/** Where local models are found. */
export interface LocalModelOptions {
  /** The folder in which models of the hub are kept. */
  readonly cache: string
  /** Address of the hub. Default: that of Hugging Face. */
  readonly hub?: string
  /** Where onnxruntime-node is searched for besides next to Sluice. Default: the working directory. */
  readonly from?: string
}

/** A model that accepts tasks. */
export interface OpenedModel {
  readonly name: string
  readonly found: ModelFolder
  /** Returns the values of all texts, the same number for each, one text after the other. */
  readonly ask: (task: Task) => Effect.Effect<Float32Array, ServiceError>
}

/** The process's entry: beside this file in the sources, beside the bundle when built. */
const entry = new URL(import.meta.url.endsWith(".ts") ? "./model.worker.ts" : "./modelWorker.js", import.meta.url)

const mostThreads = 4

/** Milliseconds within which a model must open, or a batch must finish; a process that is silent for longer is killed. */
const silence = 300_000

/**
 * Locates a model and its runtime. The model is opened with the first task, in a separate process, which ends with the scope: the runtime
 * is native code, which takes its process with it when it fails, and a thread inside it cannot be ended. The next task after a crash starts
 * a new process.
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
    // The first end of the process may have had nothing to do with the task; a second one has.
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
        message: `${field}: ONNX Runtime is a separate package, and is not installed`,
        fix: "npm install --ignore-scripts onnxruntime-node"
      })
    )
    : Effect.succeed({ form: "onnx", runtime, folder, weights, maxTokens, threads })
}

/** Most bytes of one file of a model on the hub. */
const largestFile = 16 * 2 ** 30

/** Fetches a model from the hub. The HTTP client is large, and a model that is already here needs none. */
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
    // These are our own process's messages, so they have the types it sends.
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

  /** Makes a process with tasks keep this one alive, and an idle one not. */
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
    // A broken pipe is followed by the process's end, where its tasks are handled.
  })
}
