import { Effect, Schema, Stream } from "effect"
import type { HttpClientResponse } from "effect/http"
import { hash } from "node:crypto"
import {
  atMost,
  bodyOf,
  collect,
  type Connector,
  type ConnectorContext,
  discard,
  type Listed,
  type ListedPage,
  paged,
  pathFilter,
  redactUrl,
  type SecretError,
  ServiceError,
  type SourceItem
} from "../../src/ConnectorKit.ts"
import type { SettingsOf } from "../../src/ConnectorKit.ts"
import { factsOf, markdownOf, textOf } from "./Page.ts"
import { canonical, openSite, pathOf, scopeOf, type Site } from "./Site.ts"

type Failure = ServiceError | SecretError

/** Most bytes of an HTML page. */
const maxPage = 10_000_000
/** Fewest pages between two checkpoints. */
const fewest = 20
/** How often each page may lead to another one in its place, on average. */
const moves = 3
/** Pages between two checkpoints, as a share of those visited: a checkpoint names all of them. */
const share = 0.1

const optional = Schema.optionalKey(Schema.String)

/** A known page, visited or not. With a revision, it has been reported before. */
const Entry = Schema.Struct({
  url: Schema.String,
  /** Number of links from the first page. */
  depth: Schema.Int,
  revision: optional,
  etag: optional,
  modified: optional,
  /** The page that redirected here, or named this as its address. */
  via: optional
})
type Entry = typeof Entry.Type

/** Position of a listing. After a complete one, `queue` is every page, to be requested again. */
const Position = Schema.Struct({
  queue: Schema.Array(Entry),
  done: Schema.Array(Entry),
  /** Pages that were visited and are not requested again, because they are not part of the source. */
  passed: Schema.Array(Schema.String),
  /** Whether the first pages are in the queue. */
  started: Schema.Boolean,
  /** Whether a page could not be visited, so that its links are not known. */
  incomplete: Schema.Boolean,
  /** Whether more pages were found than are taken. */
  full: Schema.Boolean
})
type Position = typeof Position.Type

const start: Position = { started: false, queue: [], done: [], passed: [], incomplete: false, full: false }

/** The outcome of visiting one page. */
interface Visit {
  readonly events: ReadonlyArray<Listed>
  /** The entry with which the page is requested the next time; absent where it is not. */
  readonly entry?: Entry
  readonly links?: ReadonlyArray<string>
  /** The page's own address, where that is another one. */
  readonly moved?: string
  readonly incomplete?: boolean
}

