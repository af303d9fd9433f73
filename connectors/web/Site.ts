import { Effect } from "effect"
import { gunzipSync } from "node:zlib"
import type { HttpClientResponse } from "effect/http"
import robotsParser from "robots-parser"
import { SaxesParser } from "saxes"
import { bodyOf, collect, discard, httpCaller, type HttpCaller, type SecretError, ServiceError } from "../../src/ConnectorKit.ts"
import type { SettingsOf } from "../../src/ConnectorKit.ts"

/** Parameters that say where a visitor came from, and nothing about the page. */
const tracking = /^(?:utm_\w+|gclid|fbclid|msclkid|mc_[ce]id|yclid|_ga|ref_src)$/i

/** Endings of names that are not documents; these are never requested. */
const noDocument =
  /\.(?:avif|bmp|css|eot|gif|ico|jpe?g|js|mjs|map|mp[34]|m4[av]|mov|avi|mkv|webm|ogg|wav|flac|otf|png|svg|tiff?|ttf|webp|woff2?|zip|gz|bz2|xz|7z|rar|tar|tgz|dmg|exe|msi|deb|rpm|iso|apk|jar|wasm|bin)$/i

/** Most characters of an address; longer ones come from a crawler trap, not from a person. */
const maxAddress = 2_000

/** The canonical form of an address: without fragment, tracking parameters, the name of an index page, and empty parts. */
export const canonical = (address: string, base?: string): string | undefined => {
  const url = URL.parse(address, base)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined
  url.hash = ""
  for (const name of new Set(url.searchParams.keys())) if (tracking.test(name)) url.searchParams.delete(name)
  url.pathname = url.pathname.replace(/\/{2,}/g, "/").replace(/\/index\.html?$/i, "/")
  return url.href.length > maxAddress ? undefined : url.href.replace(/\?$/, "")
}

/** Returns a function that decides which addresses belong to the site: those of the first one's origin, under its folder. */
export const scopeOf = (
  { url }: Pick<SettingsOf<"web">, "url">
): { readonly first: string; readonly holds: (address: string) => boolean } => {
  const first = canonical(url) ?? url
  const { origin, pathname } = new URL(first)
  const folder = `${origin}${pathname.slice(0, pathname.lastIndexOf("/") + 1)}`
  return { first, holds: (address) => (address.startsWith(folder) || address === first) && !noDocument.test(new URL(address).pathname) }
}

/** The path of an item: that of its address, unescaped where this is reversible. */
export const pathOf = (address: string): string => {
  const { pathname, search } = new URL(address)
  const parts = pathname.slice(1).split("/").map((part, at, all) => part === "" && at === all.length - 1 ? "index.html" : plain(part))
  return `${parts.join("/")}${search}`
}

const plain = (part: string): string => {
  try {
    const text = decodeURIComponent(part)
    return encodeURIComponent(text) === part && text === text.normalize("NFC") && !/[/\\?\p{Cc}]/u.test(text) && !/^\.{1,2}$/.test(text)
      ? text
      : part
  } catch {
    return part
  }
}

type Failure = ServiceError | SecretError

// The package's types declare it an ES module, which it is not.
const parseRobots = robotsParser as unknown as typeof robotsParser.default

/** Most bytes of robots.txt that are read (RFC 9309 requires at least 500 KiB). */
const maxRobots = 512 * 1024
/** Most bytes of one sitemap (the protocol's bound). */
const maxSitemap = 50 * 1024 * 1024
/** Most sitemaps of a site; those beyond are reported as failed. */
const maxSitemaps = 1_000
/** Longest crawl delay between two requests that is honoured, in seconds. */
const maxDelay = 60

export interface Site {
  readonly http: HttpCaller
  readonly allows: (address: string) => boolean
  /** The pages that the site's sitemaps name and `takes` accepts, `most` at most. Fails where no sitemap can be read. */
  readonly pages: (most: number, takes: (address: string) => boolean) => Effect.Effect<SitemapPages, Failure>
}

export interface SitemapPages {
  readonly pages: ReadonlyArray<string>
  /** Sitemaps that could not be read, while others could. */
  readonly failed: ReadonlyArray<readonly [address: string, error: ServiceError]>
  /** The first page that is one too many. */
  readonly left?: string
}

