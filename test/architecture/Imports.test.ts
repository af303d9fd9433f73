import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"

const root = resolve(import.meta.dirname, "../..")

/** What each folder may import of ours, besides itself. The picture is in the README's "Architecture". */
const allowed: Record<string, ReadonlyArray<string>> = {
  "src/domain": [],
  "src/ports": ["src/domain"],
  "src/net": ["src/domain", "src/ports"],
  "src/text": ["src/domain", "src/ports"],
  "src/state": ["src/domain", "src/ports"],
  "src/jobs": ["src/domain", "src/ports", "src/state"],
  "src/secrets": ["src/domain", "src/ports", "src/net"],
  "src/models": ["src/domain", "src/ports", "src/net", "src/text"],
  "src/vectors": ["src/domain", "src/ports", "src/net"],
  "src/search": ["src/domain", "src/ports", "src/text"],
  "src/engines/embedded": ["src/domain", "src/ports", "src/text", "src/state", "src/jobs", "src/search"],
  "src/wire": ["src/domain"],
  "src/engines/vertex": ["src/domain", "src/ports", "src/net", "src/text", "src/jobs", "src/wire"],
  "src/server": ["src/domain", "src/ports", "src/jobs", "src/wire", "src/mcp", "src/ui"],
  "src/pipeline": ["src/domain", "src/ports", "src/text"],
  "src/mcp": ["src/domain", "src/ports", "src/text"],
  /** What runs in the browser takes types from its own folder alone. */
  "src/ui/page": ["src/ui", "src/domain"],
  "src/ui": ["src/domain", "src/ports", "src/text", "src/search", "src/mcp"],
  "src/cli": ["src/domain", "src/ports", "src/pipeline", "src/text", "src/models", "src/compose", "src/mcp", "src/ui"],
  /** Written as a connector of anyone's: with the kit and nothing else. */
  "connectors/git": ["src/ConnectorKit.ts"],
  "connectors/web": ["src/ConnectorKit.ts"],
  connectors: ["connectors/git", "connectors/web", "src/domain", "src/ports", "src/net", "src/text", "src/kit"],
  "src/compose": [
    "src/domain",
    "src/ports",
    "src/net",
    "src/text",
    "src/state",
    "src/secrets",
    "src/models",
    "src/vectors",
    "src/engines/embedded",
    "src/engines/vertex",
    "src/mcp",
    "src/ui",
    "src/server",
    "src/pipeline"
  ],
  "src/kit": ["src/domain", "src/ports", "src/net", "src/text"],
  /** What connectors are written with. */
  "src/ConnectorKit.ts": ["src/kit", "src/domain", "src/ports", "src/net"],
  /** The library's entry. */
  "src/index.ts": ["src/domain", "src/ports", "src/text", "src/pipeline", "src/compose"],
  /** Models of effect/ai. */
  "src/Ai.ts": ["src/models"],
  /** For tests of programs. */
  "src/Testing.ts": ["src/domain", "src/ports", "src/models", "src/pipeline", "src/compose"],
  /** The same without Effect. */
  "src/Promise.ts": ["src/domain", "src/ports", "src/pipeline", "src/compose"],
  /** The composition root: the only place that sees commands and connectors together. */
  "src/Program.ts": ["src/cli", "connectors"],
  "src/main.ts": ["src/domain", "src/Program.ts"],
  "src/bin.ts": ["src/main.ts"]
}

const places = Object.keys(allowed)

const placeOf = (file: string): string | undefined => places.find((place) => file === place || file.startsWith(`${place}/`))

const sources = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))

const files = [...sources("src"), ...sources("connectors")]

/** Static, dynamic and type imports, and re-exports, of relative modules. */
const importsOf = (file: string): ReadonlyArray<string> =>
  [...readFileSync(join(root, file), "utf8").matchAll(/(?:from|import\()\s*"(\.{1,2}\/[^"]+\.tsx?)"|^import "(\.{1,2}\/[^"]+\.tsx?)"/gm)]
    .map((match) => relative(root, resolve(root, dirname(file), match[1] ?? match[2] ?? "")))

describe("imports", () => {
  it("every source file is in a place that has rules", () => {
    assert.deepStrictEqual(files.filter((file) => placeOf(file) === undefined), [])
  })

  it("run in the directions allowed, and no other", () => {
    const wrong = files.flatMap((file) => {
      const from = placeOf(file)
      return importsOf(file).flatMap((imported) => {
        const to = placeOf(imported)
        if (from === undefined || to === undefined || from === to) return []
        return allowed[from]?.includes(to) === true ? [] : [`${file} -> ${imported}`]
      })
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("form no circle of files, types included", () => {
    const graph = new Map(files.map((file) => [file, staticImportsOf(file)]))
    const state = new Map<string, "open" | "closed">()
    const circles: Array<string> = []
    const visit = (file: string, path: ReadonlyArray<string>): void => {
      if (state.get(file) === "closed") return
      if (state.get(file) === "open") {
        circles.push([...path.slice(path.indexOf(file)), file].join(" -> "))
        return
      }
      state.set(file, "open")
      for (const next of graph.get(file) ?? []) visit(next, [...path, file])
      state.set(file, "closed")
    }
    for (const file of files) visit(file, [])
    assert.deepStrictEqual(circles, [])
  })

  it("find something to check", () => {
    assert.isAbove(files.flatMap(importsOf).length, 200)
  })
})

/** Imports and re-exports, of values and of types; what is loaded on use may lead back. */
const staticImportsOf = (file: string): ReadonlyArray<string> =>
  [...readFileSync(join(root, file), "utf8").matchAll(/^(?:import|export) [^"]*?from "(\.{1,2}\/[^"]+\.tsx?)"/gm)]
    .map((match) => relative(root, resolve(root, dirname(file), match[1] ?? "")))
