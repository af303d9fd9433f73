/** Removes the declarations that no entry of the package leads to. */
import { existsSync, readdirSync, readFileSync, rmSync, rmdirSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

const root = resolve("dist/types")
const { exports }: { exports: Record<string, { readonly types: string }> } = JSON.parse(readFileSync("package.json", "utf8"))

const reached = new Set<string>()
const open = Object.values(exports).map(({ types }) => resolve(types))
for (let file = open.pop(); file !== undefined; file = open.pop()) {
  if (reached.has(file)) continue
  reached.add(file)
  for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g)) {
    open.push(resolve(dirname(file), name.replace(/\.ts$/, ".d.ts").replace(/\.js$/, ".d.ts")))
  }
}

const prune = (folder: string): void => {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) prune(path)
    else if (!reached.has(path)) rmSync(path)
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder)
}
if (existsSync(root)) prune(root)
