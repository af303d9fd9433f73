import { Effect, Stream } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { Metadata, Permissions } from "../../src/domain/RagFile.ts"
import type { Connector, Listed } from "../../src/ports/Connector.ts"

export interface MemoryItem {
  readonly text: string
  readonly revision?: string
  readonly metadata?: Metadata
  readonly permissions?: Permissions
}

/** A source whose items are set by the test, and which counts the reads of its bytes. */
export class MemorySource {
  items: Record<string, MemoryItem> = {}
  /** Entries that are listed besides the items. */
  extra: ReadonlyArray<Listed> = []
  /** Whether the listing ends before it is complete. */
  cutShort = false
  reads = 0

  readonly connector: Connector = {
    kind: "memory",
    check: Effect.void,
    list: () =>
      Stream.suspend(() =>
        Stream.fromIterable<Listed>([
          ...Object.entries(this.items).map(([path, item]): Listed => ({
            _tag: "item",
            item: {
              path,
              uri: `memory:///${path}`,
              displayName: path,
              revision: item.revision ?? `r-${item.text}`,
              size: Buffer.byteLength(item.text),
              ...(item.metadata === undefined ? {} : { metadata: item.metadata }),
              ...(item.permissions === undefined ? {} : { permissions: item.permissions })
            }
          })),
          ...this.extra,
          ...(this.cutShort ? [] : [{ _tag: "complete" as const }])
        ])
      ),
    read: (item) =>
      Stream.suspend(() => {
        this.reads += 1
        const found = this.items[item.path]
        return found === undefined
          ? Stream.fail(new ServiceError({ code: "NOT_FOUND", message: item.path }))
          : Stream.succeed(new TextEncoder().encode(found.text))
      })
  }
}
