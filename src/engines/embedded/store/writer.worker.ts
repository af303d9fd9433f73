import { join } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { type MessagePort, parentPort, workerData } from "node:worker_threads"
import { MetWords } from "../../../search/analysis/DocumentTerms.ts"
import { asStateError, databaseFile, openDatabase } from "../../../state/Database.ts"
import { analysisOf } from "./AnalyzedFile.ts"
import type { AnalyzedMessage, CommandMessage, ReplyMessage, SentCommand, WriterData, WriterMessage } from "./Commands.ts"
import { Committer } from "./Committer.ts"

/**
 * Runs in the writer's thread: takes commands from the main thread, commits those that arrived in the meantime as one group, and merges
 * segments when no more arrive.
 */

/** Most commands of a group, which bounds how long the database is locked. */
const groupSize = 512
/** Most weight of a group, which bounds the memory for a commit. */
const groupWeight = 2 * 1024 * 1024

/** Milliseconds without a command after which segments are merged thoroughly; while files arrive, it would be in vain. */
const quietTime = 200

const port = parentPort
if (port === null) throw new Error("writer.worker runs as a worker thread")
// Set by Writer.ts, which starts this thread.
const { dataDir, keepVectors } = workerData as WriterData
const path = join(dataDir, databaseFile)

let opened: Committer | undefined
let database: DatabaseSync | undefined

/** The committer, over the database opened on first use; where opening fails, the next turn tries again. */
const committer = (): Committer => {
  if (opened !== undefined) return opened
  const db = openDatabase(dataDir)
  database = db
  // Rare checkpoints: pages that many commits touch are copied into the database once for all of them.
  db.exec("PRAGMA wal_autocheckpoint = 4000")
  opened = new Committer(db, path, { keepVectors })
  return opened
}

/**
 * Number of commands from which a group counts as busy. After a busy group, the next one is committed only when it has {@link fullGroup}
 * commands, or is heavy, or some milliseconds have passed: each commit costs a flush of the disk and a segment to be merged.
 */
const busyGroup = 8
const fullGroup = 64
const fullWeight = groupWeight / 2
const fillTime = 75

const waiting: Array<SentCommand> = []
/** Weight of all waiting commands. */
let weight = 0
/** Whether a waiting command was sent alone, so that it need not wait for others. */
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
/** Timer that runs while more commands for a group are awaited. */
let filling: NodeJS.Timeout | undefined
let busy = false
let scheduled = false
let delay = quietTime
/** Whether the main thread sends no more. Once all threads that analyze files have ended and all is done, this thread ends. */
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
    // Closed explicitly: at the end of the thread the order of events is not defined.
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

/** Runs a step of housekeeping. Where it fails, the next write meets the same problem and reports it. */
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

/** Number of threads that analyze files for this one and have not ended. */
let readers = 0

/** Takes files from a thread that analyzes them, until it ends. */
const listen = (reader: MessagePort): void => {
  readers++
  let met = new MetWords()
  // This event comes after all messages, however the thread ended.
  reader.on("close", () => {
    readers--
    schedule()
  })
  reader.on("message", (message: AnalyzedMessage) => {
    // Files that still wait keep the words that they were analyzed with.
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

// Opened right away, so that the first command of a thread that was started early does not wait for it.
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
