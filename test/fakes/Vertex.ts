import { Effect, type Scope } from "effect"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A request as it came, and what a script may do with it. */
export interface Call {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly response: ServerResponse
  /** How many requests came before. */
  readonly count: number
}

/** What a fault does to a request: `drop` breaks the connection, and the service never acts; `lose` after it acted. */
export type Fault =
  | "drop"
  | "lose"
  | { readonly status: number; readonly error?: object; readonly headers?: Record<string, string> }
  | "cut"
  | "garbage"

interface StoredFile {
  readonly name: string
  readonly displayName: string
  readonly description?: string
  readonly content: string
}

/** As the client sends it; a test that reads a wrong field fails. */
interface Metadata {
  readonly ragFile: { readonly displayName: string; readonly description?: string }
}

interface StoredOperation {
  readonly name: string
  readonly kind: string
  readonly createTime: string
  polls: number
  readonly metadata: object
  readonly response: object
}

const parent = "projects/p1/locations/us-central1"
const types = "type.googleapis.com/google.cloud.aiplatform.v1beta1."

/**
 * The part of the service that the client talks to, in memory, on loopback. Strict about what it takes: an unknown
 * path is a 404, a body that is not JSON a 400. `fault` may spoil any request.
 */
export class FakeVertex {
  baseUrl = ""
  readonly calls: Array<Pick<Call, "method" | "path" | "headers"> & { readonly body: string }> = []
  readonly corpora = new Map<string, Record<string, unknown>>()
  readonly files = new Map<string, StoredFile>()
  readonly operations = new Map<string, StoredOperation>()
  /** What to do to a request; undefined: nothing. */
  fault: (call: Call) => Fault | undefined = () => undefined
  /** Answers in the place of the service, where it returns true. */
  handle: (call: Call) => boolean = () => false
  /** How often an operation is looked at before it is done. */
  slowness = 0
  /** A token that is refused. */
  stale: string | undefined
  readonly #sessions = new Map<string, { readonly metadata: Metadata; readonly parent: string; received: Buffer }>()
  #next = 1