/** The implementation of `web`, loaded when it is first connected. */
export const open = (config: SettingsOf<"web">, _: Partial<ConnectorContext>): Omit<Connector, "kind"> => {
  const { first, holds } = scopeOf(config)
  const maxPages = config.maxPages
  const maxDepth = config.maxDepth
  const bySitemap = config.sitemap !== undefined && config.sitemap !== false
  const globPath = (url: string): string => decodeURI(new URL(url).pathname.slice(1))
  const included = pathFilter({ include: config.include })
  const excluded = pathFilter({ include: config.exclude })
  const isExcluded = (url: string): boolean => (config.exclude?.length ?? 0) > 0 && excluded(globPath(url))
  const takes = (site: Site, url: string): boolean => holds(url) && site.allows(url) && !isExcluded(url)

  /** The error of a source whose first page leads out of it: it would be empty. */
  const elsewhere = (at: string): ServiceError =>
    new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `${first} redirects to ${redactUrl(at)}, which is not part of the source`,
      fix: "give the address that it redirects to as the source's url"
    })

  const visit = (site: Site, entry: Entry): Effect.Effect<Visit, Failure> => {
    const { etag, modified, url } = entry
    return site.http.read(url, url, (response) => visitOf(site, entry, response), {
      headers: {
        "accept-encoding": "gzip",
        ...(etag === undefined ? {} : { "if-none-match": etag }),
        ...(modified === undefined ? {} : { "if-modified-since": modified })
      },
      accept: (status) => status < 400
    })
  }

  const visitOf = Effect.fnUntraced(
    function*(site: Site, entry: Entry, response: HttpClientResponse.HttpClientResponse): Effect.fn.Return<Visit, ServiceError> {
      const { depth, revision: known, url, via } = entry
      const path = pathOf(url)
      const gone: Visit = { events: known === undefined ? [] : [{ _tag: "deleted", path }] }
      const skipped = (reason: "unsupported" | "limit" | "special", detail: string): Visit => ({
        events: [{ _tag: "skipped", path, reason, detail }]
      })
      const letGo = (visit: Visit): Effect.Effect<Visit> => Effect.as(discard(response), visit)
      if (response.status === 304) return yield* letGo({ events: [], entry })
      if (response.status >= 300) return yield* letGo(skipped("special", "it redirects to an address that is not followed"))
      const at = canonical(response.request.url) ?? url
      if (at !== url) {
        yield* discard(response)
        if (takes(site, at)) return { ...gone, moved: at }
        if (url === first && !bySitemap) return yield* elsewhere(at)
        return skipped("special", `it redirects to ${redactUrl(at)}, which is not part of the source`)
      }
      const type = response.headers["content-type"]?.replace(/;.*$/s, "").trim().toLowerCase() ?? ""
      const isPage = type === "" || type === "text/html" || type === "application/xhtml+xml"
      if (!isPage && noDocument.test(type)) return yield* letGo(skipped("unsupported", type))
      const limit = Math.min(config.maxFileSize ?? Infinity, isPage ? maxPage : Infinity)
      const size = sizeOf(response)
      if (size !== undefined && size > limit) return yield* letGo(skipped("limit", `${size} bytes; ${limit} is the limit`))
      const facts = { url, depth, ...validatorsOf(response), ...(via === undefined ? {} : { via }) }
      const name = path.slice(path.lastIndexOf("/") + 1)
      const itemOf = (revision: string, more: Pick<SourceItem, "displayName" | "mimeType" | "size">): ReadonlyArray<Listed> =>
        revision === known || !included(globPath(url))
          ? []
          : [{ _tag: "item", item: { path, uri: url, revision, ...more, ...metadataOf(response) } }]
      if (!isPage) {
        const revision = revisionOf(facts) ?? `size ${size ?? "unknown"}`
        return yield* letGo({
          events: itemOf(revision, { displayName: name, mimeType: type, ...(size === undefined ? {} : { size }) }),
          entry: { ...facts, revision }
        })
      }
      const bytes = yield* collect(bodyOf(url, response, limit))
      const page = factsOf(textOf(bytes, response.headers["content-type"]), url, response.headers["x-robots-tag"])
      if (page.canonical !== undefined && page.canonical !== url && takes(site, page.canonical)) {
        return { ...skipped("special", `it gives ${page.canonical} as its own address`), moved: page.canonical, links: page.links }
      }
      if (!page.index) return { ...skipped("special", "it asks not to be indexed (noindex)"), links: page.links }
      const revision = revisionOf(facts) ?? `sha256 ${hash("sha256", bytes)}`
      const displayName = `${(page.title ?? path).replace(/[/\\\p{Cc}]+/gu, " ").slice(0, 200).trim().normalize("NFC")}.md`
      return { events: itemOf(revision, { displayName, mimeType: "text/markdown" }), entry: { ...facts, revision }, links: page.links }
    }
  )

  let current: Site | undefined
  const opened = Effect.map(openSite(config), (site) => current = site)
  /** The site of the last listing, so that its robots.txt is not requested with each page. */
  const siteOf = Effect.suspend(() => current === undefined ? opened : Effect.succeed(current))

  /** Visits a page. A failure affects only that page, unless it is the first. */
  const visited = (site: Site, entry: Entry): Effect.Effect<Visit, Failure> =>
    visit(site, entry).pipe(
      Effect.catchTag("ServiceError", (error): Effect.Effect<Visit, ServiceError> => {
        const path = pathOf(entry.url)
        if (entry.url === first) return Effect.fail(explained(error, first))
        if (error.code === "NOT_FOUND" || error.status === 410) {
          return Effect.succeed({ events: entry.revision === undefined ? [] : [{ _tag: "deleted", path }] })
        }
        if (error.code === "PERMISSION_DENIED" || error.code === "UNAUTHENTICATED") {
          return Effect.succeed({
            events: [{
              _tag: "skipped",
              path,
              reason: "special",
              detail: error.status === undefined ? "its host is not public" : "it requires a login"
            }]
          })
        }
        if (error.code === "OUT_OF_RANGE") {
          return Effect.succeed({ events: [{ _tag: "skipped", path, reason: "limit", detail: error.message }] })
        }
        return Effect.succeed({
          events: [{ _tag: "failed", path, error: withoutBody(error) }],
          ...(entry.revision === undefined ? { incomplete: !bySitemap } : { entry })
        })
      })
    )

  /** Where a listing starts: the known pages, and those that the site names first. */
  const started = Effect.fnUntraced(
    function*(site: Site, position: Position): Effect.fn.Return<readonly [Position, ReadonlyArray<Listed>], Failure> {
      if (position.started) return [position, []]
      const { failed, left, pages: seeds } = bySitemap
        ? yield* site.pages(maxPages, (url) => takes(site, url))
        : { failed: [], pages: takes(site, first) ? [first] : [] }
      if (seeds.length === 0) {
        return yield* new ServiceError({
          code: "FAILED_PRECONDITION",
          message: bySitemap
            ? `no sitemap names a page under ${first} that may be crawled`
            : `${first} may not be crawled, by its robots.txt or by exclude`,
          fix: bySitemap ? "leave sitemap out to follow links, or correct the url" : "ask the site's owner, or start elsewhere"
        })
      }
      const isSeed = new Set(seeds)
      const stays = ({ url, via = url }: Entry): boolean =>
        takes(site, url) && (!bySitemap || failed.length > 0 || isSeed.has(url) || isSeed.has(via))
      const known = position.queue.filter(stays)
      const isKnown = new Set(known.map(({ url }) => url))
      const gone = position.queue.filter((entry) => !stays(entry)).map(({ url }): Listed => ({ _tag: "deleted", path: pathOf(url) }))
      const lost = failed.map(([address, error]): Listed => ({ _tag: "failed", path: pathOf(address), error: withoutBody(error) }))
      return [{
        ...position,
        started: true,
        incomplete: position.incomplete || failed.length > 0,
        full: left !== undefined,
        queue: [...seeds.filter((url) => !isKnown.has(url)).map((url) => ({ url, depth: 0 })), ...known]
      }, [...gone, ...lost, ...(left === undefined ? [] : [overLimit(left)])]]
    }
  )

  const overLimit = (url: string): Listed => ({
    _tag: "skipped",
    path: pathOf(url),
    reason: "limit",
    detail: `this page and those found after it: maxPages is ${maxPages}`
  })

  const listPage = (site: Site) =>
    Effect.fnUntraced(function*(given: Position): Effect.fn.Return<ListedPage<Position>, Failure> {
      const [position, gone] = yield* started(site, given)
      const count = Math.max(fewest, Math.floor(position.done.length * share))
      const batch = position.queue.slice(0, count)
      const visits = yield* Effect.forEach(batch, (entry) => visited(site, entry), { concurrency: config.concurrency })
      const done = [...position.done, ...visits.flatMap(({ entry }) => entry ?? [])]
      const passed = [...position.passed, ...batch.flatMap(({ url }, at) => visits[at]?.entry === undefined ? [url] : [])]
      const queue = position.queue.slice(count)
      const listed: Array<Listed> = [...gone, ...visits.flatMap(({ events }) => events)]
      const seen = new Set([...position.passed, ...[...position.done, ...position.queue].map(({ url }) => url)])
      let { full } = position
      const found = (page: Entry, most: number): void => {
        if (seen.has(page.url) || !takes(site, page.url)) return
        if (Math.max(done.length, passed.length) + queue.length < most) {
          seen.add(page.url)
          queue.push(page)
        } else if (!full) {
          full = true
          listed.push(overLimit(page.url))
        }
      }
      for (const [at, { links = [], moved }] of visits.entries()) {
        const { depth, url, via = url } = batch[at]!
        // It takes the place of the page that was visited; of pages that move again and again, there is an end.
        if (moved !== undefined) found({ url: moved, depth, via }, moves * maxPages)
        if (!bySitemap && depth < maxDepth) { for (const link of links) found({ url: link, depth: depth + 1 }, maxPages) }
      }
      const incomplete = position.incomplete || visits.some((visit) => visit.incomplete === true)
      if (queue.length > 0) return { listed, next: { started: true, queue, done, passed, incomplete, full } }
      return { listed, incomplete, since: { ...start, queue: done } }
    })

  return {
    check: Effect.flatMap(
      opened,
      (site) =>
        Effect.flatMap(
          site.http.send(first, first).pipe(Effect.mapError((error) => error._tag === "ServiceError" ? explained(error, first) : error)),
          (response) => {
            const at = canonical(response.request.url) ?? first
            return Effect.andThen(discard(response), bySitemap || takes(site, at) ? Effect.void : Effect.fail(elsewhere(at)))
          }
        )
    ),
    list: (cursor) =>
      Stream.unwrap(Effect.map(opened, (site) =>
        paged<Position, Failure>({
          cursor,
          of: [config.url, config.sitemap, config.include, config.exclude, config.maxDepth, config.maxPages, config.maxFileSize],
          position: Position,
          first: start,
          page: listPage(site)
        }))),
    // In its current state; the next listing will have its new revision.
    read: (item, maxBytes) =>
      Stream.unwrap(Effect.gen(function*() {
        const site = yield* siteOf
        if (!holds(item.uri) || pathOf(item.uri) !== item.path) return Stream.fail<Failure>(ServiceError.notFound(item.path))
        const response = yield* site.http.send(item.uri, item.uri, { headers: { "accept-encoding": "gzip" } }).pipe(
          Effect.mapError((error) => error._tag === "ServiceError" ? withoutBody(error) : error)
        )
        const isPage = item.mimeType === "text/markdown" && /html|^$/.test(response.headers["content-type"] ?? "")
        const body = bodyOf(item.uri, response, isPage ? maxPage : maxBytes)
        if (!isPage) return body
        const bytes = yield* collect(body)
        const markdown = Buffer.from(markdownOf(textOf(bytes, response.headers["content-type"])))
        return atMost(maxBytes, item.path)(Stream.make<Array<Uint8Array>>(markdown))
      }))
  }
}