/** A site, crawled as its robots.txt allows. A site whose robots.txt cannot be read now is not crawled. */
export const openSite = Effect.fn("web.openSite")(function*(config: SettingsOf<"web">): Effect.fn.Return<Site, Failure> {
  const { origin } = new URL(config.url)
  const publicOnly = { allowHosts: config.privateHosts }
  const { concurrency, requestsPerSecond } = config
  const first = httpCaller({ publicOnly, retry: { times: 2 } })
  const address = `${origin}/robots.txt`
  // A larger one is ignored: truncated rules would be different rules.
  const rules = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<string, ServiceError> =>
    response.status >= 200 && response.status < 300
      ? Effect.map(collect(bodyOf(address, response, maxRobots)), (bytes) => bytes.toString("utf8"))
      : Effect.as(discard(response), "")
  const text = yield* first.read(address, address, rules, {
    headers: { "accept-encoding": "gzip" },
    accept: (status) => status < 500 && status !== 429
  }).pipe(
    Effect.mapError((error) =>
      error._tag === "ServiceError" && error.code === "PERMISSION_DENIED"
        ? error.with({ fix: "only public addresses are crawled; list a host of your own network in privateHosts" })
        : error
    )
  )
  const robots = parseRobots(address, text)
  const delay = Math.min(maxDelay, robots.getCrawlDelay("sluice") ?? 0)
  const http = httpCaller({
    publicOnly,
    requestsPerSecond: delay === 0 ? requestsPerSecond : Math.min(requestsPerSecond, 1 / delay),
    concurrency,
    retry: { times: 2 }
  })
  const named = typeof config.sitemap === "string" ? [config.sitemap] : robots.getSitemaps()
  return {
    http,
    allows: (page) => robots.isAllowed(page, "sluice") !== false,
    pages: (most, takes) => sitemapPages(http, named.length === 0 ? [`${origin}/sitemap.xml`] : named, most, takes)
  }
})

const sitemapPages = Effect.fn("web.sitemaps")(
  function*(
    http: HttpCaller,
    first: ReadonlyArray<string>,
    most: number,
    takes: (address: string) => boolean
  ): Effect.fn.Return<SitemapPages, Failure> {
    const queue = [...new Set(first)]
    const pages = new Set<string>()
    const failed: Array<readonly [string, ServiceError]> = []
    let left: string | undefined
    for (let at = 0; at < queue.length && left === undefined; at++) {
      const address = queue[at]!
      if (at === maxSitemaps) {
        failed.push([
          address,
          new ServiceError({ code: "OUT_OF_RANGE", message: `${address} and those after it: ${maxSitemaps} sitemaps were read` })
        ])
        break
      }
      const found = yield* http.read(address, address, (response) => collect(bodyOf(address, response, maxSitemap)), {
        headers: { "accept-encoding": "gzip" }
      }).pipe(
        Effect.flatMap((bytes) =>
          Effect.try({
            try: () => locations(bytes),
            catch: () =>
              new ServiceError({
                code: "DATA_LOSS",
                message: `${address} is not a sitemap`,
                fix: "give the address of a sitemap, or leave sitemap out to follow links"
              })
          })
        ),
        Effect.catchTag("ServiceError", (error) => {
          failed.push([address, error])
          return Effect.succeed({ pages: [], sitemaps: [] })
        })
      )
      for (const inner of found.sitemaps) if (!queue.includes(inner)) queue.push(inner)
      for (const page of found.pages) {
        const url = canonical(page)
        if (url === undefined || pages.has(url) || !takes(url)) continue
        if (pages.size < most) pages.add(url)
        else left ??= url
      }
    }
    const [worst] = failed
    return pages.size === 0 && worst !== undefined
      ? yield* worst[1]
      : { pages: [...pages], failed, ...(left === undefined ? {} : { left }) }
  }
)

/** The addresses in a sitemap, or in an index of sitemaps. */
const locations = (bytes: Buffer): { readonly pages: ReadonlyArray<string>; readonly sitemaps: ReadonlyArray<string> } => {
  const xml = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes, { maxOutputLength: maxSitemap }) : bytes
  const pages: Array<string> = []
  const sitemaps: Array<string> = []
  const path: Array<string> = []
  let text = ""
  const parser = new SaxesParser()
  parser.on("error", (error) => {
    throw error
  })
  parser.on("opentag", ({ name }) => {
    path.push(name.replace(/^.*:/, ""))
    text = ""
  })
  parser.on("text", (more) => void (text += more))
  parser.on("cdata", (more) => void (text += more))
  parser.on("closetag", () => {
    const last = path.pop()
    if (last === "loc" && path.at(-1) === "url") pages.push(text.trim())
    if (last === "loc" && path.at(-1) === "sitemap") sitemaps.push(text.trim())
  })
  parser.write(xml.toString("utf8")).close()
  return { pages, sitemaps }
}
