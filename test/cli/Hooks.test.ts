import { createHmac } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { until } from "../support/Eventually.ts"
import { events } from "../support/Finished.ts"
import { sluice, start } from "../support/Sluice.ts"
import { write } from "../support/TempFolder.ts"
import { pipelineFile, project } from "./Project.ts"

const secret = "a-secret-of-the-sender"
const version = "projects/acme/secrets/hook/versions/1"
const env = { SLUICE_SECRET_HOOK: secret }

const promised = <A>(body: () => Promise<A>): Effect.Effect<A> => Effect.promise(body)

/** A server that keeps what is posted to it. */
const receiver = (answer: (count: number, response: ServerResponse) => void = (_, response) => void response.end()) =>
  Effect.acquireRelease(
    promised(async () => {
      const received: Array<{ readonly headers: IncomingMessage["headers"]; readonly body: string }> = []
      const server = createServer(async (request, response) => {
        const parts: Array<Buffer> = []
        for await (const part of request) parts.push(part)
        received.push({ headers: request.headers, body: Buffer.concat(parts).toString() })
        answer(received.length, response)
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const { port } = server.address() as AddressInfo // listens on a port
      return { url: `http://127.0.0.1:${port}/in`, received, server }
    }),
    ({ server }) => Effect.sync(() => server.close())
  )

const serving = (cwd: string) =>
  Effect.acquireRelease(
    promised(async () => {
      const { child, finished } = start(["serve", "--port", "0", "--hooks", "pipeline.yaml", "--json"], { cwd, env })
      let said = ""
      child.stderr?.on("data", (text: string) => void (said += text))
      let printed = ""
      child.stdout?.on("data", (text: string) => void (printed += text))
      const { hooks } = await until("the server tells its address", () =>
        printed.includes("\n") && JSON.parse(printed) as { hooks: ReadonlyArray<string> })
      return {
        hooks,
        said: () =>
          said,
        stop: () => child.kill("SIGTERM") && finished
      }
    }),
    ({ stop }) => promised(async () => stop())
  )

describe.concurrent("serve --hooks", () => {
  it.live("a notice starts a run, a burst of them one, and status tells of them", () =>
    Effect.gen(function*() {
      const cwd = yield* project({
        "pipeline.yaml": `${pipelineFile}hooks:\n  push: { gitHub: { secret: ${version}, sources: [docs] } }\n`
      })
      const { hooks: [address = ""], said } = yield* serving(cwd)
      assert.match(address, /\/hooks\/test\/push$/)
      const runs = () => said().split("\n").filter((line) => line.startsWith("test: docs:"))
      // Whatever was told before it was started nobody heard.
      yield* promised(() => until("a run at the start", () => runs().length > 0))
      assert.include(runs()[0], "3 added")

      const body = JSON.stringify({ ref: "refs/heads/main" })
      const post = (key: string) =>
        promised(() =>
          fetch(address, {
            method: "POST",
            body,
            headers: { "x-github-event": "push", "x-hub-signature-256": `sha256=${createHmac("sha256", key).update(body).digest("hex")}` }
          })
        )
      write(join(cwd, "docs"), { "new.md": "# New\n\nA new page.\n" })
      assert.strictEqual((yield* post("wrong")).status, 401)
      for (let n = 0; n < 20; n++) assert.strictEqual((yield* post(secret)).status, 202)
      yield* promised(() => until("a second run", () => runs().length > 1))
      assert.include(runs()[1], "1 added")
      // The same once more: a run that finds nothing. On a busy machine the burst may have brought some such already.
      assert.strictEqual((yield* post(secret)).status, 202)
      yield* promised(() => until("a third run", () => runs().length > 2))
      assert.include(runs()[2], "nothing changed")
      assert.isBelow(runs().length, 20)

      const shown = yield* promised(() =>
        until("the counts are kept", async () => {
          const { stdout } = await sluice(["status"], { cwd })
          return stdout.includes("hook push: 21 notices") && stdout
        })
      )
      assert.match(shown, /1 notice refused, the last\s+\d{4}-/)
      const [status] = events(yield* promised(() => sluice(["status", "--json"], { cwd })))
      assert.containSubset(status, { hooks: { push: { taken: 21, refused: 1 } } })
    }).pipe(Effect.scoped))

  it.live("fails at once where there is no secret, no hook, no such source", () =>
    Effect.gen(function*() {
      const cwd = yield* project({
        "none.yaml": pipelineFile,
        "wrong.yaml": `${pipelineFile}hooks:\n  push: { gitLab: { secret: ${version}, sources: [doc] } }\n`
      })
      write(cwd, { "pipeline.yaml": `${pipelineFile}hooks:\n  push: { gitLab: { secret: ${version} } }\n` })
      const failed = (file: string) => promised(() => sluice(["serve", "--port", "0", "--hooks", file], { cwd }))
      const secretless = yield* failed("pipeline.yaml")
      assert.strictEqual(secretless.code, 5)
      assert.include(secretless.stderr, "SLUICE_SECRET_HOOK")
      const hookless = yield* failed("none.yaml")
      assert.strictEqual(hookless.code, 4)
      assert.include(hookless.stderr, "none.yaml has no hooks")
      const sourceless = yield* failed("wrong.yaml")
      assert.strictEqual(sourceless.code, 4)
      assert.match(sourceless.stderr, /wrong\.yaml:\d+:\d+[\s\S]*is not a source of this pipeline/)
    }).pipe(Effect.scoped))
})

describe.concurrent("notify", () => {
  const notify = (to: string) => ({ "pipeline.yaml": `${pipelineFile}notify:\n${to}` })

  it.live("posts the report, signed, and tries again; a program has it on stdin", () =>
    Effect.gen(function*() {
      const { received, url } = yield* receiver((count, response) => void response.writeHead(count === 1 ? 503 : 200).end())
      const program =
        "let t='';process.stdin.on('data',d=>t+=d).on('end',()=>require('fs').writeFileSync('told.json',t+JSON.stringify(process.env)))"
      const cwd = yield* project(notify(
        `  - { url: "${url}", secret: ${version} }\n  - { command: [${JSON.stringify(process.execPath)}, -e, ${
          JSON.stringify(program)
        }], on: [always] }\n`
      ))
      const first = yield* promised(() => sluice(["run", "--json"], { cwd, env }))
      assert.strictEqual(first.code, 0, first.stderr)
      const last = events(first).at(-1)
      assert.strictEqual(last?.["type"], "report")
      assert.strictEqual(received.length, 2)
      const { body = "", headers = {} } = received[1] ?? {}
      assert.deepStrictEqual(JSON.parse(body), last)
      const id = headers["webhook-id"]
      assert.strictEqual(received[0]?.headers["webhook-id"], id)
      assert.strictEqual(
        headers["webhook-signature"],
        `v1,${createHmac("sha256", secret).update(`${id}.${headers["webhook-timestamp"]}.${body}`).digest("base64")}`
      )
      const told = readFileSync(join(cwd, "told.json"), "utf8")
      assert.isTrue(told.startsWith(body))
      assert.notInclude(told, secret)

      // Nothing changed, nothing failed: the address asked for neither.
      yield* promised(() => sluice(["run"], { cwd, env }))
      assert.strictEqual(received.length, 2)
      assert.include(readFileSync(join(cwd, "told.json"), "utf8"), "\"unchanged\":3")
    }).pipe(Effect.scoped))

  it.live("fails no run where it fails, and says so", () =>
    Effect.gen(function*() {
      const { received, url } = yield* receiver((_, response) => void response.writeHead(400).end("no thanks"))
      const cwd = yield* project(notify(
        `  - { url: "${url}?key=hidden", on: [always] }\n  - { url: "https://localhost.localdomain:9/", on: [always] }\n` +
          `  - { command: [${
            JSON.stringify(process.execPath)
          }, -e, "console.error('broken'); process.exit(7)"] }\n  - { command: [./nothing] }\n` +
          `  - { command: [${JSON.stringify(process.execPath)}, -e, "setInterval(() => {}, 1000)"], timeout: 1s }\n`
      ))
      const { code, stderr } = yield* promised(() => sluice(["run"], { cwd }))
      assert.strictEqual(code, 0)
      assert.strictEqual(received.length, 1)
      assert.match(stderr, /127\.0\.0\.1:\d+ was not notified of this run: .*answered 400: no thanks/)
      assert.notInclude(stderr, "hidden")
      assert.include(stderr, "ended with 7: broken")
      assert.include(stderr, "./nothing was not notified of this run: notify: ./nothing cannot be run: ENOENT")
      assert.include(stderr, "did not end within 1s")
    }).pipe(Effect.scoped))

  it.live("tells of a run that failed, and of each batch of a watch", () =>
    Effect.gen(function*() {
      const { received, url } = yield* receiver()
      const cwd = yield* project(notify(`  - { url: "${url}" }\n`))
      write(cwd, { "broken.yaml": readFileSync(join(cwd, "pipeline.yaml"), "utf8").replace("./docs", "./nothing") })
      const { code } = yield* promised(() => sluice(["run", "broken.yaml"], { cwd }))
      assert.notStrictEqual(code, 0)
      assert.strictEqual(received.length, 1)
      assert.containSubset(JSON.parse(received[0]?.body ?? ""), { version: 1, pipeline: "test", type: "error" })

      const { child, finished } = start(["watch", "pipeline.yaml"], { cwd })
      yield* promised(() => until("the first batch is told of", () => received.length > 1))
      assert.containSubset(JSON.parse(received[1]?.body ?? ""), { type: "report", report: { totals: { added: 3 } } })
      write(join(cwd, "docs"), { "new.md": "# New\n\nA new page.\n" })
      yield* promised(() => until("the second is", () => received.length > 2))
      child.kill("SIGINT")
      yield* promised(() => finished)
      assert.isTrue(existsSync(join(cwd, ".sluice")))
    }).pipe(Effect.scoped))
})
