import { spawn } from "node:child_process"
import type { Effect, Scope } from "effect"
import { type Asked, fakeServer, type FakeServer } from "./Http.ts"

/** Git's own server behind HTTP: the repositories in a folder, to whoever sends `authorization`. */
export const gitServer = (folder: string, authorization?: string): Effect.Effect<FakeServer, never, Scope.Scope> =>
  fakeServer((asked, response) => {
    if (authorization !== undefined && asked.headers.authorization !== authorization) {
      return void response.writeHead(401, { "www-authenticate": "Basic realm=\"git\"" }).end()
    }
    const child = spawn("git", ["http-backend"], { env: cgi(folder, asked), stdio: ["pipe", "pipe", "ignore"] })
    const parts: Array<Buffer> = []
    child.stdout.on("data", (part: Buffer) => parts.push(part))
    child.on("close", () => {
      const all = Buffer.concat(parts)
      const head = all.indexOf("\r\n\r\n")
      const headers = all.toString("latin1", 0, head).split("\r\n").map((line) => line.split(": ") as [string, string])
      const status = headers.find(([name]) => name === "Status")
      response.writeHead(
        status === undefined ? 200 : Number.parseInt(status[1], 10),
        Object.fromEntries(headers.filter(([name]) => name !== "Status"))
      )
      response.end(all.subarray(head + 4))
    })
    child.stdin.on("error", () => {})
    child.stdin.end(asked.body)
  })

const cgi = (folder: string, { body, headers, method, url }: Asked): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  GIT_PROJECT_ROOT: folder,
  GIT_HTTP_EXPORT_ALL: "1",
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "safe.directory",
  GIT_CONFIG_VALUE_0: "*",
  REQUEST_METHOD: method,
  PATH_INFO: url.pathname,
  QUERY_STRING: url.search.slice(1),
  CONTENT_TYPE: headers["content-type"],
  CONTENT_LENGTH: String(body.length),
  HTTP_CONTENT_ENCODING: headers["content-encoding"],
  GIT_PROTOCOL: headers["git-protocol"] as string | undefined,
  REMOTE_ADDR: "127.0.0.1"
})
