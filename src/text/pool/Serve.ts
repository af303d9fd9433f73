import { isMainThread } from "node:worker_threads"
import type { Limits } from "../Prepared.ts"
import { Guard, processorTime, timeFor, watch } from "./Guard.ts"
import { BrokenInstallation } from "../parse/ReadFailure.ts"
import type { Ready, Reply, Request, Result, Task } from "./Messages.ts"
import { refusalOf } from "./Refusal.ts"

export type PrepareFile = (task: Task, limits: Limits) => Promise<Result>

/** A worker makes room for a fresh one after this many files, or when its memory stays above this share of the limit. */
const filesServed = 5_000
const memoryShare = 0.6

/** Milliseconds after which it looks again at its memory and its processor time: a look can take longer than a small file. */
const lookEvery = 100

/**
 * Runs this process as a worker of the text pool: files in, one reply each, one at a time and in order. `load` brings
 * in what prepares a file, so that the guarding thread, which runs the same entry, does not.
 */
export const serve = async (load: () => Promise<PrepareFile>): Promise<void> => {
  if (!isMainThread) return watch()
  process.on("disconnect", () => process.exit())
  const prepareFile = await load()
  const guard = new Guard()
  let served = 0
  let looked = -Infinity

  const answer = async (task: Task, limits: Limits): Promise<Reply["result"]> => {
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
      for (const { id, raw } of request.files) {
        const result = await answer(raw, request.limits)
        served++
        const look = performance.now() - looked >= lookEvery
        if (look) looked = performance.now()
        const spent = served >= filesServed || (look && process.memoryUsage.rss() > request.limits.memory * memoryShare)
        await send({ id, result, spent, processor: look ? processorTime() : undefined })
      }
    })
  })
  await send({ ready: true })
}

/** Resolves when the message is in the pipe: whatever the next file does to this process, it will arrive. */
const send = (message: Reply | Ready): Promise<void> =>
  new Promise((resolve, reject) => {
    process.send!(message, undefined, undefined, (error) => (error === null ? resolve() : reject(error)))
  })
