import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fakeOpenAi, sendChat, sendEmbeddings, sendJson } from "../fakes/Openai.ts"
import { command } from "../support/Command.ts"
import { project } from "./Project.ts"

/** A server with a model that answers and one that embeds, as Ollama lists them. */
const modelServer = fakeOpenAi((request, response) => {
  if (request.path === "/v1/models") {
    return sendJson(response, 200, { object: "list", data: [{ id: "nomic-embed-text" }, { id: "llama3.2" }] })
  }
  if (request.path === "/v1/embeddings") return sendEmbeddings(request, response, () => [1, 0, 0])
  if (request.body.model !== "llama3.2") return sendJson(response, 404, { error: { message: "no such model" } })
  if (request.body.stream === true) return sendChat(response, ["yes"])
  return sendJson(response, 200, { choices: [{ index: 0, message: { role: "assistant", content: "yes" }, finish_reason: "stop" }] })
})

const run = (cwd: string, args: ReadonlyArray<string>, env: Record<string, string>) => Effect.promise(() => command(args, { cwd, env }))

describe("a model server", () => {
  it.live("is found by init, called once, and written into the pipeline, which is valid and answers", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const { baseUrl, received } = yield* modelServer
      const env = { OPENAI_BASE_URL: `${baseUrl}/`, OPENAI_API_KEY: "sk-not-for-files" }
      const { code, stderr } = yield* run(cwd, ["init", "docs", "--output", "with.yaml"], env)
      assert.strictEqual(code, 0, stderr)
      assert.include(stderr, `found OPENAI_BASE_URL at ${baseUrl}: answers with llama3.2, embeds with nomic-embed-text (3 dimensions)`)
      assert.deepStrictEqual(received.map(({ path }) => path).toSorted(), ["/v1/chat/completions", "/v1/embeddings", "/v1/models"])
      assert.isTrue(received.every(({ headers }) => headers["authorization"] === "Bearer sk-not-for-files"))
      const written = readFileSync(join(cwd, "with.yaml"), "utf8")
      assert.include(
        written,
        `- generate: { model: { openai: { url: "${baseUrl}", model: "llama3.2", apiKey: projects/local/secrets/openai/versions/latest } } }`
      )
      assert.include(written, `# embedding: { openai: { url: "${baseUrl}", model: "nomic-embed-text", dimensions: 3`)
      assert.notInclude(written, "sk-not-for-files")
      const doctor = yield* run(cwd, ["doctor", "with.yaml"], { ...env, SLUICE_SECRET_OPENAI: "sk-other" })
      assert.strictEqual(doctor.code, 0, doctor.stdout)
      assert.match(doctor.stdout, /^ok +model server +OPENAI_BASE_URL at/m)
      assert.match(doctor.stdout, /^ok +model +llama3\.2 at/m)
    }).pipe(Effect.scoped))

  it.live("is not looked for where nobody wants it, and its failure is said", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const fake = yield* fakeOpenAi((request, response) =>
        request.path === "/v1/models"
          ? sendJson(response, 200, { data: [{ id: "broken" }] })
          : sendJson(response, 404, { error: { message: "no such model" } })
      )
      const env = { OPENAI_BASE_URL: fake.baseUrl }
      assert.strictEqual((yield* run(cwd, ["init", "docs", "--offline", "--output", "without.yaml"], env)).code, 0)
      assert.strictEqual(fake.received.length, 0)
      const found = yield* run(cwd, ["init", "docs", "--output", "broken.yaml"], env)
      assert.match(found.stderr, /lists broken, which failed: /)
      assert.notMatch(readFileSync(join(cwd, "broken.yaml"), "utf8"), new RegExp(`^ *- generate.*${fake.baseUrl}`, "m"))
    }).pipe(Effect.scoped))
})
