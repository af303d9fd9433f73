// An HTTP app without Effect: answers stream as they are made, and a client that leaves stops the model.
// node examples/http-app.ts, then curl -N "localhost:8787/ask?q=How+many+days+of+leave+carry+over"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { local } from "sluice/connectors"
import { Embedded, open, Pipeline, ServiceError } from "sluice/promise"

const handbook = Pipeline.make("http-app", {
  corpus: { displayName: "HTTP app" },
  sources: { docs: local(`${import.meta.dirname}/handbook`) }
})

const app = await open(handbook, Embedded.layer({ dataDir: ".sluice" }))
await app.run()

const server = createServer(async (request, response) => {
  const question = new URL(request.url ?? "", "http://localhost").searchParams.get("q")
  if (question === null) return void response.writeHead(400).end("ask with ?q=\n")
  const left = new AbortController()
  response.on("close", () => left.abort())
  try {
    for await (const part of app.stream(question, { signal: left.signal })) {
      if (part._tag === "text") response.write(part.text)
      if (part._tag === "done") {
        response.end(`\n\n${part.answer.citations.map(({ index, sourceDisplayName }) => `[${index}] ${sourceDisplayName}\n`).join("")}`)
      }
    }
  } catch (error) {
    if (left.signal.aborted) return
    if (!response.headersSent) response.writeHead(error instanceof ServiceError && error.refused ? 400 : 500)
    response.end("no answer\n")
  }
})

server.listen(Number(process.env["PORT"] ?? 8787), "127.0.0.1", () => console.log(`listening on ${(server.address() as AddressInfo).port}`))
process.once("SIGTERM", () => server.close(() => void app.close()))
