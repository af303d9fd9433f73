import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { extname, join } from "node:path"
import { Random } from "./Random.ts"
import type { Edit, TextCorpus } from "./TextCorpus.ts"

/** Extensions of the files that are used from a folder of real texts. */
export const textEndings = [".md", ".rst", ".txt"] as const

const isText = (name: string): boolean => textEndings.some((ending) => ending === extname(name))

/** Least and most words of a question. */
const [fewest, most] = [3, 6] as const

/**
 * A corpus of texts that people wrote: a copy of a folder, since edits rewrite some of the files. Questions are consecutive words
 * from the texts; edits shuffle the words of one paragraph. It is the same for equal folders and seeds.
 */
export const realText = (from: string, seed: number): TextCorpus => {
  const filesOf = (folder: string): ReadonlyArray<string> =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && isText(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
  const files = filesOf(from)
  if (files.length === 0) throw new Error(`${from} has no file that ends in ${textEndings.join(", ")}`)
  const random = (purpose: number): Random => new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(purpose, 0x85ebca6b))
  return {
    about: `${files.length} files of ${from}`,
    files: files.length,
    write: (folder) => {
      cpSync(from, folder, { recursive: true, filter: (path) => statSync(path).isDirectory() || isText(path) })
      return files.reduce((sum, file) => sum + statSync(file).size, 0)
    },
    edit: (folder, fraction, round) => {
      const copies = filesOf(folder)
      return random(round).sample(copies, Math.max(1, Math.round(copies.length * fraction))).map((path): Edit => {
        const before = readFileSync(path, "utf8")
        const blocks = before.split("\n\n")
        const at = blocks.indexOf(blocks.toSorted((a, b) => b.length - a.length)[0] ?? "")
        const words = (blocks[at] ?? "").split(" ")
        blocks[at] = random(round).sample(words, words.length).join(" ")
        const after = blocks.join("\n\n")
        writeFileSync(path, after)
        return { path, before, after }
      })
    },
    queries: (count) => {
      const one = random(0)
      const queries: Array<string> = []
      while (queries.length < count) {
        const words = readFileSync(one.pick(files), "utf8").match(/\p{L}{2,}/gu) ?? []
        const length = one.between(fewest, most)
        const at = one.between(0, Math.max(0, words.length - length))
        queries.push(words.slice(at, at + length).join(" ") || "nothing")
      }
      return queries
    }
  }
}
