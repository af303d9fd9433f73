import { Effect, Schema, Stream } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import { download } from "../../src/net/Download.ts"
import type { SourceItem } from "../../src/ports/Connector.ts"
import { revisionOf } from "./DriveItem.ts"
import type { Graph } from "./Graph.ts"
import { readPage } from "./SitePages.ts"

const Content = Schema.Struct({
  cTag: Schema.optionalKey(Schema.String),
  eTag: Schema.optionalKey(Schema.String),
  "@microsoft.graph.downloadUrl": Schema.optionalKey(Schema.String)
})

/**
 * A file's bytes, or a page as HTML. Files come from an address that Graph signs for the moment, on another host,
 * which gets no credentials of ours; its version is checked each time one is asked for.
 */
export const reading = (graph: Graph, item: SourceItem, maxBytes: number): Stream.Stream<Uint8Array, ServiceError> => {
  const { driveId, itemId, pageId, siteId } = item.metadata ?? {}
  if (siteId !== undefined && pageId !== undefined) {
    return Stream.fromEffect(Effect.flatMap(readPage(graph, item.path, siteId, pageId, item.revision), (html) => {
      const bytes = new TextEncoder().encode(html)
      return bytes.length > maxBytes
        ? Effect.fail(new ServiceError({ code: "OUT_OF_RANGE", message: `${item.path} is larger than ${maxBytes} bytes` }))
        : Effect.succeed(bytes)
    }))
  }
  if (driveId === undefined || itemId === undefined) return Stream.fail(ServiceError.invalid("item", `${item.path} was not listed by this source`))
  const open = Effect.fnUntraced(function*(offset: number) {
    const content = yield* graph.get(item.path, `/drives/${driveId}/items/${itemId}?$select=id,cTag,eTag,@microsoft.graph.downloadUrl`, Content)
    if (item.unsettled !== true && revisionOf(content) !== item.revision) {
      return yield* new ServiceError({ code: "ABORTED", message: `${item.path} changed since it was listed` })
    }
    const address = content["@microsoft.graph.downloadUrl"]
    if (address === undefined) {
      return yield* new ServiceError({ code: "PERMISSION_DENIED", message: `${item.path} cannot be downloaded`, fix: "Check the library's information protection and access policies." })
    }
    return yield* graph.bytes(item.path, address, offset)
  })
  return download({ what: item.path, maxBytes, open })
}
