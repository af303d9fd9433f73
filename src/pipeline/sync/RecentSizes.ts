/** How long losses of a source are counted together, in milliseconds. */
const lossWindow = 3_600_000

/**
 * Numbers of files that sources had within the last hour. A source that loses its files one by one does so over many
 * batches of a watch, each of which would be below the limit. Files that are replaced by others are no loss.
 */
export class RecentSizes {
  readonly #sizes = new Map<string, { readonly known: number; readonly at: number; held: boolean }>()

  /** Number of files that the source had lately, given how many are known of it now. */
  lately(source: string, known: number, now: number): number {
    const last = this.#sizes.get(source)
    // Deletes that were held must not pass because time did.
    const counts = last !== undefined && last.known > known && (last.held || Math.abs(now - last.at) < lossWindow)
    if (counts) return last.known
    this.#sizes.set(source, { known, at: now, held: false })
    return known
  }

  /** Records whether deletes of the source are held. */
  hold(source: string, held: boolean): void {
    const last = this.#sizes.get(source)
    if (last !== undefined) last.held = held
  }

  /** Forgets what the source had: its deletes are consented to. */
  forget(source: string): void {
    this.#sizes.delete(source)
  }
}
