import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { Context, Effect, Layer, type Scope } from "effect"
import { CorpusName } from "../../src/domain/Corpus.ts"
import type { ServiceError, StateError } from "../../src/domain/Errors.ts"
import { layer as embedded } from "../../src/engines/embedded/Embedded.ts"
import * as HostedRetrieval from "../../src/engines/vertex/HostedRetrieval.ts"
import * as Transport from "../../src/engines/vertex/Transport.ts"
import { HashEmbedder } from "../../src/models/HashEmbedder.ts"
import { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import * as Http from "../../src/net/Http.ts"
import { Corpora } from "../../src/ports/Corpora.ts"
import { Retrieval } from "../../src/ports/Retrieval.ts"
import * as QuotaBuckets from "../../src/state/QuotaBuckets.ts"
import { State } from "../../src/state/State.ts"
import { TextPool } from "../../src/text/TextPool.ts"
import type { RetrieveContextsResponse } from "../../src/wire/messages/Retrieval.ts"
import { lastSegment, retrieveRequestToWire } from "../../src/wire/rag/Retrievals.ts"
import { encodeRequest, path, routes } from "../../src/wire/Routes.ts"

/** Returns the texts of the contexts for a question, best first. */
export type Retrieve = (query: string) => Promise<ReadonlyArray<string>>

const location = "us-central1"
const corpusOf = (project: string, corpusId: string): CorpusName =>
  CorpusName.make(`projects/${project}/locations/${location}/ragCorpora/${corpusId}`)

/** Calls the port directly, in this process, on the only corpus of a data directory. */
export const port = (
  dataDir: string
): Effect.Effect<{ readonly retrieve: Retrieve; readonly corpusId: string }, ServiceError | StateError, Scope.Scope> =>
  Effect.gen(function*() {
    const engine = yield* Layer.build(embedded({ dataDir }).pipe(Layer.provide([HashEmbedder, TextPool.layerInline()])))
    const [corpus] = (yield* Context.get(engine, Corpora).list({})).items
    if (corpus === undefined) return yield* Effect.die(new Error(`${dataDir} holds no corpus`))
    return { retrieve: through(Context.get(engine, Retrieval), corpus.name), corpusId: lastSegment(corpus.name) }
  })

/** Retrievals per minute that the service allows a project. */
const projectAllowance = 1_500

/**
 * The hosted engine's client as a pipeline uses it, with its quotas in a state database. It rotates through projects, because the
 * client would wait for the next minute when the quota of a project is used up. The server accepts any project.
 */
export const hostedClient = (
  url: string,
  { connections, corpusId, dataDir }: { readonly connections: number; readonly corpusId: string; readonly dataDir: string }
): Effect.Effect<Retrieve, StateError, Scope.Scope> =>
  Effect.gen(function*() {
    const shared = yield* Layer.build(Layer.mergeAll(
      Http.layer({ connections }),
      GoogleAuth.layerAnonymous,
      QuotaBuckets.layer.pipe(Layer.provide(State.layer(dataDir)))
    ))
    const scope = yield* Effect.scope
    const clientOf = (project: string): Promise<Retrieve> =>
      Layer.buildWithScope(
        HostedRetrieval.layer.pipe(Layer.provide(Transport.layer({ project, location, baseUrl: url }))),
        scope
      ).pipe(
        Effect.map((client) => through(Context.get(client, Retrieval), corpusOf(project, corpusId))),
        Effect.provide(shared),
        Effect.runPromise
      )
    let asked = 0
    let client = clientOf("bench-0")
    return async (query) => {
      if (++asked % projectAllowance === 0) client = clientOf(`bench-${asked / projectAllowance}`)
      return (await client)(query)
    }
  })

/**
 * Sends the requests over plain sockets, encoded beforehand except for the question: the caller shares the processors with the
 * server, and this is the least that any client needs. Returns the body of a response.
 */
export const bareSockets = (
  url: string,
  { connections, corpusId }: { readonly connections: number; readonly corpusId: string }
): Effect.Effect<(query: string) => Promise<string>, ServiceError, Scope.Scope> =>
  Effect.gen(function*() {
    const { host, hostname, port } = new URL(url)
    const all = Array.from({ length: connections }, () => new Connection(hostname, Number(port)))
    yield* Effect.addFinalizer(() => Effect.sync(() => all.forEach((connection) => connection.close())))
    const idle = [...all]
    const route = routes.retrieveContexts
    const to = yield* Effect.fromResult(path(route, Transport.version, { parent: `projects/bench/locations/${location}` }))
    const question = "?"
    const request = yield* Effect.fromResult(retrieveRequestToWire({ corpus: corpusOf("bench", corpusId), query: question }))
    const encoded = JSON.stringify(yield* Effect.fromResult(encodeRequest(route, Transport.version, request)))
    const [before = "", after = ""] = encoded.split(JSON.stringify(question))
    const head = `POST ${to} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\naccept: application/json\r\ncontent-length: `
    return async (query) => {
      const connection = idle.pop()
      if (connection === undefined) throw new Error(`more than ${connections} requests at once`)
      const body = `${before}${JSON.stringify(query)}${after}`
      const answer = await connection.ask(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`)
      idle.push(connection)
      return answer
    }
  })

/** A connection that sends one request after the other. Responses have a Content-Length. */
class Connection {
  readonly #host: string
  readonly #port: number
  #socket: Socket | undefined
  #parts: Array<Buffer> = []
  #received = 0
  /** Bytes of the response including its head, known once the head has arrived. */
  #whole: number | undefined
  #asked: { readonly answered: (answer: Buffer) => void; readonly failed: (cause: Error) => void } | undefined

  constructor(host: string, port: number) {
    this.#host = host
    this.#port = port
  }

  /** Sends a request, and returns the response. @throws for a status other than 200 */
  async ask(request: string): Promise<string> {
    const kept = this.#socket
    const answer = await this.#exchange(kept ?? await this.#open(), request).catch(async (cause: Error) => {
      // A server closes connections that were idle for long, even while a request is on its way.
      if (kept === undefined || this.#received > 0) throw cause
      this.#drop(kept)
      return this.#exchange(await this.#open(), request)
    })
    const start = answer.indexOf("\r\n\r\n") + 4
    const head = answer.toString("latin1", 0, start)
    if (/\r\nconnection: close\r\n/i.test(head) && this.#socket !== undefined) this.#drop(this.#socket)
    const body = answer.toString("utf8", start)
    const status = head.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length)
    if (status !== "200") throw new Error(`the server answered ${status}: ${body}`)
    return body
  }

  close(): void {
    this.#socket?.destroy()
  }

  #exchange(socket: Socket, request: string): Promise<Buffer> {
    return new Promise((answered, failed) => {
      this.#asked = { answered, failed }
      socket.write(request)
    })
  }

  async #open(): Promise<Socket> {
    const socket = connect(this.#port, this.#host)
    await once(socket, "connect")
    socket.setNoDelay(true)
    socket.on("data", (part: Buffer) => this.#take(part))
    socket.on("error", (cause) => {
      if (this.#socket === socket) this.#asked?.failed(cause)
    })
    socket.on("close", () => {
      if (this.#socket !== socket) return
      this.#socket = undefined
      this.#asked?.failed(new Error("the server closed the connection"))
    })
    this.#socket = socket
    return socket
  }

  #drop(socket: Socket): void {
    this.#socket = undefined
    socket.destroy()
  }

  #take(part: Buffer): void {
    this.#parts.push(part)
    this.#received += part.length
    this.#whole ??= lengthOf(this.#parts.length === 1 ? part : Buffer.concat(this.#parts))
    if (this.#whole === undefined || this.#received < this.#whole) return
    const answer = Buffer.concat(this.#parts)
    this.#parts = []
    this.#received = 0
    this.#whole = undefined
    this.#asked?.answered(answer)
    this.#asked = undefined
  }
}

/** Bytes of a response including its head; undefined until the head is complete. Without a Content-Length the head is all. */
const lengthOf = (begun: Buffer): number | undefined => {
  const end = begun.indexOf("\r\n\r\n")
  if (end === -1) return undefined
  return end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(begun.toString("latin1", 0, end))?.[1] ?? 0)
}

export const textsOf = (answer: string): ReadonlyArray<string> => {
  const { contexts }: RetrieveContextsResponse = JSON.parse(answer) // `agree` checks that it has this form
  return (contexts?.contexts ?? []).map(({ text = "" }) => text)
}

/**
 * Checks that all callers return the same contexts, and at least one. The order may differ: the API orders them by distance.
 * @throws where they differ
 */
export const agree = async (retrieves: ReadonlyArray<Retrieve>, queries: ReadonlyArray<string>): Promise<void> => {
  for (const query of queries) {
    const answers = new Set(await Promise.all(retrieves.map(async (retrieve) => JSON.stringify((await retrieve(query)).toSorted()))))
    if (answers.size !== 1 || answers.has("[]")) throw new Error(`not the same contexts from all, or none at all: ${query}`)
  }
}

const through = (retrieval: Retrieval["Service"], corpus: CorpusName): Retrieve => async (query) =>
  (await Effect.runPromise(retrieval.retrieve({ corpus, query }))).map(({ text }) => text)