/** Types that are not text: pictures, sound, films, fonts, programs, archives. */
const noDocument =
  /^(?:image|audio|video|font)\/|\/(?:css|javascript|ecmascript|x-javascript|wasm|zip|gzip|x-gzip|x-tar|x-7z-compressed|octet-stream|x-msdownload|rss\+xml|atom\+xml|manifest\+json)$/

type Headers = Pick<HttpClientResponse.HttpClientResponse, "headers">

const sizeOf = ({ headers }: Headers): number | undefined =>
  headers["content-length"] === undefined || (headers["content-encoding"] ?? "identity") !== "identity"
    ? undefined
    : Number(headers["content-length"])

const validatorsOf = ({ headers }: Headers): Pick<Entry, "etag" | "modified"> => ({
  ...(headers["etag"] === undefined ? {} : { etag: headers["etag"] }),
  ...(headers["last-modified"] === undefined ? {} : { modified: headers["last-modified"] })
})

const revisionOf = ({ etag, modified }: Pick<Entry, "etag" | "modified">): string | undefined =>
  etag !== undefined ? `etag ${etag}` : modified !== undefined ? `modified ${modified}` : undefined

const metadataOf = ({ headers }: Headers): Pick<SourceItem, "metadata"> => {
  const modified = Date.parse(headers["last-modified"] ?? "")
  return Number.isNaN(modified) ? {} : { metadata: { modifiedTime: new Date(modified).toISOString() } }
}

/** The error without the response's body, which is someone's page, not a message. */
const withoutBody = (error: ServiceError): ServiceError => error.with({ message: error.message.replace(/(answered \d{3}): .*$/s, "$1") })

/** Why the first page, on which all others depend, could not be read. */
const explained = (error: ServiceError, first: string): ServiceError =>
  error.code === "NOT_FOUND"
    ? ServiceError.notFound(first, "correct the source's url")
    : error.code === "PERMISSION_DENIED" && error.status === undefined
    ? error.with({ fix: "only public addresses are crawled; list a host of your own network in privateHosts" })
    : withoutBody(error)
