/**
 * Copies the declarations that an entry of the package depends on into `dist/types`. The compiler writes all declarations to
 * another folder, which survives when `dist` is replaced, so that it only has to write changed ones.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"

const from = resolve("node_modules/.cache/types")
const to = resolve("dist/types")
const { exports }: { exports: Record<string, { readonly types: string }> } = JSON.parse(readFileSync("package.json", "utf8"))

rmSync(to, { recursive: true, force: true })
const reached = new Set<string>()
const open = Object.values(exports).map(({ types }) => join(from, relative(to, resolve(types))))
for (let file = open.pop(); file !== undefined; file = open.pop()) {
  if (reached.has(file)) continue
  reached.add(file)
  const copy = join(to, relative(from, file))
  mkdirSync(dirname(copy), { recursive: true })
  copyFileSync(file, copy)
  for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g)) {
    open.push(resolve(dirname(file), name.replace(/\.ts$/, ".d.ts").replace(/\.js$/, ".d.ts")))
  }
}
