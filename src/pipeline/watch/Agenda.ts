/** All in milliseconds. */
export interface Timing {
  /** A batch waits until nothing was told for so long, */
  readonly quiet: number
  /** but no longer than this after the first hint. */
  readonly maxWait: number
  /** When to look again at what was too young to be trusted: a little more than a revision needs to settle. */
  readonly settle: number
  /** The first wait after a failure; each further one doubles it, */
  readonly retry: number
  /** up to this. */
  readonly maxRetry: number
  /** How often a source that should give hints and cannot is listed. */
  readonly blind: number
  /** How often the target is listed too, for what somebody else did there: a request for every 100 files. */
  readonly target: number
}

/** What `watch` keeps to where it is told nothing else. Milliseconds. */
export const defaultTiming: Timing = {
  quiet: 300,
  maxWait: 5_000,
  settle: 2_100,
  retry: 1_000,
  maxRetry: 60_000,
  blind: 10_000,
  target: 60 * 60_000
}

/** What a batch left of a source: nothing to do, items that may still change, or failures that may pass. */
export type Left = "nothing" | "unsettled" | "failures"

interface Entry {
  readonly interval: number
  /** When the hints that wait began, and when the last came. */
  hinted: { readonly first: number; readonly last: number } | undefined
  blind: boolean
  /** When to look again at what the last batch left. */
  again: number | undefined
  /** Looks in a row that left something. */
  looks: number
  /** When to list it whatever is known. */
  pass: number
}

/**
 * When each source is to be listed next: debounced hints, second looks at what was unsettled, retries, and a pass
 * every interval whatever the hints say. Plain bookkeeping over a clock it is told, in milliseconds.
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

  /** Something may have changed. Answers whether the agenda has moved forward: further hints only put it off. */
  hint(source: string, now: number): boolean {
    const entry = this.#of(source)
    const first = entry.hinted === undefined
    entry.hinted = { first: entry.hinted?.first ?? now, last: now }
    entry.looks = 0
    return first
  }

  /** Whether hints of a source can be relied on. */
  sees(source: string, sees: boolean, now: number): void {
    const entry = this.#of(source)
    entry.blind = !sees
    if (!sees) entry.pass = Math.min(entry.pass, now + this.#timing.blind)
  }

  /** When the next source is due. */
  get next(): number {
    return Math.max(this.#notBefore, Math.min(...[...this.#entries.values()].map((entry) => this.#due(entry))))
  }

  /** The sources that are due, which the caller now lists. */
  take(now: number): ReadonlyArray<string> {
    if (now < this.#notBefore) return []
    const due = [...this.#entries].filter(([, entry]) => this.#due(entry) <= now)
    for (const [, entry] of due) {
      entry.hinted = undefined
      entry.again = undefined
      // Until it is told how it went.
      entry.pass = Infinity
    }
    return due.map(([source]) => source)
  }

  /** A batch with this source is over. Fruitless second looks come ever more rarely: a file's time may lie ahead. */
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

  /** A batch came to nothing: its sources are due again, after a wait that grows. Answers the wait. */
  failed(sources: ReadonlyArray<string>, now: number, least = 0): number {
    this.#failures += 1
    const wait = Math.max(least, backoff(this.#timing.retry, this.#failures, this.#timing.maxRetry))
    this.#notBefore = now + wait
    for (const source of sources) this.#of(source).pass = now
    return wait
  }

  /** Everything is due: the clock jumped, and whatever happened meanwhile was told to nobody. */
  all(now: number): void {
    for (const entry of this.#entries.values()) entry.pass = now
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

/** The wait before the `n`th try in a row. */
const backoff = (first: number, n: number, max: number): number => Math.min(max, first * 2 ** Math.min(30, Math.max(0, n - 1)))
