import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { root } from "../support/Root.ts"

const code = globSync(["{src,connectors,test,bench,examples,scripts}/**/*.ts"], { cwd: root, exclude: ["bench/peers/**"] })

/** Named and not yet written: the list gets shorter, never longer. `npm run docs` makes the reference. */
const unwritten = ["docs/search.md", "docs/api"]

describe("files", () => {
  it("of modules have names in PascalCase, and programs that Node starts in small letters", () => {
    const programs = /^(?:index|main|bin|worker)\.ts$|\.worker\.ts$|\.d\.ts$/
    const modules = code.filter((file) => /^(?:src|connectors|test)\//.test(file) && !programs.test(basename(file)))
    const wrong = modules.filter((file) => !/^[A-Z][A-Za-z0-9]*(?:\.[A-Za-z]+)*\.ts$/.test(basename(file)))
    assert.deepStrictEqual(wrong, [])
  })

  it("differ in more than case, for some file systems do not tell it apart", () => {
    const lower = code.map((file) => file.toLowerCase())
    assert.deepStrictEqual(code.filter((file, at) => lower.indexOf(file.toLowerCase()) !== at), [])
  })
})

describe("comments", () => {
  /** Notes that somebody had while writing: what they say belongs into the comment. */
  const elsewhere = /platform-api|\bWIRE\b|\b[Ww]ire (?:section|row|\d)|\bDESIGN\b|\b[Ss]pec(?:ification)? section|issue #?\d/

  const commentsOf = (text: string): ReadonlyArray<string> => text.match(/\/\*[\s\S]*?\*\/|(?:^|\s)\/\/.*$/gm) ?? []

  it("cite no document that is not in the repository", () => {
    const wrong = code.filter((file) => /^(?:src|connectors)\//.test(file)).flatMap((file) =>
      commentsOf(readFileSync(join(root, file), "utf8")).flatMap((comment) => {
        const cited = [...comment.matchAll(/\b(?:docs|test|bench)\/[\w./-]+\.\w+|\b[A-Z]+\.md\b/g)].map(([path]) => path)
        const missing = cited.filter((path) => !unwritten.includes(path) && globSync(path, { cwd: root }).length === 0)
        return [...missing, ...(elsewhere.exec(comment) ?? [])].map((citation) => `${file}: ${citation}`)
      })
    )
    assert.deepStrictEqual(wrong, [])
  })
})

describe("pages", () => {
  it("name files and folders that are there", () => {
    const pages = globSync(["*.md", "docs/*.md", "docs/log/*.md"], { cwd: root })
    assert.include(pages, "ARCHITECTURE.md")
    const missing = pages.flatMap((page) => {
      const named = readFileSync(join(root, page), "utf8").matchAll(
        /`((?:src|connectors|test|bench|docs|examples|pipelines|scripts)\/[\w./*-]+)`|\]\((?!https?:)([^)#]+)[^)]*\)/g
      )
      return [...named].flatMap(([, path, link]) => {
        const file = path ?? join(dirname(page), link ?? "")
        return unwritten.includes(file) || globSync(file, { cwd: root }).length > 0 ? [] : [`${page}: ${file}`]
      })
    })
    assert.deepStrictEqual(missing, [])
  })
})

describe("the lock file", () => {
  it("has every package of every platform: npm ci refuses one that has not", () => {
    interface Entry {
      readonly dependencies?: Record<string, string>
      readonly optionalDependencies?: Record<string, string>
    }
    const { packages }: { packages: Record<string, Entry> } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"))
    const there = new Set(Object.keys(packages).map((path) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)))
    const missing = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => there.has(name) ? [] : [`${path}: ${name}`])
    )
    assert.deepStrictEqual(missing, [])
  })
})