  answer(call: Call): void {
    this.calls.push({ method: call.method, path: call.path, headers: call.headers, body: call.body.toString("utf8") })
    if (this.stale !== undefined && call.headers.authorization === `Bearer ${this.stale}`) {
      return this.#fail(call.response, 401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
    }
    const fault = this.fault(call)
    if (fault === "drop") return void call.response.destroy()
    if (typeof fault === "object") {
      call.response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers })
      return void call.response.end(JSON.stringify({ error: { code: fault.status, message: "scripted", ...fault.error } }))
    }
    if (this.handle(call)) return
    const reply = this.act(call)
    if (fault === "lose") return void call.response.destroy()
    const text = fault === "garbage" ? "<html>oops</html>" : JSON.stringify(reply.body)
    call.response.writeHead(reply.status, { "content-type": "application/json; charset=utf-8", ...reply.headers })
    call.response.end(fault === "cut" ? text.slice(0, text.length / 2) : text)
  }

  /** Does what the request asks. */
  act(call: Call): { status: number; body: object; headers?: Record<string, string> } {
    const [raw = "", query = ""] = call.path.split("?")
    const path = decodeURIComponent(raw)
    const ok = (body: object, headers?: Record<string, string>) => ({ status: 200, body, ...(headers === undefined ? {} : { headers }) })
    const missing = (what: string) => ({
      status: 404,
      body: { error: { code: 404, message: `${what} is not found.`, status: "NOT_FOUND" } }
    })
    const parameters = new URLSearchParams(query)
    const key = `${call.method} ${path.replace(/^\/v1beta1\//, "/")}`
    const corpora = `/${parent}/ragCorpora`

    if (path.startsWith("/upload/")) return this.#upload(call, path)
    if (key === `POST ${corpora}`) {
      const id = this.#next++
      const name = `${parent}/ragCorpora/${id}`
      const corpus = {
        ...JSON.parse(call.body.toString()),
        name,
        createTime: new Date().toISOString(),
        updateTime: new Date().toISOString(),
        corpusStatus: { state: "ACTIVE" }
      }
      this.corpora.set(name, corpus)
      return ok(this.#start(name, "CreateRagCorpusOperationMetadata", { "@type": `${types}RagCorpus`, ...corpus }))
    }
    if (key === `GET ${corpora}`) return ok(page("ragCorpora", [...this.corpora.values()], parameters))
    if (key === `GET /${parent}/operations`) {
      return ok(page("operations", [...this.operations.values()].map((operation) => this.#shown(operation)), parameters))
    }
    const operation = /^(GET|POST|DELETE) \/(.+\/operations\/[^/:]+)(:cancel)?$/.exec(key)
    if (operation !== null) {
      const found = this.operations.get(operation[2] ?? "")
      if (found === undefined) return missing("The operation")
      if (operation[1] === "DELETE") this.operations.delete(found.name)
      if (operation[1] !== "GET") return ok({})
      found.polls++
      return ok(this.#shown(found))
    }
    const imported = /^POST \/(.+\/ragCorpora\/\d+)\/ragFiles:import$/.exec(key)
    if (imported !== null) {
      return ok(
        this.#start(imported[1] ?? "", "ImportRagFilesOperationMetadata", {
          "@type": `${types}ImportRagFilesResponse`,
          importedRagFilesCount: "1"
        }, JSON.parse(call.body.toString()))
      )
    }
    if (key === `POST /${parent}:retrieveContexts`) {
      return ok({
        contexts: {
          contexts: [...this.files.values()].map((file, i) => ({
            sourceUri: file.displayName,
            sourceDisplayName: file.displayName,
            text: file.content,
            score: 0.25 + i / 10,
            chunk: { text: file.content, fileId: file.name.split("/").at(-1), chunkId: "c1" }
          }))
        }
      })
    }
    const resource = /^(GET|PATCH|DELETE) \/(.+\/ragCorpora\/\d+)(\/ragFiles(?:\/\d+)?)?$/.exec(key)
    if (resource !== null) return this.#resource(resource[1] ?? "", resource[2] ?? "", resource[3], call, parameters, ok, missing)
    return { status: 404, body: { error: { code: 404, message: `no ${key}`, status: "NOT_FOUND" } } }
  }

  #resource(
    method: string,
    corpus: string,
    rest: string | undefined,
    call: Call,
    parameters: URLSearchParams,
    ok: (body: object) => { status: number; body: object },
    missing: (what: string) => { status: number; body: object }
  ) {
    const found = this.corpora.get(corpus)
    if (found === undefined) return missing("The RagCorpus")
    if (rest === undefined) {
      if (method === "GET") return ok(found)
      if (method === "PATCH") {
        const changed = { ...found, ...JSON.parse(call.body.toString()) }
        this.corpora.set(corpus, changed)
        return ok(this.#start(corpus, "UpdateRagCorpusOperationMetadata", { "@type": `${types}RagCorpus`, ...changed }))
      }
      this.corpora.delete(corpus)
      return ok(this.#start(corpus, "DeleteOperationMetadata", { "@type": "type.googleapis.com/google.protobuf.Empty" }))
    }
    if (rest === "/ragFiles") {
      const held = [...this.files.values()].filter((file) => file.name.startsWith(`${corpus}/`))
      return ok(page("ragFiles", held.map(shownFile), parameters))
    }
    const file = this.files.get(`${corpus}${rest}`)
    if (file === undefined) return missing("The RagFile")
    if (method === "GET") return ok(shownFile(file))
    this.files.delete(file.name)
    return ok(this.#start(file.name, "DeleteOperationMetadata", { "@type": "type.googleapis.com/google.protobuf.Empty" }))
  }

  #upload(call: Call, path: string): { status: number; body: object; headers?: Record<string, string> } {
    const session = /upload_id=(\d+)/.exec(call.path)?.[1]
    const target = /^\/upload\/v1beta1\/(.+)\/ragFiles:upload$/.exec(path)?.[1] ?? ""
    const command = call.headers["x-goog-upload-command"]
    if (session !== undefined) {
      const open = this.#sessions.get(session)
      if (open === undefined) return { status: 404, body: {} }
      if (command === "query") {
        return {
          status: 200,
          body: {},
          headers: { "x-goog-upload-status": "active", "x-goog-upload-size-received": String(open.received.length) }
        }
      }
      if (Number(call.headers["x-goog-upload-offset"]) !== open.received.length) return { status: 400, body: {} }
      open.received = Buffer.concat([open.received, call.body])
      this.#sessions.delete(session)
      return {
        status: 200,
        body: this.#store(open.parent, open.metadata, open.received.toString()),
        headers: { "x-goog-upload-status": "final" }
      }
    }
    if (!this.corpora.has(target)) return { status: 404, body: { error: { code: 404, message: "no corpus", status: "NOT_FOUND" } } }
    if (call.headers["x-goog-upload-protocol"] === "resumable") {
      const id = String(this.#next++)
      this.#sessions.set(id, { metadata: JSON.parse(call.body.toString()), parent: target, received: Buffer.alloc(0) })
      return {
        status: 200,
        body: {},
        headers: { "x-goog-upload-url": `${this.baseUrl}${path}?upload_id=${id}`, "x-goog-upload-status": "active" }
      }
    }
    const boundary = /boundary=(.+)$/.exec(call.headers["content-type"] ?? "")?.[1] ?? "?"
    const [, metadata = "", file = ""] = call.body.toString().split(`--${boundary}`)
    const content = (part: string) => part.slice(part.indexOf("\r\n\r\n") + 4).replace(/\r\n$/, "")
    return { status: 200, body: this.#store(target, JSON.parse(content(metadata)), content(file)) }
  }

  /** Keeps the first bytes that came of an upload which then broke off. */
  receive(call: Call, bytes: number): void {
    const open = this.#sessions.get(/upload_id=(\d+)/.exec(call.path)?.[1] ?? "")
    if (open !== undefined) open.received = call.body.subarray(0, bytes)
  }

  #store(corpus: string, metadata: Metadata, content: string): object {
    const name = `${corpus}/ragFiles/${this.#next++}`
    const file: StoredFile = { name, content, ...metadata.ragFile }
    if (content === "unreadable") return { error: { code: 3, message: "cannot be parsed" } }
    this.files.set(name, file)
    return { ragFile: shownFile(file) }
  }

  #start(target: string, kind: string, response: object, metadata: object = {}): object {
    const operation: StoredOperation = {
      name: `${target}/operations/${this.#next++}`,
      kind,
      createTime: new Date().toISOString(),
      polls: 0,
      metadata,
      response
    }
    this.operations.set(operation.name, operation)
    return this.#shown(operation)
  }

  #shown({ createTime, kind, metadata: more, name, polls, response }: StoredOperation): object {
    const metadata = { "@type": `${types}${kind}`, genericMetadata: { createTime, updateTime: createTime }, ...more }
    return polls >= this.slowness ? { name, metadata, done: true, response } : { name, metadata }
  }

  #fail(response: ServerResponse, code: number, status: string, message: string): void {
    response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify({ error: { code, message, status } }))
  }
}

