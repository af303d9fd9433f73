import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Fake, fakeOpenAi, sendChat, sendJson } from "../fakes/Openai.ts"
import { start } from "../support/Sluice.ts"

const canary = "sk-canary-77aa91"
const version = "projects/p1/secrets/upstream-key/versions/2"

let folder: string
let fake: Fake
const scope = Scope.makeUnsafe()
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-upstream-"))
  fake = await Effect.runPromise(
    fakeOpenAi(({ path }, response) =>
      path.endsWith("/models")
        ? sendJson(response, 200, { data: [{ id: "qwen3" }] })
        : sendChat(response, ["Hello."])
    ).pipe(Scope.provide(scope))
  )
})
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

describe("sluice serve --upstream", () => {
  it("finds the model, takes the key from a secret version, and tells it to the upstream alone", async () => {
    const { child, finished } = start(["serve", "--port", "0", "--json", "--upstream", fake.baseUrl, "--upstream-key", version], {
      cwd: folder,
      env: { SLUICE_SECRET_UPSTREAM_KEY: canary }
    })
    const ended = finished.then(({ stderr }) => Promise.reject(new Error(`it ended: ${stderr}`)))
    const url = await Promise.race([
      ended,
      new Promise<string>((resolve) => child.stdout?.on("data", (text: string) => resolve(JSON.parse(text).url)))
    ])
    const answer = await fetch(`${url}/v1/projects/p/locations/us-central1/publishers/google/models/gemini-2.0-flash:generateContent`, {
      method: "POST",
      body: JSON.stringify({ contents: [{ parts: [{ text: "hi" }] }] })
    }).then((response) => response.json()) as { readonly modelVersion: string }
    assert.strictEqual(answer.modelVersion, "qwen3")
    assert.deepStrictEqual(fake.received.map(({ headers }) => headers["authorization"]), [`Bearer ${canary}`, `Bearer ${canary}`])
    ended.catch(() => undefined)
    child.kill("SIGTERM")
    const { stderr, stdout } = await finished
    assert.notInclude(stdout + stderr, canary)
  })

  it("takes no key on the command line, and never repeats one", async () => {
    const inline = await start(["serve", "--upstream", fake.baseUrl, "--upstream-key", canary], { cwd: folder }).finished
    assert.notStrictEqual(inline.code, 0)
    assert.include(inline.stderr, "SLUICE_UPSTREAM_KEY")
    assert.notInclude(inline.stdout + inline.stderr, canary)
    const stray = await start(["serve", "--upstream-model", "m"], { cwd: folder }).finished
    assert.include(stray.stderr, "without --upstream")
  })
})
