import { join } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { type MessagePort, parentPort, workerData } from "node:worker_threads"
import { MetWords } from "../../../search/analysis/DocumentTerms.ts"
import { asStateError, databaseFile, openDatabase } from "../../../state/Database.ts"
import { analysisOf } from "./AnalyzedFile.ts"
import type { AnalyzedMessage, CommandMessage, ReplyMessage, SentCommand, WriterData, WriterMessage } from "./Commands.ts"
import { Committer } from "./Committer.ts"

/**
 * The writer's thread: takes commands from the main thread, commits those that came in meanwhile as one group, and
 * merges segments when nothing comes any more.
 */

/** Commands of one group, and what they weigh: bounds how long the database is locked, and what is held for a commit. */
const groupSize = 512
const groupWeight = 2 * 1024 * 1024

/** Milliseconds without a command after which segments are merged in earnest: while files come in, it would be for nothing. */
const quietTime = 200

const port = parentPort
if (port === null) throw new Error("writer.worker runs as a worker thread")
// Set by Writer.ts, which starts this thread.
const { dataDir, keepVectors } = workerData as WriterData
const path = join(dataDir, databaseFile)

let opened: Committer | undefined
let database: DatabaseSync | undefined

/** Opens the database; where that fails, the next turn tries again. */
const committer = (): Committer => {
  if (opened !== undefined) return opened
  const db = openDatabase(dataDir)
  database = db
  // Pages that many commits touch are copied into the database once for all of them.
  db.exec("PRAGMA wal_autocheckpoint = 4000")
  opened = new Committer(db, path, { keepVectors })
  return opened
}

/**
 * Where the last group was of {@link busyGroup} commands or more, the next one is waited for until there are
 * {@link fullGroup} or they are heavy, at most so many milliseconds: each commit costs a flush of the disk and a segment to
 * be merged.
 */
const busyGroup = 8
const fullGroup = 64
const fullWeight = groupWeight / 2
const fillTime = 75

const waiting: Array<SentCommand> = []
/** Of all that waits. */
let weight = 0
/** One of them waits for no others. */
let alone = false
const isFull = (): boolean => alone || waiting.length >= fullGroup || weight >= fullWeight || isClosing()

const wait = (command: SentCommand): void => {
  waiting.push(command)
  alone ||= command.alone === true
  weight += command.weight
}

const nextGroup = (): ReadonlyArray<SentCommand> => {
  let taken = 0
  const end = waiting.findIndex((command, at) => at === groupSize || ((taken += command.weight) > groupWeight && at > 0))
  const group = waiting.splice(0, end < 0 ? waiting.length : end)
  alone = false
  for (const command of group) weight -= command.weight
  return group
}
/** Runs while a group is waited for. */
let filling: NodeJS.Timeout | undefined
let busy = false
let scheduled = false
let delay = quietTime
/** The main thread sends no more; with the last thread that reads files gone, this one ends when all is done. */
let asked = false
const isClosing = (): boolean => asked && readers === 0
let quiet: NodeJS.Timeout | undefined

const schedule = (): void => {
  clearTimeout(quiet)
  if (filling !== undefined) {
    if (!isFull()) return
    clearTimeout(filling)
    filling = undefined
  } else if (scheduled) return
  else if (busy && !isFull()) {
    filling = setTimeout(() => {
      filling = undefined
      turn()
    }, fillTime)
    return
  }
  scheduled = true
  setImmediate(turn)
}

const turn = (): void => {
  scheduled = false
  busy = waiting.length >= busyGroup
  reply(commit(nextGroup()))
  if (merge("busy") || waiting.length > 0) schedule()
  else settle()
}

/** Merges and collects after a pause, step by step, unless a command comes in between. */
const settle = (pause = delay): void => {
  quiet = setTimeout(() => {
    if (merge("idle") || collect() || shrink()) settle(0)
    // Closed here and not by the end of the thread, where the order of things is not ours.
    else if (isClosing()) database?.close()
  }, pause)
}

const commit = (group: ReadonlyArray<CommandMessage>): ReadonlyArray<ReplyMessage> => {
  if (group.length === 0) return []
  try {
    return committer().commit(group)
  } catch (cause) {
    const { fix, message, problem } = asStateError(cause, path)
    return group.map(({ id }) => ({ id, ok: false, error: { _tag: "StateError", problem, message, fix } }))
  }
}

/** Housekeeping: where it fails, the next write meets the same trouble and reports it. */
const attempt = (step: () => boolean | void): boolean => {
  try {
    return step() ?? false
  } catch {
    return false
  }
}
const merge = (pace: "busy" | "idle"): boolean => attempt(() => opened?.merge(pace))
const shrink = (): boolean => attempt(() => opened?.shrink())
const collect = (): boolean => attempt(() => opened?.collect(Date.now() * 1000))

const reply = (replies: ReadonlyArray<ReplyMessage>): void => {
  if (replies.length > 0) port.postMessage(replies)
}

/** Threads that read files on their way here and have not ended. */
let readers = 0

/** Takes files from a thread that reads them, until that ends. */
const listen = (reader: MessagePort): void => {
  readers++
  let met = new MetWords()
  // Comes after all that was sent, however the thread ended.
  reader.on("close", () => {
    readers--
    schedule()
  })
  reader.on("message", (message: AnalyzedMessage) => {
    // Files that still wait keep the words that they were read with.
    if (message.told === 0) met = new MetWords()
    for (const surface of message.surfaces) met.surfaces.push(surface)
    for (const { analyzed, command } of message.commands) {
      wait(
        analyzed === undefined ? command : { ...command, payload: { ...command.payload, analysis: analysisOf(analyzed, met) } }
      )
    }
    schedule()
  })
}

// Whoever starts the thread before there is something to write does not wait for this then.
attempt(() => void committer())

port.on("message", (message: WriterMessage) => {
  if (message === "close") {
    port.close()
    asked = true
    delay = 0
  } else if ("reader" in message) listen(message.reader)
  else for (const command of message) wait(command)
  schedule()
})
