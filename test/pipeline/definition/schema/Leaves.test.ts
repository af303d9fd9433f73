import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pipelineJsonSchema } from "../../../../src/pipeline/definition/JsonSchema.ts"

const root = join(import.meta.dirname, "../../../..")

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** Every setting that a pipeline file may have, by the keys on the way to it. */
const leavesOf = (document: Json): ReadonlySet<string> => {
  const leaves = new Set<string>()
  /** Whether there are settings below. */
  const walk = (node: Json, path: ReadonlyArray<string>): boolean => {
    const { $ref: reference } = node
    if (typeof reference === "string") {
      const target = reference.split("/").slice(1).reduce<unknown>((at, key) => isObject(at) ? at[key] : undefined, document)
      return isObject(target) && walk(target, path)
    }
    const children = [
      ...["anyOf", "oneOf", "allOf"].flatMap((key) => Array.isArray(node[key]) ? node[key] : []).map((child) => [child, path] as const),
      ...["properties", "patternProperties"].flatMap((key) => isObject(node[key]) ? Object.entries(node[key]) : []).map(([key, child]) =>
        [child, [...path, /^[\w$]+$/.test(key) ? key : "*"]] as const
      ),
      ...(isObject(node["additionalProperties"]) ? [[node["additionalProperties"], [...path, "*"]] as const] : []),
      ...(isObject(node["items"]) ? [[node["items"], path] as const] : [])
    ]
    let inner = false
    for (const [child, at] of children) {
      if (!isObject(child)) continue
      const deeper = walk(child, at)
      if (!deeper && at.length > path.length) leaves.add(at.join("."))
      inner ||= deeper || at.length > path.length
    }
    return inner
  }
  walk(document, [])
  return leaves
}

/** Where the settings of a section do their work: never where they are decoded, checked or printed. */
const consumers: ReadonlyArray<readonly [section: RegExp, places: ReadonlyArray<string>]> = [
  [/^(?:name|renamedFrom)$/, ["src/pipeline/RunPipeline.ts"]],
  [/^engine\./, ["src/compose/Vertex.ts"]],
  [/^corpus\.embedding\.openai\./, ["src/compose/Embedded.ts"]],
  [/^corpus\.embedding\.local\./, ["src/models/LocalEmbedder.ts", "src/models/local"]],
  [/^corpus\.vectorDb\.(?:postgres|qdrant|lanceDb)\./, ["src/vectors", "src/compose/VectorStores.ts"]],
  [/^corpus\.vectorDb\./, ["src/wire/rag"]],
  [/^corpus\./, ["src/pipeline/RunPipeline.ts"]],
  [/^chunking\.chunker$/, ["src/pipeline/RunPipeline.ts"]],
  [/^chunking\.strategy/, ["src/text/chunk"]],
  [/^chunking\./, ["src/wire/rag", "src/text/chunk"]],
  [/^metadata\./, ["src/domain/MetadataRules.ts"]],
  [/^parsing\./, ["src/wire/rag"]],
  [/^import\./, [
    "src/pipeline/RunPipeline.ts",
    "src/compose/Embedded.ts",
    "src/pipeline/definition/FileLimits.ts",
    "src/compose/Vertex.ts"
  ]],
  [/^sources\..*\.poll$/, ["src/pipeline/watch/WatchPipeline.ts"]],
  [/^sources\..*\.(?:staging|listing)$/, ["src/pipeline/RunPipeline.ts"]],
  ...["local", "storage", "googleDrive", "slack", "jira", "sharePoint", "git", "web"].map((kind) =>
    [new RegExp(`^sources\\.[^.]+\\.${kind}\\.`), kind === "local" ? ["connectors/local"] : [`connectors/${kind}`]] as const
  ),
  [/^hooks\./, ["src/server/Hooks.ts", "src/cli/Hooks.ts"]],
  [/^notify\.private$/, ["src/domain/Hooks.ts"]],
  [/^notify\./, ["src/net/Deliver.ts", "src/pipeline/Notify.ts"]],
  [/^tests\./, ["src/pipeline/eval/Evaluation.ts", "src/pipeline/definition/TestSettings.ts"]],
  [/^judge\.model\.openai\./, ["src/compose/Models.ts"]],
  [/^parsers$/, ["src/pipeline/RunPipeline.ts"]],
  [/^judge\./, ["src/pipeline/eval/Evaluation.ts"]],
  [/^stages\.retrieve\.files/, ["src/pipeline/AskPipeline.ts", "src/pipeline/stages/Retrieve.ts"]],
  [/^stages\..*\bcrossEncoder\./, ["src/models/local"]],
  [/^stages\.(?:retrieve|rank)\./, ["src/wire/rag", "src/engines/vertex", "src/engines/embedded"]],
  [/^stages\.[^.]+\.model\.openai\./, ["src/compose/Models.ts"]],
  [/^stages\.[^.]+\.(?:temperature|topP|seed)$/, ["src/models"]],
  [/^stages\./, ["src/pipeline/AskPipeline.ts", "src/pipeline/ChatPipeline.ts", "src/pipeline/BatchPipeline.ts", "src/pipeline/stages"]]
]

/** What a setting is called once it is decoded, where it is called something else. */
const decoded: Readonly<Record<string, string>> = { folderPath: "folder", folderId: "folder", driveId: "drive" }

const textOf = (place: string): string =>
  place.endsWith(".ts")
    ? readFileSync(join(root, place), "utf8")
    : readdirSync(join(root, place), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
      .join("\n")

/** Takes a setting out of a value, by `value.key` or `{ key } = value`. Comments and declared types do not count. */
const reads = (text: string, key: string): boolean => {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/\/\/.*$/gm, "")
  return new RegExp(
    `\\.${key}\\b(?!\\()|[{,]\\s*${key}\\b(?:: \\w+| = [^,}]+)?\\s*(?=,|\\})[^{}()]*\\}[\\s}]*(?: = |: [A-Z{]|\\)(?::[^=]*)? ?=>|, \\w+\\) =>)`
  ).test(code)
}

describe("a setting", () => {
  const leaves = [...leavesOf(pipelineJsonSchema() as Json)]
    .filter((leaf) => leaf !== "$schema" && !leaf.startsWith("engines.") && !leaf.startsWith("use"))
    .toSorted()

  it("is read by the code that does what it says", () => {
    assert.isAbove(leaves.length, 100)
    const unread = leaves.filter((leaf) => {
      const places = consumers.find(([section]) => section.test(leaf))?.[1]
      const written = leaf.split(".").findLast((part) => part !== "*") ?? ""
      const key = decoded[written] ?? written
      return places === undefined || !places.some((place) => reads(textOf(place), key))
    })
    assert.strictEqual(unread.join("\n"), "")
  })

  it("that nothing reads is found", () => {
    const text =
      "/** retries */ interface A { readonly retries: number }\nconst { budget, requests: most } = pipeline.import // retries\nspec.sink\nf({ concurrency: 3 })"
    assert.deepStrictEqual(["retries", "budget", "requests", "sink", "concurrency"].filter((key) => reads(text, key)), [
      "budget",
      "requests",
      "sink"
    ])
  })
})
