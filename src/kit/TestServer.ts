import { Effect, type Scope } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** One request received by a {@link TestServer}, its body read. */
export interface TestRequest {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingMessage["headers"]
  readonly body: Buffer
}

/** An HTTP server for a test. */
export interface TestServer {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  /** Every request, in the order of arrival. */
  readonly asked: Array<TestRequest>
  /**
   * Lets `act` answer the next `times` requests that match; of several faults, the first that matches acts. Returns a function that ends
   * the fault.
   */
  readonly fault: (
    times: number,
    match: (asked: TestRequest) => boolean,
    act: (response: ServerResponse, asked: TestRequest) => void
  ) => () => void
}

/** A server on a free port of this machine, for as long as the scope. `answer` plays the service, and faults take precedence over it. */
export const testServer = (answer: (asked: TestRequest, response: ServerResponse) => void): Effect.Effect<TestServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const asked: Array<TestRequest> = []
      const faults: Array<
        {
          left: number
          readonly match: (asked: TestRequest) => boolean
          readonly act: (response: ServerResponse, asked: TestRequest) => void
        }
      > = []
      const server = createServer((request, response) => {
        const parts: Array<Buffer> = []
        request.on("data", (part: Buffer) => parts.push(part))
        request.on("end", () => {
          const one: TestRequest = {
            method: request.method ?? "",
            url: new URL(request.url ?? "", "http://test"),
            headers: request.headers,
            body: Buffer.concat(parts)
          }
          asked.push(one)
          const fault = faults.find(({ left, match }) => left > 0 && match(one))
          if (fault === undefined) return answer(one, response)
          fault.left--
          fault.act(response, one)
        })
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const { port } = server.address() as AddressInfo // listening on a port
      const made: TestServer = {
        origin: `http://127.0.0.1:${port}`,
        asked,
        fault: (left, match, act) => {
          const fault = { left, match, act }
          faults.push(fault)
          return () => void (fault.left = 0)
        }
      }
      return { server, made }
    }),
    ({ server }) =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise((resolve) => server.close(resolve))
      })
  ).pipe(Effect.map(({ made }) => made))

/** How a source responds instead of normally. */
export interface SourceFault {
  /** Which requests are affected: those that list, those for an item's content, or all. */
  readonly to: "list" | "read" | "all"
  /** How many requests are affected. Default: all, until the fault is ended. */
  readonly times?: number | undefined
  /** Another response; `cut` is one that breaks off halfway; `stall` is none at all. */
  readonly answer: "cut" | "stall" | {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>> | undefined
    readonly body?: string | undefined
  }
}

/** A fault that is in effect. */
export interface FaultInPlace {
  /** The number of requests that met it. */
  readonly met: () => number
  /** How many of these requests are still open. */
  readonly waiting: () => number
  readonly end: () => void
}

/**
 * The `fault` of a `connectorSuite`'s fixture, for a source that is a {@link TestServer}: `list` and `read` return whether a request lists,
 * or requests an item's content. `content` is another server, where the content is served by one.
 */
export const faultsOf = (
  server: TestServer,
  { content = server, list, read, type = "application/json" }: {
    readonly list: (asked: TestRequest) => boolean
    readonly read: (asked: TestRequest) => boolean
    readonly content?: TestServer | undefined
    /** The content type of a response that breaks off. Default `application/json`. */
    readonly type?: string | undefined
  }
) =>
({ answer, times = Infinity, to }: SourceFault): Effect.Effect<FaultInPlace> =>
  Effect.sync(() => {
    let [met, waiting] = [0, 0]
    const act = (response: ServerResponse): void => {
      met++
      waiting++
      response.on("close", () => void waiting--)
      if (answer === "stall") return
      if (answer !== "cut") return void response.writeHead(answer.status, answer.headers).end(answer.body)
      response.writeHead(200, { "content-type": type, "content-length": "1000" })
      response.write("{\"cut\": [", () => response.destroy())
    }
    const always = (): boolean => true
    const ends = to === "all"
      ? [...new Set([server, content])].map((each) => each.fault(times, always, act))
      : [(to === "read" ? content : server).fault(times, to === "read" ? read : list, act)]
    return { met: () => met, waiting: () => waiting, end: () => ends.forEach((end) => end()) }
  })
