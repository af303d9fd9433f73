import { hash } from "node:crypto"
import { Effect, type Scope } from "effect"
import { type FakeServer, fakeServer } from "./Http.ts"

export interface FakePage {
  readonly body: string
  readonly type?: string
  readonly headers?: Record<string, string>
  readonly status?: number
  /** Sends no ETag. Default false. */
  readonly bare?: boolean
}

/** A web site on loopback: pages by path, with ETags, and 304 for who has them. */
export const fakeSite = (
  pages: Record<string, FakePage | string>
): Effect.Effect<FakeServer & { readonly pages: Record<string, FakePage | string> }, never, Scope.Scope> =>
  Effect.map(
    fakeServer(({ headers, url }, response) => {
      const found = pages[url.pathname]
      if (found === undefined) return void response.writeHead(404).end("nothing here")
      const { bare = false, body, headers: more = {}, status = 200, type = "text/html; charset=utf-8" } = typeof found === "string"
        ? { body: found }
        : found
      const etag = `"${hash("sha256", body).slice(0, 12)}"`
      if (!bare && headers["if-none-match"] === etag) return void response.writeHead(304, { etag }).end()
      response.writeHead(status, { "content-type": type, ...(bare ? {} : { etag }), ...more }).end(body)
    }),
    (server) => ({ ...server, pages })
  )

/** A page as sites have them: navigation around an article. */
export const pageOf = (title: string, text: string, links: ReadonlyArray<string> = []): string =>
  `<!doctype html>
<html lang="en"><head><title>${title}</title></head><body>
<nav><ul><li><a href="/docs/">Home</a></li><li><a href="/login">Sign in</a></li></ul></nav>
<div class="cookie-banner">We use cookies. Accept all?</div>
<main><article><h1>${title}</h1>
<p>${text} ${"This paragraph is here so that the article has the length of one that people write, with commas, and clauses. ".repeat(3)}</p>
<p>${"A second paragraph follows, as it does in most articles, and says some more about the same thing. ".repeat(3)}</p>
${links.map((link) => `<a href="${link}">${link}</a>`).join("\n")}
</article></main>
<footer>Copyright Acme. <a href="https://elsewhere.example/">Partner</a></footer></body></html>`
