/**
 * `npm run docs`: writes the reference of the package to `docs/api` (not in git), one page per entry, from the packed
 * declarations. TypeDoc does not run on TypeScript 7.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { entries, type Exported, exportsOf } from "./api.ts"

const folder = "docs/api"

const anchor = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, "")

/** The text of a doc comment, without TypeScript's tags, and with examples under a heading. */
const proseOf = (docs: string): string =>
  docs.replace(/\{@link ([^}]+)\}/g, "`$1`").replace(/^@example\n?/m, "\nExample:\n\n").replace(/^@throws /m, "\nThrows: ")

const section = ({ declarations, name }: Exported): string =>
  [
    `## ${name}`,
    ...declarations.map(({ docs }) => proseOf(docs)).filter((docs) => docs !== ""),
    `\`\`\`ts\n${declarations.map(({ text }) => text.replaceAll("export declare ", "export ")).join("\n\n")}\n\`\`\``
  ].join("\n\n")

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const pages = Object.entries(entries).map(([entry, file]) => {
  const declarations = resolve("dist/types", file.replace(/\.ts$/, ".d.ts"))
  if (!existsSync(declarations)) throw new Error(`${declarations} is missing: run npm run build`)
  const exported = exportsOf(declarations)
  const page = `${entry.replace("/", "-")}.md`
  const names = exported.map(({ name }) => `[${name}](#${anchor(name)})`).join(", ")
  writeFileSync(join(folder, page), `# ${entry}\n\n${names}\n\n${exported.map(section).join("\n\n")}\n`)
  return `- [${entry}](${page}): ${exported.length} names`
})
writeFileSync(join(folder, "README.md"), `# Reference\n\n${pages.join("\n")}\n`)
console.log(pages.join("\n"))
