import { Effect, Stream } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { Permissions } from "../../src/domain/RagFile.ts"
import type { Connector, Listed } from "../../src/ports/Connector.ts"

interface FeedItem {
  readonly text: string
  readonly permissions: Permissions
}

/** A source that lists changes since a cursor, and counts its listings. */
export class FeedSource {
  readonly items = new Map<string, FeedItem>()
  /** Numbers of listings from the start, and from a cursor. */
  readonly listings = { whole: 0, changes: 0 }
  reads = 0
  /** Items that are skipped as too large. */
  readonly large = new Set<string>()
  /** Whether cursors are refused, after half of the changes were listed. */
  refuses = false
  /** Whether the listing breaks off. */
  cutShort = false
  readonly #log: Array<string> = []

  put(path: string, text: string, principals: ReadonlyArray<string> = []): void {
    this.items.set(path, { text, permissions: { public: principals.length === 0, principals } })
    this.#log.push(path)
  }

  remove(path: string): void {
    this.items.delete(path)
    this.#log.push(path)
  }

  move(from: string, to: string): void {
    const item = this.items.get(from)
    if (item === undefined) return
    this.items.set(to, item)
    this.#log.push(to)
    this.remove(from)
  }

  #event(path: string): Listed {
    const item = this.items.get(path)
    if (item !== undefined && this.large.has(path)) return { _tag: "skipped", path, reason: "limit", detail: "too large" }
    return item === undefined ? { _tag: "deleted", path } : {
      _tag: "item",
      item: { path, uri: `feed:///${path}`, displayName: path, revision: `r-${item.text}`, permissions: item.permissions }
    }
  }

  get connector(): Connector {
    return {
      kind: "feed",
      check: Effect.void,
      list: (cursor) =>
        Stream.suspend(() => {
          const end: Listed = { _tag: "complete", cursor: String(this.#log.length) }
          const paths = cursor === undefined ? [...this.items.keys()] : this.#log.slice(Number(cursor))
          if (cursor === undefined) this.listings.whole += 1
          else this.listings.changes += 1
          const events = paths.map((path) => this.#event(path))
          if (cursor !== undefined && this.refuses) {
            return Stream.concat(
              Stream.fromIterable(events.slice(0, Math.ceil(events.length / 2))),
              Stream.fail(ServiceError.invalid("cursor", "is too old"))
            )
          }
          return Stream.fromIterable(this.cutShort ? events.slice(0, 1) : [...events, end])
        }),
      read: ({ path }) =>
        Stream.suspend(() => {
          this.reads += 1
          const item = this.items.get(path)
          return item === undefined ? Stream.fail(ServiceError.notFound(path)) : Stream.succeed(new TextEncoder().encode(item.text))
        })
    }
  }
}
