import type { ChildProcess } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { events, type Finished } from "../support/Finished.ts"
import { start } from "../support/Sluice.ts"
import { write } from "../support/TempFolder.ts"
import { leave, parent, travel } from "./support/TestServer.ts"
import { until } from "../support/Eventually.ts"

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-serve-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Serving {
  readonly url: string
  readonly child: ChildProcess
  readonly finished: Promise<Finished>
}

/** Starts `sluice serve` and waits for its line. */
const serve = async (...args: ReadonlyArray<string>): Promise<Serving> => {
  const { child, finished } = start(["serve", "--port", "0", ...args], { cwd: folder })
  const line = new Promise<string>((resolve) => {
    let text = ""
    child.stdout?.on("data", (data: string) => {
      text += data
      if (text.includes("\n")) resolve(text.trim())
    })
  })
  const ended = finished.then(({ stderr }) => Promise.reject(new Error(`it ended: ${stderr}`)))
  return { url: await Promise.race([line, ended]), child, finished }
}

const post = async (url: string, body: unknown) =>
  await (await fetch(url, { method: "POST", body: JSON.stringify(body) })).json() as Record<string, never> & {
    name: string
    done?: boolean
    response: Record<string, string>
  }

describe("sluice serve", () => {
  it("prints its address and nothing else, and ends when it is told to", async () => {
    const { child, finished, url } = await serve()
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.strictEqual((await fetch(`${url}/v1/${parent}/ragCorpora`)).status, 200)
    child.kill("SIGTERM")
    const { code, stderr, stdout } = await finished
    assert.strictEqual(stdout, `${url}\n`)
    assert.strictEqual(code, 0)
    assert.strictEqual(
      stderr,
      "stopped: every call was answered; imports that were under way are parked, and go on when it is started again\n"
    )
  })

  it("killed during an import, finishes it when it is started again", async () => {
    write(
      join(folder, "bucket"),
      Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`${i}.md`, `${leave}\n\n${travel}\n\nNumber ${i}.`]))
    )
    const first = await serve("--bucket", "docs=bucket")
    const { response: { name: corpus = "" } } = await post(`${first.url}/v1/${parent}/ragCorpora`, { displayName: "killed" })
    const operation = await post(`${first.url}/v1/${corpus}/ragFiles:import`, {
      importRagFilesConfig: { gcsSource: { uris: ["gs://docs/"] } }
    })
    const files = async (url: string) => {
      const body = await (await fetch(`${url}/v1/${corpus}/ragFiles?pageSize=1000`)).json() as {
        ragFiles?: ReadonlyArray<{ gcsSource: { uris: ReadonlyArray<string> } }>
      }
      return (body.ragFiles ?? []).map(({ gcsSource }) => gcsSource.uris[0])
    }
    await until("a file is stored", async () => (await files(first.url)).length > 0)
    first.child.kill("SIGKILL")
    await first.finished

    const second = await serve("--bucket", "docs=bucket")
    let body = await post(`${second.url}/v1/${operation.name}:wait`, { timeout: "20s" })
    while (body.done !== true) body = await post(`${second.url}/v1/${operation.name}:wait`, { timeout: "20s" })
    const { failedRagFilesCount = "0", importedRagFilesCount = "0", skippedRagFilesCount = "0" } = body.response
    // What was stored when the server was killed, but not counted yet, is found to be there already.
    assert.strictEqual(Number(importedRagFilesCount) + Number(skippedRagFilesCount), 300)
    assert.isAtMost(Number(skippedRagFilesCount), 64)
    assert.strictEqual(failedRagFilesCount, "0")
    const uris = await files(second.url)
    assert.strictEqual(uris.length, 300)
    assert.strictEqual(new Set(uris).size, 300)
    // From outside, under the name its client was told, and the engine's work for it not beside it.
    const listed = events(await start(["operations", "list", "--json"], { cwd: folder }).finished)
    assert.deepStrictEqual(listed.map(({ kind, name }) => [kind, String(name).split("/").at(-1)]), [
      ["importFiles", operation.name.split("/").at(-1)],
      ["createCorpus", listed.at(-1)?.["name"]?.toString().split("/").at(-1)]
    ])
    assert.deepInclude(listed[0], { done: true, progress: 100 })
    second.child.kill("SIGTERM")
    await second.finished
  })

  it("refuses what would open it to others, and scripts it cannot read", async () => {
    const open = await start(["serve", "--host", "0.0.0.0", "--port", "0"], { cwd: folder }).finished
    assert.notStrictEqual(open.code, 0)
    assert.match(open.stderr, /token/)
    assert.strictEqual(open.stdout, "")
    const port = await start(["serve", "--port", "99999"], { cwd: folder }).finished
    assert.deepStrictEqual([port.code, /expected a port, from 0 to 65535/.test(port.stderr)], [4, true], port.stderr)
    const wrong: ReadonlyArray<readonly [flags: ReadonlyArray<string>, says: RegExp]> = [
      [["--allow-secret", "s3cret-itself"], /--allow-secret: takes the name/],
      [["--vendor-url", "jira=https://127.0.0.1"], /--vendor-url: jira is no vendor/],
      [["--token-file", "none"], /--token-file: none cannot be read/],
      [["--grpc-tls-key", "key.pem"], /--grpc-tls-key: is of no use without --grpc/],
      [["--reranker", "http://127.0.0.1:1"], /--reranker-model: is missing/]
    ]
    for (const [flags, says] of wrong) {
      const { code, stderr } = await start(["serve", ...flags, "--port", "0"], { cwd: folder }).finished
      assert.deepStrictEqual([code, says.test(stderr)], [4, true], stderr)
      assert.notInclude(stderr, "s3cret-itself")
    }
    writeFileSync(join(folder, "faults.yaml"), "faults: [{ method: nothing }, { at: 1, eror: UNAVAILABLE }]")
    const script = await start(["serve", "--faults", "faults.yaml", "--port", "0"], { cwd: folder }).finished
    assert.notStrictEqual(script.code, 0)
    assert.match(
      script.stderr,
      /faults\[0\]\.method is not a method of the server.*faults\[1\]\.eror is not a key of a fault; the keys are method, at, /
    )
    writeFileSync(join(folder, "token"), "short")
    const token = await start(["serve", "--token-file", "token", "--port", "0"], { cwd: folder }).finished
    assert.match(token.stderr, /at least 16/)
    assert.notInclude(token.stderr, "short\n")
  })
})
