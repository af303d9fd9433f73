import { Effect, type Scope } from "effect"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string | Array<string> | undefined>>
  // The body of a request as the test expects it; a test that reads a wrong field fails.
  readonly body: {
    readonly model: string
    readonly input: Array<string>
    readonly dimensions?: number
    readonly messages: Array<{ role: string; content: string; [field: string]: unknown }>
    readonly stream?: boolean
    readonly [field: string]: unknown
  }
  /** The client went away before the answer was complete. */
  aborted: boolean
}

export interface Fake {
  /** `http://127.0.0.1:PORT/v1` */
  readonly baseUrl: string
  readonly received: Array<Received>
  /** Most requests that were open at once. */
  readonly mostOpen: () => number
}

/** A loopback service that answers each request as the script says, given how many came before. */
export const fakeOpenAi = (
  script: (request: Received, response: ServerResponse, count: number) => void | Promise<void>
): Effect.Effect<Fake, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const received: Array<Received> = []
      let open = 0
      let mostOpen = 0
      const server = createServer((request, response) => {
        const parts: Array<Buffer> = []
        request.on("data", (part: Buffer) => parts.push(part))
        request.on("end", () => {
          const text = Buffer.concat(parts).toString()
          const entry: Received = {
            path: request.url ?? "",
            headers: request.headers,
            body: text === "" ? {} : JSON.parse(text),
            aborted: false
          }
          const count = received.push(entry) - 1
          mostOpen = Math.max(mostOpen, ++open)
          response.on("close", () => {
            open--
            entry.aborted = !response.writableFinished
          })
          void script(entry, response, count)
        })
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const { port } = server.address() as AddressInfo // listen() on a port gives an AddressInfo
      return { server, fake: { baseUrl: `http://127.0.0.1:${port}/v1`, received, mostOpen: () => mostOpen } }
    }),
    ({ server }) =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise((resolve) => server.close(resolve))
      })
  ).pipe(Effect.map(({ fake }) => fake))

export const sendJson = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
}

/** Embeddings answer with one vector a text, `of` the text. */
export const sendEmbeddings = (request: Received, response: ServerResponse, of: (text: string) => ReadonlyArray<number>): void =>
  sendJson(response, 200, {
    object: "list",
    data: request.body.input.map((text, index) => ({ object: "embedding", index, embedding: of(text) })),
    model: request.body.model,
    usage: { prompt_tokens: 1, total_tokens: 1 }
  })

/** A streamed chat answer of these pieces, with usage, complete. */
export const sendChat = (response: ServerResponse, pieces: ReadonlyArray<string>): void => {
  startChat(response, pieces)
  response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\n`)
  response.write(`data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 } })}\n\n`)
  response.end("data: [DONE]\n\n")
}

/** These chunks to the letter, and the end mark. */
export const sendChunks = (response: ServerResponse, chunks: ReadonlyArray<object>): void => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  response.end("data: [DONE]\n\n")
}

/** One chunk of one candidate. */
export const delta = (delta: object, more: object = {}): object => ({ choices: [{ index: 0, delta, finish_reason: null, ...more }] })

/** The pieces, and no end. */
export const startChat = (response: ServerResponse, pieces: ReadonlyArray<string>): void => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.write(": a comment\nretry: 1000\n\n")
  for (const content of pieces) {
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`)
  }
}
