import type { ServerResponse } from "node:http"

export { testServer as fakeServer, type TestRequest as Asked, type TestServer as FakeServer } from "../../src/kit/TestServer.ts"

export const sendJson = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void =>
  void response.writeHead(status, { "content-type": "application/json; charset=UTF-8", ...headers }).end(JSON.stringify(body))

/** An error of a Google API, with the ways in which their bodies say it. */
export const sendGoogleError = (
  response: ServerResponse,
  status: number,
  message: string,
  more: object = {},
  headers: Record<string, string> = {}
): void => sendJson(response, status, { error: { code: status, message, ...more } }, headers)

/** Says there is more than comes. */
export const sendCut = (response: ServerResponse, body: Buffer | string, headers: Record<string, string> = {}): void => {
  response.writeHead(200, { ...headers, "content-length": String(Buffer.byteLength(body) + 100) })
  response.write(body, () => response.destroy())
}

/** The part of some bytes that a `Range: bytes=n-` asks for. */
export const rangeOf = (range: string | undefined, data: Buffer): { readonly status: 200 | 206; readonly part: Buffer } => {
  const start = /^bytes=(\d+)-$/.exec(range ?? "")?.[1]
  return start === undefined ? { status: 200, part: data } : { status: 206, part: data.subarray(Number(start)) }
}
