import { Effect, Stream } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ServiceError } from "../../src/domain/Errors.ts"
import { call, type Caller } from "../../src/net/Call.ts"
import { discard, download } from "../../src/net/Download.ts"
import type { Listed, SourceItem } from "../../src/ports/Connector.ts"
import type { Address } from "./Address.ts"
import type { Backend } from "./Listing.ts"

type WebAddress = Extract<Address, { readonly scheme: "https" }>

/**
 * Single pages and files by address. The revision is the etag, otherwise the modification time; a page of a server that returns neither is
 * read each time. `addresses` are looked up by path, because signed addresses are not stored.
 */
export const webBackend = (caller: Caller, addresses: ReadonlyArray<Address>, maxFileSize: number | undefined): Backend => {
  // Of two addresses that differ only in their signatures, the first is listed.
  const urls = new Map(
    addresses.toReversed().flatMap((address) => address.scheme === "https" ? [[address.text, address.url] as const] : [])
  )

  const ask = (method: "GET" | "HEAD", path: string, url: URL, headers: Readonly<Record<string, string>> = {}) =>
    call(
      caller,
      path,
      HttpClientRequest.make(method)(url, { headers: { ...headers, "accept-encoding": "gzip" } }),
      (status) => status >= 200 && status < 400
    ).pipe(
      Effect.mapError((error) => explain(path, error)),
      Effect.flatMap((response) =>
        response.status < 300 ? Effect.succeed(response) : Effect.andThen(
          discard(response),
          Effect.fail(
            new ServiceError({
              code: "FAILED_PRECONDITION",
              message: `${path} redirects to an address that is not followed`,
              fix: "give the final address, by https"
            })
          )
        )
      )
    )

  const facts = ({ text, url }: WebAddress) =>
    ask("HEAD", text, url).pipe(
      // Some servers, and every address signed for GET, refuse HEAD.
      Effect.catchIf((error) => headRefused.has(error.code), () => Effect.tap(ask("GET", text, url), discard))
    )

  const listed = (address: WebAddress, response: HttpClientResponse.HttpClientResponse): Listed => {
    const { headers } = response
    const size = sizeOf(headers)
    if (maxFileSize !== undefined && size !== undefined && size > maxFileSize) {
      return { _tag: "skipped", path: address.text, reason: "limit", detail: `${size} bytes; maxFileSize is ${maxFileSize}` }
    }
    const mimeType = headers["content-type"]?.replace(/;.*$/s, "").trim().toLowerCase()
    const modified = Date.parse(headers["last-modified"] ?? "")
    const revision = revisionOf(headers)
    const item: SourceItem = {
      path: address.text,
      uri: address.text,
      displayName: nameOf(address.url),
      revision: revision ?? "unknown",
      ...(revision === undefined ? { unsettled: true } : {}),
      ...(size === undefined ? {} : { size }),
      ...(mimeType === undefined || mimeType === "" ? {} : { mimeType }),
      ...(Number.isNaN(modified) ? {} : { metadata: { modifiedTime: new Date(modified).toISOString() } })
    }
    return { _tag: "item", item }
  }

  return {
    check: () => Effect.void,
    one: (address) =>
      address.scheme === "https"
        ? Effect.map(facts(address), (response) => listed(address, response))
        : Effect.undefined,
    page: () => Effect.succeed({ events: [] }),
    read: (item, maxBytes) => {
      const url = urls.get(item.path)
      if (url === undefined) return Stream.fail(ServiceError.notFound(item.path, "it is no longer among the source's addresses"))
      const open = Effect.fnUntraced(function*(offset: number) {
        const etag = /^etag ("[^"]*")$/.exec(item.revision)?.[1]
        const response = yield* ask(
          "GET",
          item.path,
          url,
          offset > 0 && etag !== undefined ? { range: `bytes=${offset}-`, "if-range": etag } : {}
        )
        if (item.unsettled === true || revisionOf(response.headers) === item.revision) return response
        yield* discard(response)
        return yield* new ServiceError({ code: "ABORTED", message: `${item.path} changed since it was listed` })
      })
      return download({ what: item.path, maxBytes, open })
    }
  }
}

const headRefused = new Set<ServiceError["code"]>([
  "PERMISSION_DENIED",
  "UNIMPLEMENTED",
  "FAILED_PRECONDITION",
  "INVALID_ARGUMENT",
  "NOT_FOUND"
])

type Headers = HttpClientResponse.HttpClientResponse["headers"]

const revisionOf = (headers: Headers): string | undefined =>
  headers["etag"] !== undefined ?
    `etag ${headers["etag"]}`
    : headers["last-modified"] !== undefined ?
    `modified ${headers["last-modified"]}`
    : undefined

const sizeOf = (headers: Headers): number | undefined =>
  headers["content-length"] === undefined || (headers["content-encoding"] ?? "identity") !== "identity"
    ? undefined
    : Number(headers["content-length"])

/** The last part of the path, unescaped; the host for a site's front page. */
const nameOf = (url: URL): string => {
  const last = url.pathname.split("/").findLast((part) => part !== "") ?? url.host
  try {
    return decodeURIComponent(last).normalize("NFC")
  } catch {
    return last
  }
}

/** The error without the response's body, which is someone's document, not a message. */
const explain = (path: string, failure: ServiceError): ServiceError => {
  const error = failure.with({ message: failure.message.replace(/(answered \d{3}): .*$/s, "$1") })
  switch (error.code) {
    case "UNAUTHENTICATED":
      return error.with({
        code: "PERMISSION_DENIED",
        message: `${path} requires a login`,
        fix: "give a public or a signed address"
      })
    case "PERMISSION_DENIED":
      return error.status === 403
        ? error.with({ fix: "give a public or a signed address; signed addresses expire" })
        : error
    case "NOT_FOUND":
      return error.with({ message: `${path} was not found`, fix: "correct the address, or take it out of the source" })
    default:
      return error
  }
}
