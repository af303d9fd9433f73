import { Effect, Stream } from "effect"
import type { SyncEvent } from "../../domain/Report.ts"
import type { SyncSource } from "../sync/Session.ts"
import type { Left } from "./Agenda.ts"

/** Observes the sources of a batch: which of them to examine again, and whether anything changed. */
export class Attention {
  readonly #unsettled = new Set<string>()
  readonly #failed = new Set<string>()
  readonly #progress = new Set<string>()

  /**
   * A source as it is listed in this batch. Its check becomes part of the listing, so that a source that is unavailable
   * is a listing that broke off: none of its files are deleted, and the other sources continue. Where the engine can
   * fetch the source itself, the check decides which side lists it, and stays.
   */
  listed(source: SyncSource): SyncSource {
    const { connector, id, imports } = source
    return {
      ...source,
      connector: {
        ...connector,
        check: imports === undefined ? Effect.void : connector.check,
        list: (cursor) =>
          Stream.fromEffectDrain(connector.check).pipe(
            Stream.concat(connector.list(cursor)),
            Stream.tap((listed) => {
              if (listed._tag === "item" && listed.item.unsettled === true) this.#unsettled.add(id)
              return Effect.void
            }),
            Stream.tapError(() => Effect.sync(() => this.#failed.add(id)))
          )
      }
    }
  }

  notice(event: SyncEvent): void {
    if (event.type === "deleted") this.#progress.add(event.source)
    if (event.type !== "file") return
    if (event.outcome === "added" || event.outcome === "changed" || event.outcome === "moved") this.#progress.add(event.source)
    if (event.outcome === "failed" && event.retryable === true) this.#failed.add(event.source)
  }

  left(source: string): Left {
    return this.#failed.has(source) ? "failures" : this.#unsettled.has(source) ? "unsettled" : "nothing"
  }

  progress(source: string): boolean {
    return this.#progress.has(source)
  }
}

/**
 * A source that is left out of a batch: it is not listed, and none of its files are deleted. The engine does not fetch it
 * either; its staging address is still needed to settle what an earlier run left open.
 */
export const resting = ({ connector, id, staging }: SyncSource): SyncSource => ({
  id,
  rests: true,
  connector: { ...connector, check: Effect.void },
  staging
})
