import type { WatchEvent } from "./WatchEvent.ts"

/**
 * Tells each trouble once, and its end: a source that is away for a night is two lines, not thousands. The first thing
 * told of a source stands until it is over; of the run, every new message.
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
