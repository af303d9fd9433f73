import { inspect } from "node:util"
import { Cause, Effect, Exit } from "effect"
import { describe, expect, it } from "vitest"
import { definePipeline, type PipelineInput } from "../../../../src/pipeline/definition/DefinePipeline.ts"
import { fitness } from "../../../../src/pipeline/definition/Fitness.ts"
import { printPipeline, pipelineHash } from "../../../../src/pipeline/definition/Print.ts"
import type { Environment } from "../../../../src/pipeline/definition/Environment.ts"
import { secret } from "../schema/Support.ts"
import { invalid, minimalYaml, parsed } from "./Support.ts"

const canary = "xoxb-CANARY-7f3a9c-s3cr3t"

/** Everything a refusal can be turned into. */
const shown = (text: string, env: Environment = {}): string => {
  const error = invalid(text, env)
  return [
    error.message,
    String(error),
    error.stack ?? "",
    JSON.stringify(error),
    inspect(error, { depth: 20, showHidden: true }),
    Exit.match(Effect.runSyncExit(Effect.fail(error)), { onSuccess: () => "", onFailure: Cause.pretty })
  ].join("\n")
}

const fields: ReadonlyArray<readonly [name: string, yaml: (value: string) => string]> = [
  ["weaviate.apiKey", (value) => minimalYaml.replace("Handbook }", `Handbook, vectorDb: { weaviate: { apiKey: ${value} } } }`)],
  ["pinecone.apiKey", (value) => minimalYaml.replace("Handbook }", `Handbook, vectorDb: { pinecone: { apiKey: ${value} } } }`)],
  [
    "embedding.openai.apiKey",
    (value) =>
      minimalYaml.replace("Handbook }", `Handbook, embedding: { openai: { url: "http://h", model: m, dimensions: 8, apiKey: ${value} } } }`)
  ],
  [
    "generate.openai.apiKey",
    (value) =>
      `${minimalYaml}stages: [{ retrieve: {} }, { generate: { model: { openai: { url: "http://h", model: m, apiKey: ${value} } } } }]\n`
  ],
  ["slack.token", (value) => minimalYaml.replace("local: { path: ./docs }", `slack: { channels: [{ id: C1 }], token: ${value} }`)],
  [
    "jira.token",
    (value) => minimalYaml.replace("local: { path: ./docs }", `jira: { server: a.b, email: a@b, projects: [P], token: ${value} }`)
  ],
  [
    "sharePoint.clientSecret",
    (value) =>
      minimalYaml.replace("local: { path: ./docs }", `sharePoint: { site: s, drive: d, clientId: c, tenantId: t, clientSecret: ${value} }`)
  ],
  ["engines.vertex", (value) => `${minimalYaml}engines: { vertex: { vectorDb: { pinecone: { apiKey: ${value} } } } }\n`]
]

describe.each(fields)("a secret in the place of its name: %s", (_, yaml) => {
  it("a name is taken", () => {
    expect(printPipeline(parsed(yaml(secret)).pipeline)).toContain(secret)
  })

  it.each([
    ["plain", canary],
    ["quoted", `"${canary}"`],
    ["in single quotes", `'${canary}'`],
    ["as a default", `\${UNSET:-${canary}}`],
    ["part of a name", `"projects/1/secrets/${canary}/versions/0"`],
    ["in a list", `[${canary}]`],
    ["in a mapping", `{ value: ${canary} }`],
    ["as a key", `{ ${canary}: value }`]
  ])("%s", (_, written) => {
    expect(shown(yaml(written))).not.toContain("CANARY")
  })

  it("from the environment", () => {
    expect(shown(yaml("${TOKEN}"), { TOKEN: canary })).not.toContain("CANARY")
    expect(shown(yaml("${TOKEN:-x}"), { TOKEN: canary })).not.toContain("CANARY")
  })

  it("beside an error elsewhere", () => {
    expect(shown(yaml(canary) + "chunkin: {}\n")).not.toContain("CANARY")
    expect(shown("nam: x\n" + yaml(canary))).not.toContain("CANARY")
  })
})

it("an ordinary value is shown: these tests can fail", () => {
  expect(shown(minimalYaml.replace("name: handbook", `name: ${canary} !`))).toContain("CANARY")
})

describe("a secret where we do not expect one", () => {
  it.each([
    ["under a misspelled key", "corpus: { displayName: H, tokne: %s }"],
    ["under an unknown mapping", "slakc:\n  settings:\n    value: %s"],
    ["in a block scalar", "chat:\n  token: |\n    first\n    %s\n  other: 1"],
    ["in a folded quoted scalar", "chat:\n  password: \"a\n    %s\""],
    ["twice", "token: projects/1/secrets/a/versions/1\ntoken: %s"],
    ["in a comment", "# token: %s\nbad: 1"],
    ["as a complex key", "? { token: %s }\n: 1"],
    ["under a complex key", "? [a]\n: %s"],
    ["behind an alias", "x: &a %s\ncorpus: { displayName: H, embedding: { openai: { apiKey: *a } } }"],
    ["hidden by a merge", "chunking: { <<: { token: %s }, token: 1 }"],
    ["in an address", "corpus: { displayName: H, vectorDb: { weaviate: { httpEndpoint: \"https://me:%s@w.example\" } } }"],
    ["in an address without a user", "sources: { s: { storage: { uris: [\"https://%s@w.example/\"] } } }"],
    ["in a file with a broken structure", "token: %s\n  bad: [\n"],
    ["in a block scalar of a file with a broken structure", "a: {\nb:\n  token: >\n    %s\n    more\n  c: [d\n"],
    ["after an equals sign in a broken file", "API_KEY=%s\na: b\n"],
    ["in JSON", "{ \"token\": \"%s\", \"name\": 3 }"],
    ["in broken JSON", "{ \"token\": \"%s\", "],
    ["tagged", "token: !secret %s"],
    ["in a document of its own", "name: x\n---\ntoken: %s"]
  ])("%s", (_, text) => {
    expect(shown(text.replace("%s", canary))).not.toContain("CANARY")
  })
})

describe("a secret in TypeScript", () => {
  it("is not in what definePipeline throws", () => {
    const attempt = () =>
      definePipeline(
        {
          name: "handbook",
          corpus: { displayName: "H", vectorDb: { pinecone: { apiKey: canary } } },
          sources: {}
        } satisfies PipelineInput
      )
    let thrown: unknown
    try {
      attempt()
    } catch (error) {
      thrown = error
    }
    expect(inspect(thrown, { depth: 20 })).toContain("corpus.vectorDb.pinecone.apiKey")
    expect(inspect(thrown, { depth: 20, showHidden: true }) + JSON.stringify(thrown)).not.toContain("CANARY")
  })
})

describe("names of secrets", () => {
  it("stay visible in frames, so that the line can be read", () => {
    expect(shown(minimalYaml.replace("local: { path: ./docs }", `slack: { channels: [], token: ${secret} }`))).toContain(secret)
    expect(shown(minimalYaml.replace("local: { path: ./docs }", "slack: { channels: [], token: ${TOKEN} }"), { TOKEN: secret })).toContain(
      "${TOKEN}"
    )
  })

  it("are all that a hash and fitness see", () => {
    const { pipeline } = parsed(minimalYaml.replace("Handbook }", `Handbook, vectorDb: { pinecone: { apiKey: ${secret} } } }`))
    expect(pipelineHash(pipeline)).toMatch(/^[0-9a-f]{64}$/)
    expect(JSON.stringify(fitness(pipeline, { engine: "embedded", abilities: new Set() }))).not.toContain(secret)
  })
})
