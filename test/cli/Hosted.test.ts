import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cpSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { command } from "../support/Command.ts"
import { events } from "../support/Finished.ts"
import { sluice, start } from "../support/Sluice.ts"
import { write } from "../support/TempFolder.ts"
import { project } from "./Project.ts"

const root = join(import.meta.dirname, "../..")

/** `sluice serve` in a process of its own, with the folder `bucket` as gs://docs/. */
const serve = (cwd: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { child, finished } = start(["serve", "--port", "0", "--data-dir", "served", "--bucket", "docs=bucket"], { cwd })
      const url = await new Promise<string>((resolve, reject) => {
        child.stdout?.on("data", (text: string) => {
          const found = /http:\S+/.exec(text)
          if (found !== null) resolve(found[0])
        })
        void finished.then(({ stderr }) => reject(new Error(stderr)))
      })
      return { child, finished, url }
    }),
    ({ child, finished }) =>
      Effect.promise(() => {
        child.kill("SIGTERM")
        return finished
      })
  )

/** Google as it is to a caller without rights. */
const refusing = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer((request, response) => {
      request.resume()
      response.writeHead(403, { "content-type": "application/json" })
      response.end(JSON.stringify({ error: { code: 403, message: "not for you", status: "PERMISSION_DENIED" } }))
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } // it listens on a port, not on a pipe
  }),
  ({ server }) => Effect.sync(() => server.close())
)

describe("the hosted engine, from the command line", () => {
  it.live("runs the quickstart against a server, with nothing but its address set, and answers", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      for (const folder of ["pipelines", "examples/handbook"]) cpSync(join(root, folder), join(cwd, folder), { recursive: true })
      const { url } = yield* serve(cwd)
      const run = (...args: ReadonlyArray<string>) =>
        Effect.promise(() => sluice([...args, "--engine", "vertex"], { cwd, env: { SLUICE_BASE_URL: url } }))
      const first = yield* run("run", "pipelines/quickstart.yaml", "--json")
      assert.strictEqual(first.code, 0, first.stderr)
      const { report } = events(first).at(-1) as { report: { engine: string; totals: { added: number } } } // the last event is the report
      assert.strictEqual(report.engine, "vertex")
      // The service tells of no chunks.
      assert.notProperty(report, "chunks")
      assert.isAbove(report.totals.added, 20)
      const again = yield* run("plan", "pipelines/quickstart.yaml", "--detailed-exitcode")
      assert.strictEqual(again.code, 0, again.stdout)
      const asked = yield* run(
        "ask",
        "--pipeline",
        "pipelines/quickstart.yaml",
        "How many unused days of annual leave carry over into the next year?"
      )
      assert.match(asked.stdout, /five unused days.*\[1\]/)
      const checked = yield* run("doctor", "pipelines/quickstart.yaml")
      assert.strictEqual(checked.code, 0, checked.stdout)
      assert.match(checked.stdout, /credentials .* not sent to 127\.0\.0\.1/)
    }).pipe(Effect.scoped))

  it.live("hands a bucket over that it cannot list, and says so in doctor, plan and run", () =>
    Effect.gen(function*() {
      const cwd = yield* project({
        "cloud.yaml": `
name: cloud
engine: { vertex: { project: p, location: us-central1, baseUrl: "\${SLUICE_BASE_URL}" } }
corpus: { displayName: Cloud }
sources: { bucket: { storage: { uris: ["gs://docs/hr/"] } } }
chunking: { size: 100, overlap: 10 }
stages: [{ retrieve: { topK: 1 } }]
`
      })
      write(join(cwd, "bucket/hr"), { "leave.md": "Five unused days of annual leave carry over.", "no.docx": "no document" })
      const { url } = yield* serve(cwd)
      const google = yield* refusing
      const env = { SLUICE_BASE_URL: url, STORAGE_EMULATOR_HOST: google.url }
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd, env }))
      const checked = yield* run("doctor", "cloud.yaml")
      assert.match(checked.stdout.replace(/\s+/g, " "), /ok source bucket import-only: vertex lists it by itself/)
      const planned = yield* run("plan", "cloud.yaml")
      assert.match(planned.stdout.replace(/\s+/g, " "), /warning: bucket: import-only/)
      const ran = yield* run("run", "cloud.yaml")
      assert.strictEqual(ran.code, 3, ran.stderr)
      assert.match(ran.stdout.replace(/\s+/g, " "), /gs:\/\/docs\/hr\/no\.docx INVALID_ARGUMENT/)
      assert.match(ran.stdout, /^Done in [^:]*$/m)
      assert.match(ran.stdout.replace(/\s+/g, " "), /import-only: .* the service counted 1 imported, 0 skipped, 1 failed/)
      const found = yield* run("retrieve", "--pipeline", "cloud.yaml", "annual leave")
      assert.match(found.stdout, /leave\.md .*\n.*Five unused days/)
    }).pipe(Effect.scoped))

  it.live("doctor names what stands in the way, and does not repeat it", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      cpSync(join(root, "pipelines"), join(cwd, "pipelines"), { recursive: true })
      const google = yield* refusing
      const { code, stdout } = yield* Effect.promise(() =>
        command(["doctor", "pipelines/quickstart.yaml", "--engine", "vertex", "--json"], { cwd, env: { SLUICE_BASE_URL: google.url } })
      )
      assert.strictEqual(code, 1)
      const { checks } = JSON.parse(stdout) as { checks: ReadonlyArray<{ check: string; ok: boolean; fix?: string }> } // doctor's one document
      const wrong = checks.filter(({ ok }) => !ok)
      assert.deepStrictEqual(wrong.map(({ check }) => check), ["permissions"])
      assert.isString(wrong[0]?.fix)
    }).pipe(Effect.scoped))
})
