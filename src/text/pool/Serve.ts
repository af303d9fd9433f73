import type { Limits } from "../Prepared.ts"
import { Guard, processorTime, timeFor } from "./Guard.ts"
import { BrokenInstallation } from "../parse/ReadFailure.ts"
import { type Answer, mostKept, type Ready, type Reply, type Request, type Result, type Task } from "./Messages.ts"
import { refusalOf } from "./Refusal.ts"

export type PrepareFile = (task: Task, limits: Limits) => Promise<Result>

/** A worker makes room for a fresh one after this many files. */
const filesServed = 5_000
/** A worker makes room for a fresh one when its memory stays above this share of the limit. */
const memoryShare = 0.6

/** Milliseconds between measurements of its memory and processor time: one can take longer than a small file. */
const lookEvery = 100

/** Milliseconds for which an answer is kept back, so that the next ones share its message. */
const keptFor = 20

/**
 * Runs this process as a worker of the text pool: files in, an answer for each, one at a time and in order. `load` imports the function
 * that prepares a file.
 */
export const serve = async (load: () => Promise<PrepareFile>): Promise<void> => {
  process.on("disconnect", () => process.exit())
  const prepareFile = await load()
  const guard = new Guard()
  let served = 0
  let looked = -Infinity
  let kept: Array<Answer> = []
  /** When reading the first of the kept answers' files started. */
  let since = 0
  let memory = Infinity
  let timer: NodeJS.Timeout | undefined
  let sent: Promise<void> = Promise.resolve()

  /** Resolves when all answers are in the pipe. */
  const sendKept = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    if (kept.length === 0) return sent
    const now = performance.now()
    const look = now - looked >= lookEvery
    if (look) looked = now
    const spent = served >= filesServed || (look && process.memoryUsage.rss() > memory * memoryShare)
    const reply: Reply = { answers: kept, spent, processor: look ? processorTime() : undefined }
    kept = []
    return sent = Promise.all([sent, send(reply)]).then(() => {})
  }

  const answer = async (task: Task, limits: Limits): Promise<Answer["result"]> => {
    guard.begin({ ...limits, timeMs: timeFor(limits, task) })
    try {
      return await prepareFile(task, limits)
    } catch (thrown) {
      return thrown instanceof BrokenInstallation ? { broken: thrown.message } : refusalOf(thrown)
    } finally {
      guard.end()
    }
  }

  let last: Promise<void> = Promise.resolve()
  process.on("message", (request: Request) => {
    last = last.then(async () => {
      memory = request.limits.memory
      for (const { atOnce, id, raw } of request.files) {
        await (atOnce ? sendKept() : sent)
        if (kept.length === 0) since = performance.now()
        // A file that waits for something must not hold up the answers before it.
        else timer ??= setTimeout(sendKept, keptFor)
        const result = await answer(raw, request.limits)
        served++
        kept.push({ id, result })
        if (atOnce || kept.length >= mostKept || performance.now() - since >= keptFor) await sendKept()
      }
      await sendKept()
    })
  })
  await send({ ready: true })
}

/** Resolves when the message is in the pipe: whatever the next file does to this process, it will arrive. */
const send = (message: Reply | Ready): Promise<void> =>
  new Promise((resolve, reject) => {
    process.send!(message, undefined, undefined, (error) => (error === null ? resolve() : reject(error)))
  })
