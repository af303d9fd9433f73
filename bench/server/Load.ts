import { quantile } from "../lib/Statistics.ts"

/** What callers saw who each asked for the next as soon as they had the last: a closed loop. */
export interface Load {
  readonly requestsPerSecond: number
  /** Milliseconds of one request, its wait for a free server included. */
  readonly p50: number
  readonly p99: number
  /** Milliseconds of processor time of this process per request: the caller's, and nobody else's. */
  readonly cpu: number
}

/** Answers the request of this number. */
export type Ask = (request: number) => Promise<unknown>

/** One turn of one subject, undigested. */
interface Turn {
  readonly taken: ReadonlyArray<number>
  readonly seconds: number
  readonly cpuMicros: number
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
  subjects: Readonly<Record<K, Ask>>,
  { callers, seconds, turns }: LoadOptions
): Promise<Record<K, Load>> => {
  // The record has no other keys than those of its type.
  const names = Object.keys(subjects) as Array<K>
  const results = names.map((): Array<Turn> => [])
  const next = names.map(() => 0)
  for (let turn = 0; turn <= turns; turn++) {
    for (const [at, name] of names.entries()) {
      const ask = subjects[name]
      const result = await loadFor(seconds / turns, callers, () => ask(next[at]!++))
      if (turn > 0) results[at]!.push(result)
    }
  }
  // A load for every name, and the names are all of K.
  return Object.fromEntries(names.map((name, at) => [name, together(results[at]!)])) as Record<K, Load>
}

const loadFor = async (seconds: number, callers: number, ask: () => Promise<unknown>): Promise<Turn> => {
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
    cpu: sum((turn) => turn.cpuMicros) / 1000 / taken.length
  }
}
