import { Effect, Stream } from "effect"
import { asServiceError, ServiceError } from "../domain/Errors.ts"
import type { Connector, Listed } from "../ports/Connector.ts"

/** Several connectors as one; complete when all are. What one of several cannot list does not cost the others. */
export const together = (connectors: ReadonlyArray<Connector>): Connector => {
  const [only, ...more] = connectors
  if (only !== undefined && more.length === 0) return only
  const owners = new Map<string, Connector>()
  return {
    kind: only?.kind ?? "storage",
    check: Effect.forEach(connectors, ({ check }) => check, { discard: true }),
    list: () =>
      Stream.fromIterable(connectors.entries()).pipe(Stream.flatMap(([index, connector]) =>
        connector.list().pipe(
          Stream.catch((error) =>
            Stream.succeed<Listed>({ _tag: "failed", path: `${connector.kind} source ${index + 1}`, error: asServiceError(error) })),
          Stream.tap((listed) => Effect.sync(() => void (listed._tag === "item" && owners.set(listed.item.uri, connector))))
        )
      )),
    read: (item, maxBytes) =>
      owners.get(item.uri)?.read(item, maxBytes) ?? Stream.fail(ServiceError.notFound(item.uri))
  }
}
