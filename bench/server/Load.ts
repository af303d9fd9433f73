import { quantile } from "../lib/Statistics.ts"
import type { Taken } from "./Serve.ts"

/** Figures of a closed loop: each caller sends the next request as soon as it has the last response. */
export interface Load {
  readonly requestsPerSecond: number
  /** Median of the milliseconds of a request, including its wait for the server. */
  readonly p50: number
  /** 99th percentile of the milliseconds of a request. */
  readonly p99: number
  /** Milliseconds of this process's processor time per request, the caller's share. */
  readonly cpu: number
  /** Figures of the server, where it is another process. */
  readonly server?: ServerLoad
}

export interface ServerLoad {
  /** Milliseconds of the server's processor time per request, of all its threads. */
  readonly cpu: number
  /** Milliseconds of the main thread's processor time per request. */
  readonly main: number
  /** 99th percentile of the milliseconds for which the event loop was blocked, in the worst turn. */
  readonly loopP99: number
  /** Longest time in milliseconds for which the event loop was blocked. */
  readonly loopMost: number
}

/** Sends the request with a number. */
export type Ask = (request: number) => Promise<unknown>

/** Raw results of one turn of a subject. */
interface Turn {
  readonly taken: ReadonlyArray<number>
  readonly seconds: number
  readonly cpuMicros: number
  readonly server: Taken | undefined
}

/** A subject: how it is called, and how to read the resources that its server has taken since the last reading. */
export interface LoadSubject {
  readonly ask: Ask
  readonly taken?: () => Promise<Taken>
}

export interface LoadOptions {
  /** Number of concurrent requests. */
  readonly callers: number
  /** Seconds of all turns of a subject together, after one turn that warms up. */
  readonly seconds: number
  readonly turns: number
}

/** Measures subjects under the same load, in turns, so that a machine that slows down affects all of them. */
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
  // Every name has a load, and the names are all of K.
  return Object.fromEntries(names.map((name, at) => [name, together(results[at]!)])) as Record<K, Load>
}

/** Keeps a number of requests in flight for some seconds. */
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
