import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema, Stream } from "effect"
import { gzipSync } from "node:zlib"
import { web as connectWeb } from "../../connectors/web/Web.ts"
import { connectorSuite, faultsOf, type TestRequest } from "../../src/ConnectorKit.ts"
import { builtInSources } from "../../src/domain/sources/BuiltInSources.ts"
import type { Connector, Listed } from "../../src/ports/Connector.ts"
import { fakeServer } from "../fakes/Http.ts"
import { fakeSite, pageOf } from "../fakes/Site.ts"
import { settingsOf, type Written } from "../support/Settings.ts"

const quick = { requestsPerSecond: 100, concurrency: 4, privateHosts: ["127.0.0.1"] }
const events = (connector: Connector, cursor?: string) => Stream.runCollect(connector.list(cursor))
const summary = (listed: ReadonlyArray<Listed>): ReadonlyArray<string> =>
  listed.flatMap((event) =>
    event._tag === "item" ?
      [`+ ${event.item.path}`]
      : event._tag === "deleted" ?
      [`- ${event.path}`]
      : event._tag === "skipped" ?
      [`! ${event.path} ${event.reason}`]
      : event._tag === "failed" ?
      [`? ${event.path} ${event.error.code}`]
      : []
  ).toSorted()
const cursorOf = (listed: ReadonlyArray<Listed>): string => {
  const last = listed.at(-1)
  assert.strictEqual(last?._tag, "complete")
  return last?._tag === "complete" ? last.cursor ?? "" : ""
}
const text = (connector: Connector, listed: ReadonlyArray<Listed>, path: string) => {
  const found = listed.find((event) => event._tag === "item" && event.item.path === path)
  assert.strictEqual(found?._tag, "item", path)
  return found?._tag === "item" ? connector.read(found.item, 1_000_000).pipe(Stream.decodeText(), Stream.mkString) : Effect.succeed("")
}
const web = (written: Written<"web">, context = {}) => connectWeb(settingsOf("web", written), context)
const site = (pages: Parameters<typeof fakeSite>[0], config: Partial<Written<"web">> = {}) =>
  Effect.map(
    fakeSite(pages),
    (server) => ({ server, pages: server.pages, connector: web({ url: `${server.origin}/docs/`, ...quick, ...config }, {}) })
  )

/** A page is fetched to be listed, and again to be read. */
const isPage = ({ url }: TestRequest): boolean => url.pathname !== "/robots.txt"

connectorSuite(
  "web",
  Effect.gen(function*() {
    const numbers = Array.from({ length: 25 }, (_, n) => n)
    const { connector, pages, server } = yield* site({
      "/docs/": pageOf("Docs", "Where it begins.", numbers.map((n) => `page-${n}`)),
      ...Object.fromEntries(numbers.map((n) => [`/docs/page-${n}`, pageOf(`Page ${n}`, `The text of page ${n}.`)]))
    })
    return {
      connector,
      sample: "docs/page-7",
      edit: Effect.sync(() => void (pages["/docs/page-7"] = pageOf("Page 7", "It says something else now."))),
      remove: Effect.sync(() => void delete pages["/docs/page-7"]),
      rename: Effect.sync(() => {
        pages["/docs/"] = pageOf("Docs", "Where it begins.", [...numbers.filter((n) => n !== 7).map((n) => `page-${n}`), "page-seven"])
        pages["/docs/page-seven"] = pages["/docs/page-7"]!
        delete pages["/docs/page-7"]
        return "docs/page-seven"
      }),
      fault: faultsOf(server, { list: isPage, read: isPage, type: "text/html" }),
      secrets: ["abcdef123456"]
    }
  }),
  { describe, it }
)

