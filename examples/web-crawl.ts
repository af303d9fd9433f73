// A web site as a source, crawled as its robots.txt allows: node examples/web-crawl.ts
import { Console, Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Embedded, Pipeline, runMain } from "sluice"
import { web } from "sluice/connectors"

const page = (title: string, text: string, links = "") =>
  `<html><head><title>${title}</title></head><body><nav><a href="/docs/">Home</a></nav><main><h1>${title}</h1><p>${text}</p>${links}</main></body></html>`

/** A local site for the example. For a site on the Internet, its address is all you need. */
const site: Record<string, string> = {
  "/robots.txt": "User-agent: *\nDisallow: /docs/drafts/\n",
  "/docs/": page(
    "Handbook",
    "Everything that is agreed on.",
    "<a href=\"leave\">Leave</a> <a href=\"travel\">Travel</a> <a href=\"drafts/pay\">Pay</a>"
  ),
  "/docs/leave": page("Leave", "Five unused days of leave carry over into the next year."),
  "/docs/travel": page("Travel", "Managers approve travel that costs more than 500 euros."),
  "/docs/drafts/pay": page("Pay", "Not agreed on yet.")
}
const server = createServer((request, response) => {
  const found = site[request.url ?? ""]
  response.writeHead(found === undefined ? 404 : 200, { "content-type": request.url === "/robots.txt" ? "text/plain" : "text/html" }).end(
    found
  )
})

const program = Effect.gen(function*() {
  yield* Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
  const { port } = server.address() as AddressInfo
  const handbook = Pipeline.make("web-crawl", {
    corpus: { displayName: "Web crawl" },
    // This machine's address is not public, so it has to be allowed.
    sources: { site: web({ url: `http://127.0.0.1:${port}/docs/`, requestsPerSecond: 20, privateHosts: ["127.0.0.1"] }) }
  })
  const { totals } = yield* handbook.run
  yield* Console.log(`${totals.added} pages`)
  const { answer } = yield* handbook.ask("Who approves travel?")
  yield* Console.log(`${answer.text} (${answer.citations[0]?.sourceDisplayName})`)
}).pipe(Effect.ensuring(Effect.sync(() => server.close())))

program.pipe(Effect.provide(Embedded.layer({ dataDir: ".sluice" })), runMain)
