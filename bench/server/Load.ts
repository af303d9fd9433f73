import { quantile } from "../lib/Statistics.ts"
import type { Taken } from "./Serve.ts"

/** What callers saw who each asked for the next as soon as they had the last: a closed loop. */
export interface Load {
  readonly requestsPerSecond: number
  /** Milliseconds of one request, its wait for a free server included. */
  readonly p50: number
  readonly p99: number
  /** Milliseconds of processor time of this process per request: the caller's, and nobody else's. */
  readonly cpu: number
  /** Of the server that was asked, where it is another process. */
  readonly server?: ServerLoad
}

export interface ServerLoad {
  /** Milliseconds of its processor time per request, all its threads. */
  readonly cpu: number
  /** Of these, its main thread's. */
  readonly main: number
  /** Milliseconds for which its event loop was held: the worst turn's 99th percentile, and the longest of all. */
  readonly loopP99: number
  readonly loopMost: number
}

/** Answers the request of this number. */
export type Ask = (request: number) => Promise<unknown>

/** One turn of one subject, undigested. */
interface Turn {
  readonly taken: ReadonlyArray<number>
  readonly seconds: number
  readonly cpuMicros: number
  readonly server: Taken | undefined
}

/** Who is asked, and what tells what the server behind it took since the last time. */
export interface LoadSubject {
  readonly ask: Ask
  readonly taken?: () => Promise<Taken>
}

export interface LoadOptions {
  /** Requests under way at once. */
  readonly callers: number
  /** Of each subject, all its turns together. One more turn before them warms up. */
  readonly seconds: number
  readonly turns: number
}

/** The subjects under the same load, in turns, so that a machine that slows down slows all of them. */
export const compare = async <K extends string>(
  subjects: Readonly<Record<K, LoadSubject>>,
  { callers, seconds, turns }: LoadOptions
): Promise<Record<K, Load>> => {
  // The record has no other keys than those of its type.
  const names = Object.keys(subjects) as Array<K>
  const results = names.map((): Array<Turn> => [])
  const next = names.map(() => 0)
  for (let turn = 0; turn <= turns; turn++) {
    for (const [at, name] of names.entries()) {
      const { ask, taken } = subjects[name]
      await taken?.()
      const turnTaken = await loadFor(seconds / turns, callers, () => ask(next[at]!++))
      const result = { ...turnTaken, server: await taken?.() }
      if (turn > 0) results[at]!.push(result)
    }
  }
  // A load for every name, and the names are all of K.
  return Object.fromEntries(names.map((name, at) => [name, together(results[at]!)])) as Record<K, Load>
}

/** Keeps so many requests under way for a time. */
export const loadFor = async (seconds: number, callers: number, ask: () => Promise<unknown>): Promise<Omit<Turn, "server">> => {
  const taken: Array<number> = []
  const cpu = process.cpuUsage()
  const started = performance.now()
  const end = started + seconds * 1000
  await Promise.all(Array.from({ length: callers }, async () => {
    for (let now = performance.now(); now < end;) {
      await ask()
      const after = performance.now()
      taken.push(after - now)
      now = after
    }
  }))
  const { system, user } = process.cpuUsage(cpu)
  return { taken, seconds: (performance.now() - started) / 1000, cpuMicros: system + user }
}

const together = (turns: ReadonlyArray<Turn>): Load => {
  const taken = turns.flatMap((turn) => turn.taken)
  const sum = (of: (turn: Turn) => number): number => turns.reduce((total, turn) => total + of(turn), 0)
  return {
    requestsPerSecond: taken.length / sum((turn) => turn.seconds),
    p50: quantile(taken, 0.5),
    p99: quantile(taken, 0.99),
    cpu: sum((turn) => turn.cpuMicros) / 1000 / taken.length,
    server: serverOf(turns.flatMap(({ server }) => server === undefined ? [] : [server]), taken.length)
  }
}

const serverOf = (turns: ReadonlyArray<Taken>, requests: number): ServerLoad | undefined =>
  turns.length === 0 ? undefined : {
    cpu: turns.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0) / 1000 / requests,
    main: turns.reduce((sum, { mainMicros }) => sum + mainMicros, 0) / 1000 / requests,
    loopP99: Math.max(...turns.map(({ loopP99 }) => loopP99)),
    loopMost: Math.max(...turns.map(({ loopMost }) => loopMost))
  }
