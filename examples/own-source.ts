// A custom source, written with the kit: it reads the pages of an HTTP API. node examples/own-source.ts
import { Console, Effect, Schema } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Embedded, Pipeline, runMain } from "sluice"
import { defineConnector, httpCaller, HttpUrl, paged } from "sluice/connector-kit"

const Page = Schema.Struct({
  notes: Schema.Array(Schema.Struct({ id: Schema.String, changed: Schema.String })),
  next: Schema.optionalKey(Schema.Int)
})

const notes = defineConnector({
  kind: "notes",
  description: "Notes of a server.",
  fields: { url: HttpUrl.annotate({ description: "The server." }) },
  shorthand: "url",
  connect: ({ url }, { http }) => {
    const server = httpCaller({ http, baseUrl: url, requestsPerSecond: 20 })
    const page = (number: number) => server.json(`the notes of ${url}`, `/notes?page=${number}`, Page)
    return Effect.succeed({
      kind: "notes",
      check: Effect.asVoid(page(1)),
      list: (cursor) =>
        paged({
          cursor,
          of: url,
          position: Schema.Struct({ page: Schema.Int }),
          first: { page: 1 },
          page: (at) =>
            Effect.map(page(at.page), ({ next, notes }) => ({
              listed: notes.map(({ changed, id }) => ({
                _tag: "item",
                item: { path: `${id}.md`, uri: `${url}/notes/${id}`, displayName: `${id}.md`, revision: changed }
              })),
              next: next === undefined ? undefined : { page: next }
            }))
        }),
      read: (item, maxBytes) => server.download(item.path, item.uri, maxBytes)
    })
  }
})

/** Texts of the server to read from. Replace the server by your own. */
const texts = ["Five unused days of leave carry over.", "Managers approve travel.", "The VPN needs a key."]
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost")
  const number = Number(searchParams.get("page"))
  const more = number < texts.length ? { next: number + 1 } : {}
  if (pathname === "/notes") response.end(JSON.stringify({ notes: [{ id: String(number), changed: "2026-01-01" }], ...more }))
  else response.end(`# Note\n\n${texts[Number(pathname.split("/").at(-1)) - 1]}\n`)
})

const program = Effect.gen(function*() {
  yield* Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
  const { port } = server.address() as AddressInfo
  const handbook = Pipeline.make("own-source", { corpus: { displayName: "Notes" }, sources: { notes: notes(`http://127.0.0.1:${port}`) } })
  const { totals } = yield* handbook.run
  yield* Console.log(`${totals.added} notes`)
  const { answer } = yield* handbook.ask("Who approves travel?")
  yield* Console.log(answer.text)
}).pipe(Effect.ensuring(Effect.sync(() => server.close())))

program.pipe(Effect.provide(Embedded.layer({ dataDir: ".sluice" })), runMain)
