import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { fakeOpenAi, sendChat, sendEmbeddings, sendJson } from "../fakes/Openai.ts"
import type { Finished } from "../support/Finished.ts"
import { sluice } from "../support/Sluice.ts"
import { write } from "../support/TempFolder.ts"
import { pipelineFile, project } from "./Project.ts"

const run = (cwd: string, args: ReadonlyArray<string>, env: Record<string, string> = {}) => Effect.promise(() => sluice(args, { cwd, env }))

interface Collector {
  readonly url: string
  /** Bodies by path. */
  readonly received: Array<{ readonly path: string; readonly body: string }>
}

/** An OTLP/HTTP collector that keeps what it is sent. */
const collector: Effect.Effect<Collector, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(async () => {
    const received: Array<{ readonly path: string; readonly body: string }> = []
    const server = createServer((request, response) => {
      const parts: Array<Buffer> = []
      request.on("data", (part: Buffer) => parts.push(part))
      request.on("end", () => {
        received.push({ path: request.url ?? "", body: Buffer.concat(parts).toString() })
        response.end("{}")
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo // it listens on a port, not on a pipe
    return { url: `http://127.0.0.1:${port}`, received, server }
  }),
  ({ server }) => Effect.sync(() => server.close())
)

describe("telemetry", () => {
  it.live("sends traces and metrics where an endpoint is set", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const { received, url } = yield* collector
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url }
      assert.strictEqual((yield* run(cwd, ["run"], env)).code, 0)
      assert.strictEqual((yield* run(cwd, ["retrieve", "leave"], env)).code, 0)
      const all = (path: string) => received.filter((sent) => sent.path === path).map(({ body }) => body).join("\n")
      for (const metric of ["sluice.files", "sluice.chunks.written", "sluice.embedded.tokens", "sluice.retrieval.duration"]) {
        assert.include(all("/v1/metrics"), `"name":"${metric}"`)
      }
      for (const span of ["runPipeline", "Files.upload", "stage.retrieve"]) assert.include(all("/v1/traces"), `"name":"${span}"`)
      // What documents and questions say, and where they lie, is nobody else's business.
      assert.notMatch(JSON.stringify(received), /annual leave|leave\.md|hotels/)
    }).pipe(Effect.scoped))

  it.live("never fails a command", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const wrong = yield* run(cwd, ["validate"], { OTEL_EXPORTER_OTLP_ENDPOINT: "nonsense" })
      assert.deepStrictEqual([wrong.code, wrong.stderr], [0, "warning: no telemetry: the OTEL_ settings cannot be used\n"])
      assert.strictEqual((yield* run(cwd, ["validate"], { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" })).code, 0)
    }).pipe(Effect.scoped))
})

const canary = "sk-canary-5f1d09c2e8"

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) =>
    join(entry.parentPath, entry.name)
  )

const remote = (url: string) =>
  pipelineFile.replace(
    "corpus: { displayName: Test }",
    `corpus: { displayName: Test, embedding: { openai: { url: "${url}", model: m, dimensions: 4, apiKey: projects/p/secrets/key/versions/latest } } }`
  ).replace("model: extractive", `model: { openai: { url: "${url}", model: m, apiKey: projects/p/secrets/key/versions/latest } }`)

describe("a secret", () => {
  it.live("is used and appears nowhere, from the environment or a file, whether the service likes it or not", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const { received, url } = yield* collector
      const seen: Array<Finished> = []
      for (const kind of ["environment", "file"] as const) {
        let friendly = true
        const service = yield* fakeOpenAi((request, response) => {
          const authorization = String(request.headers["authorization"])
          assert.strictEqual(authorization, `Bearer ${canary}`)
          // Services repeat keys in what they complain of.
          if (!friendly) return sendJson(response, 401, { error: { message: `Incorrect API key provided: ${canary} (${authorization})` } })
          if (request.path.endsWith("/embeddings")) return sendEmbeddings(request, response, (text) => [text.length, 1, 2, 3])
          sendChat(response, ["Five unused days of annual leave carry over [1]."])
        })
        write(cwd, { "pipeline.yaml": remote(service.baseUrl) })
        const dataDir = `data-${kind}`
        if (kind === "file") write(cwd, { [`${dataDir}/secrets/key`]: canary })
        if (kind === "file") {
          yield* Effect.promise(() => import("node:fs/promises").then((fs) => fs.chmod(join(cwd, dataDir, "secrets/key"), 0o600)))
        }
        const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url, ...(kind === "environment" ? { SLUICE_SECRET_KEY: canary } : {}) }
        const sluiced = (...args: ReadonlyArray<string>) =>
          Effect.tap(run(cwd, [...args, "--data-dir", dataDir], env), (finished) => Effect.sync(() => seen.push(finished)))
        assert.strictEqual((yield* sluiced("run", "--json")).code, 0, seen.at(-1)?.stderr)
        yield* sluiced("ask", "How many days carry over?", "--json")
        yield* sluiced("status", "--files")
        yield* sluiced("doctor", "--json")
        assert.isAbove(service.received.length, 1)
        friendly = false
        write(cwd, { "docs/more.md": `# More\n\nWords new to the ${kind}, so that they are embedded.\n` })
        const refused = yield* sluiced("run", "--json")
        assert.strictEqual(refused.code, 5, refused.stderr)
        assert.strictEqual((yield* sluiced("retrieve", "leave")).code, 5)
        const others = filesIn(join(cwd, dataDir)).filter((file) => !file.includes("/secrets/"))
        assert.isAbove(others.length, 1)
        for (const file of others) assert.isFalse(readFileSync(file).includes(canary), file)
      }
      for (const { stderr, stdout } of seen) assert.notInclude(stdout + stderr, canary)
      assert.isAbove(received.length, 0)
      assert.notInclude(JSON.stringify(received), canary)
    }).pipe(Effect.scoped))

  it.live("written into the pipeline by mistake is refused and not repeated", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      write(cwd, {
        "pipeline.yaml": remote("http://127.0.0.1:9/v1").replaceAll("projects/p/secrets/key/versions/latest", canary),
        "variable.yaml": remote("http://127.0.0.1:9/v1").replaceAll("projects/p/secrets/key/versions/latest", "${KEY}")
      })
      for (
        const args of [
          ["validate", "pipeline.yaml"],
          ["run", "pipeline.yaml"],
          ["validate", "pipeline.yaml", "--json"],
          ["doctor", "pipeline.yaml"],
          ["validate", "variable.yaml", "--json"],
          ["run", "variable.yaml"]
        ]
      ) {
        const { code, stderr, stdout } = yield* run(cwd, args, { KEY: canary })
        assert.strictEqual(code, args[0] === "doctor" ? 1 : 4, args.join(" "))
        assert.match(stdout + stderr, /apiKey/)
        assert.notInclude(stdout + stderr, canary)
      }
    }).pipe(Effect.scoped))
})
