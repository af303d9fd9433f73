import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { join } from "node:path"
import { Tokenizer } from "@huggingface/tokenizers"
import type { Reply, Request, Start, StartOnnx, Task } from "./Messages.ts"
import { progress } from "./OnnxModel.ts"
import type { Progress } from "./Progress.ts"
import type { Runtime, Session } from "./Runtime.ts"
import { openStatic } from "./StaticModel.ts"
import { reading } from "./Windows.ts"

/** A process that runs one model: it handles tasks batch by batch, those that somebody waits for before the others. */

// The parent decides when this process ends: a key pressed in the terminal reaches both.
process.on("SIGINT", () => {})
process.on("SIGTERM", () => {})
process.on("disconnect", () => process.exit())

interface Waiting {
  readonly id: number
  readonly urgent: boolean
  readonly begin: () => Progress
  running?: Progress
}

const send = (reply: Reply): void => {
  process.send?.(reply)
}

const why = (cause: unknown): string => (cause instanceof Error ? cause.message : "no details").split("\n")[0]?.slice(0, 500) ?? ""

const openOnnx = async ({ folder, maxTokens, runtime, threads, weights }: StartOnnx): Promise<(task: Task) => Progress> => {
  const json = async (name: string): Promise<object> => JSON.parse(await readFile(join(folder, name), "utf8"))
  const settings = await json("tokenizer_config.json").catch(() => ({}))
  const tokenizer = new Tokenizer(await json("tokenizer.json"), settings)
  const ort: Runtime = createRequire(import.meta.url)(runtime)
  const session: Session = await ort.InferenceSession.create(weights, {
    executionProviders: ["cpu"],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
    // Threads that spin while they wait for one another take a busy machine's time, and gain nothing on it.
    extra: { session: { intra_op: { allow_spinning: "0" } } }
  })
  const read = reading(tokenizer, maxTokens)
  return (task) => progress(ort, session, read, task)
}

const open = (start: Start) => start.form === "onnx" ? openOnnx(start) : openStatic(start)

let waiting: ReadonlyArray<Waiting> = []
let model: ReturnType<typeof open> | undefined
let working = false

const work = async (): Promise<void> => {
  if (working) return
  working = true
  for (let next = first(); next !== undefined; next = first()) {
    const { id } = next
    try {
      next.running ??= next.begin()
      const values = await next.running.step()
      if (values === undefined) send({ batch: true })
      else {
        waiting = waiting.filter((other) => other.id !== id)
        send({ id, values })
      }
    } catch (cause) {
      waiting = waiting.filter((other) => other.id !== id)
      send({ id, error: why(cause) })
    }
    // Messages that arrived in the meantime may take precedence, or cancel this task.
    await new Promise((resolve) => setImmediate(resolve))
  }
  working = false
}

const first = (): Waiting | undefined => waiting.find(({ urgent }) => urgent) ?? waiting[0]

process.on("message", (request: Request) => {
  if ("start" in request) {
    model = open(request.start)
    model.then(() => send({ open: true }), (cause: unknown) => send({ broken: why(cause) }))
    return
  }
  // Messages are handled in order, and once the model is open.
  model?.then((begin) => {
    if ("cancel" in request) {
      waiting = waiting.filter(({ id }) => id !== request.cancel)
      return
    }
    const { id, task } = request
    waiting = [...waiting, { id, urgent: task.urgent, begin: () => begin(task) }]
    return work()
  }, () => {})
})
