import type { WatchEvent } from "./WatchEvent.ts"

/**
 * Reports each trouble once, and its end: a source that is unavailable for a night is two lines, not thousands. The first
 * trouble reported of a source stands until it is over; troubles of the run are reported whenever the message changes.
 */
export class Troubles {
  readonly #open = new Map<string | undefined, string>()

  of(source: string | undefined, message: string, retrySeconds?: number): ReadonlyArray<WatchEvent> {
    const open = this.#open.get(source)
    if (open === message || (open !== undefined && source !== undefined)) return []
    this.#open.set(source, message)
    return [{
      type: "trouble",
      message,
      source,
      retrySeconds
    }]
  }

  over(source: string | undefined): ReadonlyArray<WatchEvent> {
    return this.#open.delete(source) ? [{ type: "recovered", source }] : []
  }
}