describe("web", () => {
  it.live("keeps to its folder, robots.txt and the pages' own word, and takes their main content", () =>
    Effect.gen(function*() {
      const { connector, pages, server } = yield* site({
        "/robots.txt": { body: "User-agent: *\nDisallow: /docs/private/\n", type: "text/plain" },
        "/docs/": pageOf("Docs", "Where it begins.", [
          "leave",
          "leave#top",
          "leave?utm_source=mail",
          "/blog/",
          "private/x",
          "hidden",
          "old",
          "guide.pdf",
          "logo.png",
          "copy",
          "gone",
          "draft/a",
          "deep/index.html"
        ]),
        "/docs/leave": pageOf("Leave", "Five days carry over."),
        "/docs/hidden": { body: pageOf("Hidden", "Not for search.", ["found-behind"]), headers: { "x-robots-tag": "noindex" } },
        "/docs/found-behind": pageOf("Behind", "Linked by a page that is not listed."),
        "/docs/old": { body: "", status: 301, headers: { location: "/docs/leave" } },
        "/docs/copy": pageOf("Copy", "Five days carry over.").replace("</head>", "<link rel=\"canonical\" href=\"/docs/leave\"></head>"),
        "/docs/guide.pdf": { body: "%PDF-1.4 not really", type: "application/pdf" },
        "/docs/draft/a": pageOf("Draft", "Not yet."),
        "/docs/deep/": pageOf("Deep", "A folder's page."),
        "/docs/private/x": pageOf("Private", "Keep out."),
        "/blog/": pageOf("Blog", "Elsewhere.")
      }, { exclude: ["docs/draft/**"] })
      yield* connector.check
      const listed = yield* events(connector)
      assert.deepStrictEqual(summary(listed), [
        "! docs/copy special",
        "! docs/hidden special",
        "+ docs/deep/index.html",
        "+ docs/found-behind",
        "+ docs/guide.pdf",
        "+ docs/index.html",
        "+ docs/leave"
      ])
      const asked = server.asked.map(({ url }) => url.pathname)
      for (const never of ["/blog/", "/login", "/docs/private/x", "/docs/logo.png", "/docs/draft/a"]) assert.notInclude(asked, never)
      const leave = yield* text(connector, listed, "docs/leave")
      assert.match(leave, /^# Leave\n\nFive days carry over\./)
      assert.notMatch(leave, /cookies|Sign in|Copyright/)
      assert.strictEqual(yield* text(connector, listed, "docs/guide.pdf"), "%PDF-1.4 not really")
      // The next listing asks only for what changed, and follows what is new.
      const before = server.asked.length
      pages["/docs/leave"] = pageOf("Leave", "Six days carry over.", ["news"])
      pages["/docs/news"] = pageOf("News", "Something new.")
      delete pages["/docs/deep/"]
      assert.deepStrictEqual(summary(yield* events(connector, cursorOf(listed))), ["+ docs/leave", "+ docs/news", "- docs/deep/index.html"])
      assert.isTrue(
        server.asked.slice(before).filter(({ url }) => url.pathname === "/docs/guide.pdf").every(({ headers }) =>
          headers["if-none-match"] !== undefined
        )
      )
    }).pipe(Effect.scoped))

  it.live("takes the pages of sitemaps, indexes and zipped ones among them, and lets go of what they drop", () =>
    Effect.gen(function*() {
      const { connector, pages, server } = yield* site({
        "/docs/a": pageOf("A", "First.", ["c"]),
        "/docs/b": { body: pageOf("B", "Second."), bare: true },
        "/docs/c": pageOf("C", "Linked only.")
      }, { sitemap: true })
      const locations = (tag: string, inner: ReadonlyArray<string>) =>
        `<?xml version="1.0"?><${tag}index xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${
          inner.map((loc) => `<${tag}><loc>${server.origin}${loc}</loc></${tag}>`).join("")
        }</${tag}index>`
      const sitemap = (urls: ReadonlyArray<string>) => ({
        body: locations("url", urls).replaceAll("urlindex", "urlset"),
        type: "application/xml"
      })
      pages["/robots.txt"] = { body: `Sitemap: ${server.origin}/index.xml`, type: "text/plain" }
      pages["/index.xml"] = { body: locations("sitemap", ["/one.xml", "/two.xml"]), type: "application/xml" }
      pages["/one.xml"] = sitemap(["/docs/a", "/blog/x"])
      pages["/two.xml"] = sitemap(["/docs/b"])
      const first = yield* events(connector)
      assert.deepStrictEqual(summary(first), ["+ docs/a", "+ docs/b"])
      // A sitemap that cannot be read costs no page of another, and nothing is gone on its word.
      delete pages["/two.xml"]
      const torn = yield* events(connector, cursorOf(first))
      assert.deepStrictEqual([summary(torn), torn.at(-1)?._tag === "complete"], [["? two.xml NOT_FOUND"], false])
      assert.deepStrictEqual(summary(yield* events(connector)), ["+ docs/a", "? two.xml NOT_FOUND"])
      pages["/two.xml"] = sitemap([])
      assert.deepStrictEqual(summary(yield* events(connector, cursorOf(first))), ["- docs/b"])
      const zipped = yield* fakeServer((_, response) => void response.writeHead(200).end(gzipSync(sitemap(["/docs/c"]).body)))
      const other = web({ url: `${server.origin}/docs/`, sitemap: `${zipped.origin}/s.xml.gz`, ...quick }, {})
      assert.deepStrictEqual(summary(yield* events(other)), ["+ docs/c"])
    }).pipe(Effect.scoped))

  it.live("follows pages that move within the source, from sitemaps too, and names those that lead out of it", () =>
    Effect.gen(function*() {
      const named = (path: string) => `<link rel="canonical" href="${path}"></head>`
      const { connector, pages, server } = yield* site({
        "/docs/": pageOf("Docs", "Here."),
        "/docs/a": { body: "", status: 301, headers: { location: "/docs/a/" } },
        "/docs/a/": pageOf("A", "First."),
        "/docs/b": pageOf("B", "Second.").replace("</head>", named("/docs/b/")),
        "/docs/b/": pageOf("B", "Second.").replace("</head>", named("/docs/b/")),
        "/docs/round": pageOf("Round", "And back.").replace("</head>", named("/docs/trip")),
        "/docs/trip": pageOf("Trip", "And back.").replace("</head>", named("/docs/round")),
        "/docs/hub": { body: pageOf("Hub", "Links.", ["hub2"]), headers: { "x-robots-tag": "noindex" } },
        "/docs/hub2": { body: pageOf("Hub", "Links.", ["hub"]), headers: { "x-robots-tag": "noindex" } },
        "/docs/out": { body: "", status: 302, headers: { location: "/login?token=secret" } },
        "/login": pageOf("Login", "Who are you?")
      }, { sitemap: true, maxPages: 7 })
      const urlset = (paths: ReadonlyArray<string>) => ({
        body: `<urlset>${paths.map((path) => `<url><loc>${server.origin}${path}</loc></url>`).join("")}</urlset>`,
        type: "application/xml"
      })
      // Pages outside the source do not count towards maxPages.
      const blog = Array.from({ length: 20 }, (_, n) => `/blog/${n}`)
      pages["/sitemap.xml"] = urlset([...blog, ...["", "a", "b", "round", "hub", "out"].map((name) => `/docs/${name}`)])
      const first = yield* events(connector)
      assert.deepStrictEqual(summary(first), [
        "! docs/b special",
        "! docs/hub special",
        "! docs/out special",
        "! docs/round special",
        "! docs/trip special",
        "+ docs/a/index.html",
        "+ docs/b/index.html",
        "+ docs/index.html"
      ])
      assert.notInclude(JSON.stringify(first), "secret")
      // What a page of the sitemap leads to stays with the next listing, and is read no second time.
      assert.deepStrictEqual(summary(yield* events(connector, cursorOf(first))).filter((line) => !line.startsWith("!")), [])
      pages["/sitemap.xml"] = urlset(["", "b", "1", "2", "3", "4", "5", "6"].map((name) => `/docs/${name}`))
      assert.deepStrictEqual(summary(yield* events(connector, cursorOf(first))), [
        "! docs/6 limit",
        "! docs/b special",
        "- docs/a/index.html"
      ])
      // Pages that are not part of the source are requested once, whatever links to them.
      pages["/docs/"] = pageOf("Docs", "Here.", ["a", "round", "hub"])
      const asked = server.asked.length
      const crawled = yield* events(web({ url: `${server.origin}/docs/`, ...quick }, {}))
      assert.deepStrictEqual(summary(crawled).filter((line) => line.startsWith("+")), ["+ docs/a/index.html", "+ docs/index.html"])
      const again = server.asked.slice(asked).map(({ url }) => url.pathname)
      // /docs/a/ is the end of a redirect as well as a page.
      assert.deepStrictEqual(again.filter((path, at) => again.indexOf(path) !== at), ["/docs/a/"])
    }).pipe(Effect.scoped))

  it.live("ends where every page names yet another as its own", () =>
    Effect.gen(function*() {
      const { connector, server } = yield* site({ "/docs/": pageOf("Docs", "Here.", ["1"]) }, { maxPages: 4 })
      server.fault(99, ({ url }) => /\d$/.test(url.pathname), (response, { url }) => {
        const next = `<link rel="canonical" href="/docs/${Number(url.pathname.slice(6)) + 1}"></head>`
        response.writeHead(200, { "content-type": "text/html" }).end(pageOf("Trap", "More.").replace("</head>", next))
      })
      const listed = summary(yield* events(connector))
      assert.deepStrictEqual(listed.filter((line) => line.endsWith("limit")), ["! docs/13 limit"])
      assert.include(listed, "+ docs/index.html")
    }).pipe(Effect.scoped))

  it.live("does not take a first page that leads elsewhere for an empty site", () =>
    Effect.gen(function*() {
      const { connector, pages } = yield* site({ "/docs/": pageOf("Docs", "Here."), "/new/": pageOf("New", "Here.") })
      const cursor = cursorOf(yield* events(connector))
      pages["/docs/"] = { body: "", status: 301, headers: { location: "/new/" } }
      for (const failing of [events(connector), events(connector, cursor), connector.check]) {
        const error = yield* Effect.flip<unknown, unknown, never>(failing)
        assert.deepInclude(error, { code: "FAILED_PRECONDITION", fix: "give the address that it redirects to as the source's url" })
      }
    }).pipe(Effect.scoped))

  it.live("reaches no private address that it was not given, by a redirect neither", () =>
    Effect.gen(function*() {
      const { connector, server } = yield* site({ "/docs/": pageOf("Docs", "Here.", ["meta"]) })
      const closed = web({ url: `${server.origin}/docs/`, ...quick, privateHosts: [] }, {})
      const refused = yield* Effect.flip(closed.check)
      assert.deepInclude(refused, { code: "PERMISSION_DENIED" })
      assert.strictEqual(server.asked.length, 0)
      server.fault(9, ({ url }) =>
        url.pathname === "/docs/meta", (response) =>
        void response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data/" }).end())
      assert.deepStrictEqual(summary(yield* events(connector)), ["! docs/meta special", "+ docs/index.html"])
    }).pipe(Effect.scoped))

  it.live("a page that fails costs that page; what it links is not taken for gone; robots.txt that fails stops the crawl", () =>
    Effect.gen(function*() {
      const { connector, server } = yield* site({
        "/docs/": pageOf("Docs", "Here.", ["a", "b"]),
        "/docs/a": pageOf("A", "First."),
        "/docs/b": pageOf("B", "Second.")
      })
      const cursor = cursorOf(yield* events(connector))
      server.fault(1, ({ url }) => url.pathname === "/docs/a", (response) => void response.writeHead(501).end())
      const whole = yield* events(connector)
      assert.deepStrictEqual(summary(whole).filter((line) => line.startsWith("?")).length, 1)
      assert.notStrictEqual(whole.at(-1)?._tag, "complete")
      server.fault(1, ({ url }) => url.pathname === "/docs/a", (response) => void response.writeHead(501).end())
      // It was known, and so are the pages that it links.
      const changes = yield* events(connector, cursor)
      assert.deepStrictEqual(summary(changes).map((line) => line.slice(0, 8)), ["? docs/a"])
      assert.strictEqual(changes.at(-1)?._tag, "complete")
      server.fault(9, ({ url }) => url.pathname === "/robots.txt", (response) => void response.writeHead(500).end())
      const asked = server.asked.length
      assert.strictEqual((yield* Effect.flip(events(connector)))._tag, "ServiceError")
      assert.isTrue(server.asked.slice(asked).every(({ url }) => url.pathname === "/robots.txt"))
    }).pipe(Effect.scoped))

  it.live("holds to maxPages and maxDepth, and says where it stopped", () =>
    Effect.gen(function*() {
      const chain = Object.fromEntries(
        Array.from({ length: 8 }, (_, n) => [`/docs/${n === 0 ? "" : n}`, pageOf(`Page ${n}`, "Text.", [`${n + 1}`])])
      )
      const { connector } = yield* site(chain, { maxDepth: 2 })
      assert.deepStrictEqual(summary(yield* events(connector)), ["+ docs/1", "+ docs/2", "+ docs/index.html"])
      const some = yield* site(chain, { maxPages: 3 })
      assert.deepStrictEqual(summary(yield* events(some.connector)), ["! docs/3 limit", "+ docs/1", "+ docs/2", "+ docs/index.html"])
    }).pipe(Effect.scoped))

  it("refuses settings that are none", () => {
    const decode = Schema.decodeUnknownResult(builtInSources.web)
    assert.isTrue(Result.isSuccess(decode({ url: "https://docs.acme.com/", sitemap: true, include: ["docs/**"] })))
    for (
      const bad of [{}, { url: "ftp://a.com/" }, { url: "https://me:pw@a.com/" }, { url: "https://a.com/", maxPages: 0 }, {
        url: "https://a.com/",
        requestsPerSecond: 0
      }]
    ) {
      assert.isTrue(Result.isFailure(decode(bad)), JSON.stringify(bad))
    }
  })
})
