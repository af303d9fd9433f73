import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { assert } from "vitest"
import { storage } from "../../../connectors/storage/Storage.ts"
import { type EmbeddedServerOptions, serveEmbedded } from "../../../src/compose/Server.ts"
import { fullName } from "../../../src/wire/Message.ts"
import { match, routes } from "../../../src/wire/Routes.ts"
import { write } from "../../support/TempFolder.ts"
import { lookupType } from "../../wire/protos/Load.ts"
import { validate } from "../../wire/protos/Validate.ts"

export const parent = "projects/p1/locations/us-central1"

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into by the assertions, which fail on what is not there
  readonly body: any
}

export interface TestServer {
  readonly url: string
  readonly port: number
  readonly grpc: { readonly address: string; readonly certificate: string } | undefined
  /** A folder that goes with the server; `bucket` under it is served as gs://docs/. */
  readonly folder: string
  readonly call: (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer>
  /** Creates a corpus and answers its name. */
  readonly corpus: (displayName?: string, version?: string) => Promise<string>
  /** Uploads a text as form-data and answers the whole answer. */
  readonly upload: (corpus: string, displayName: string, text: string | Uint8Array) => Promise<Answer>
  /** Asks for an operation until it is done. */
  readonly done: (operation: string, version?: string) => Promise<Answer>
  readonly stop: () => Promise<void>
  /** Stops it and starts another over the same data. */
  readonly restart: () => Promise<TestServer>
}

type Options = Partial<EmbeddedServerOptions>

/** A server over the embedded engine, on a free port. */
export const startServer = async (options: Options = {}, at?: string): Promise<TestServer> => {
  const folder = at ?? mkdtempSync(join(tmpdir(), "sluice-server-"))
  const scope = Scope.makeUnsafe()
  const { grpc, url } = await Effect.runPromise(
    serveEmbedded({
      dataDir: join(folder, "data"),
      version: "test",
      port: 0,
      storage,
      buckets: new Map([["docs", join(folder, "bucket")]]),
      ...options
    }).pipe(Scope.provide(scope))
  )
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))

  const call: TestServer["call"] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    const answer = text === "" ? undefined : JSON.parse(text)
    if (response.status === 200) assertOfTheApi(method, path, answer)
    return { status: response.status, headers: response.headers, body: answer }
  }

  const done: TestServer["done"] = async (operation, version = "v1") => {
    for (;;) {
      const answer = await call("POST", `/${version}/${operation}:wait`, { timeout: "5s" })
      if (answer.status !== 200 || answer.body.done === true) return answer
    }
  }

  return {
    url,
    port: Number(new URL(url).port),
    grpc,
    folder,
    call,
    done,
    corpus: async (displayName = "docs", version = "v1") => {
      const { body } = await call("POST", `/${version}/${parent}/ragCorpora`, { displayName })
      return body.response.name
    },
    upload: async (corpus, displayName, text) => {
      const form = new FormData()
      form.append("metadata", JSON.stringify({ rag_file: { display_name: displayName } }))
      form.append("file", new Blob([text as string]), displayName)
      const response = await fetch(`${url}/upload/v1/${corpus}/ragFiles:upload`, { method: "POST", body: form })
      return { status: response.status, headers: response.headers, body: await response.json() }
    },
    stop: async () => {
      await close()
      rmSync(folder, { recursive: true, force: true })
    },
    restart: async () => {
      await close()
      return startServer(options, folder)
    }
  }
}

/** Every answer that a test gets is held strictly against the real protos. */
const assertOfTheApi = (method: string, path: string, answer: unknown): void => {
  const [rawPath = "", query = ""] = path.split("?")
  const found = match(method, rawPath)
  if (found === undefined) return
  const { key, version } = found
  const type = lookupType(fullName(routes[key].response, version))
  // Between the steps of a resumable upload there is no message.
  const messages = Array.isArray(answer) ? answer : query.includes("upload_id") ? [] : [answer]
  assert.deepStrictEqual(messages.flatMap((message) => validate(type, message, { version })), [], `${method} ${path}`)
}

/** Files of the bucket gs://docs/. */
export const putObjects = (server: TestServer, files: Readonly<Record<string, string>>): void => write(join(server.folder, "bucket"), files)

export const leave =
  "# Leave\n\nEmployees receive 28 days of paid annual leave each calendar year. Up to five unused days may be carried over until 31 March."
export const travel = "# Travel\n\nThe hotel limit in Osaka is 120 EUR per night. Taxi fares above 80 EUR need the approval of a manager."