const shownFile = ({ content, ...file }: StoredFile): object => ({
  ...file,
  sizeBytes: String(content.length),
  fileStatus: { state: "ACTIVE" },
  directUploadSource: {},
  createTime: "2026-01-01T00:00:00.123456Z",
  updateTime: "2026-01-01T00:00:00.123456Z"
})

const page = (key: string, all: ReadonlyArray<object>, parameters: URLSearchParams): object => {
  const from = Number(parameters.get("pageToken") ?? 0)
  const size = Number(parameters.get("pageSize") ?? 2)
  return { [key]: all.slice(from, from + size), ...(from + size < all.length ? { nextPageToken: String(from + size) } : {}) }
}

export const fakeVertex: Effect.Effect<FakeVertex, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(async () => {
    const fake = new FakeVertex()
    const server = createServer((request, response) => {
      const parts: Array<Buffer> = []
      request.on("data", (part: Buffer) => parts.push(part))
      request.on("end", () =>
        fake.answer({
          method: request.method ?? "",
          path: request.url ?? "",
          headers: request.headers,
          body: Buffer.concat(parts),
          response,
          count: fake.calls.length
        }))
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo // listen() on a port gives an AddressInfo
    fake.baseUrl = `http://127.0.0.1:${port}`
    return { fake, server }
  }),
  ({ server }) =>
    Effect.promise(() => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    })
).pipe(Effect.map(({ fake }) => fake))
