/** Timing of `watch`, in milliseconds. */
export interface Timing {
  /** How long without a hint a batch waits before it starts. */
  readonly quiet: number
  /** How long after the first hint a batch starts at the latest. */
  readonly maxWait: number
  /** How long until items that were too recent to be trusted are examined again: a little more than a revision needs to settle. */
  readonly settle: number
  /** The first wait after a failure; each further failure doubles it. */
  readonly retry: number
  /** The longest wait after a failure. */
  readonly maxRetry: number
  /** Interval at which a source is listed whose hints are not working. */
  readonly blind: number
  /** Interval at which the target is listed too, for changes made there by others: takes a request per 100 files. */
  readonly target: number
}

/** The default timing of `watch`, in milliseconds. */
export const defaultTiming: Timing = {
  quiet: 300,
  maxWait: 5_000,
  settle: 2_100,
  retry: 1_000,
  maxRetry: 60_000,
  blind: 10_000,
  target: 60 * 60_000
}

/** What a batch left of a source: nothing, items that may still change, or failures that may pass. */
export type Left = "nothing" | "unsettled" | "failures"

interface Entry {
  readonly interval: number
  /** When the first and the last of the waiting hints came. */
  hinted: { readonly first: number; readonly last: number } | undefined
  blind: boolean
  /** When to examine again what the last batch left. */
  again: number | undefined
  /** Number of batches in a row that left something. */
  looks: number
  /** When to list it, hints or not. */
  pass: number
}

/**
 * Schedules the listings of sources: after debounced hints, to examine unsettled items again, to retry failures, and at
 * every interval whatever the hints say. Bookkeeping only: callers pass the time, in milliseconds.
 */
export class Agenda {
  readonly #entries: ReadonlyMap<string, Entry>
  readonly #timing: Timing
  #failures = 0
  #notBefore = -Infinity

  /** Every source is due at once. */
  constructor(
    sources: ReadonlyArray<{ readonly id: string; readonly interval: number }>,
    now: number,
    timing: Timing = defaultTiming
  ) {
    this.#timing = timing
    this.#entries = new Map(sources.map(({ id, interval }) => [
      id,
      { interval, hinted: undefined, blind: false, again: undefined, looks: 0, pass: now }
    ]))
  }

  /** Records that something may have changed. Returns whether this is the first hint since the last listing: further ones only put the next off. */
  hint(source: string, now: number): boolean {
    const entry = this.#of(source)
    const first = entry.hinted === undefined
    entry.hinted = { first: entry.hinted?.first ?? now, last: now }
    entry.looks = 0
    return first
  }

  /** Records whether hints of a source can be relied on. */
  sees(source: string, sees: boolean, now: number): void {
    const entry = this.#of(source)
    entry.blind = !sees
    if (!sees) entry.pass = Math.min(entry.pass, now + this.#timing.blind)
  }

  /** Time at which the next source is due. */
  get next(): number {
    return Math.max(this.#notBefore, Math.min(...[...this.#entries.values()].map((entry) => this.#due(entry))))
  }

  /** Takes the sources that are due, for the caller to list. */
  take(now: number): ReadonlyArray<string> {
    if (now < this.#notBefore) return []
    const due = [...this.#entries].filter(([, entry]) => this.#due(entry) <= now)
    for (const [, entry] of due) {
      entry.hinted = undefined
      entry.again = undefined
      // Until `listed` or `failed` is called.
      entry.pass = Infinity
    }
    return due.map(([source]) => source)
  }

  /**
   * Records that a batch with this source is over. Further looks that find nothing settled become ever rarer: a file's
   * time may lie in the future.
   */
  listed(source: string, now: number, left: Left, progress: boolean): void {
    const entry = this.#of(source)
    const { blind, maxRetry, retry, settle } = this.#timing
    this.#failures = 0
    this.#notBefore = -Infinity
    entry.pass = now + (entry.blind ? Math.min(blind, entry.interval) : entry.interval)
    entry.looks = left === "nothing" || (progress && left === "unsettled") ? 0 : entry.looks + 1
    entry.again = left === "nothing"
      ? undefined
      : now + backoff(left === "unsettled" ? settle : retry, entry.looks, maxRetry)
  }

  /** Records that a batch failed: its sources are due again after a wait that grows. Returns the wait in milliseconds. */
  failed(sources: ReadonlyArray<string>, now: number, least = 0): number {
    this.#failures += 1
    const wait = Math.max(least, backoff(this.#timing.retry, this.#failures, this.#timing.maxRetry))
    this.#notBefore = now + wait
    for (const source of sources) this.#of(source).pass = now
    return wait
  }

  /**
   * Makes every source due at once: deletes were released, or the clock jumped and changes may have gone unnoticed. As a
   * hint, it outlives a batch in hand, which may have listed the source before.
   */
  all(): void {
    for (const entry of this.#entries.values()) entry.hinted = { first: -Infinity, last: -Infinity }
    this.#notBefore = -Infinity
  }

  /** Whether, as far as is known, the target has what the sources have. */
  get quiet(): boolean {
    return this.#notBefore === -Infinity &&
      [...this.#entries.values()].every((entry) => entry.hinted === undefined && entry.again === undefined)
  }

  #due({ again, hinted, pass }: Entry): number {
    const { maxWait, quiet } = this.#timing
    return Math.min(
      pass,
      again ?? Infinity,
      hinted === undefined ? Infinity : Math.min(hinted.first + maxWait, hinted.last + quiet)
    )
  }

  #of(source: string): Entry {
    const entry = this.#entries.get(source)
    if (entry === undefined) throw new Error(`no source ${source}`)
    return entry
  }
}

/** The wait before the `n`th attempt in a row. */
const backoff = (first: number, n: number, max: number): number => Math.min(max, first * 2 ** Math.min(30, Math.max(0, n - 1)))
