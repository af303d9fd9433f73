import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { expect, it } from "vitest"

const root = join(import.meta.dirname, "../..")
const pages = ["*.md", "docs/*.md", "docs/log/*.md"].flatMap((pattern) => globSync(pattern, { cwd: root }))

/** Fenced code has neither links nor headings. */
const textOf = (page: string): string => readFileSync(join(root, page), "utf8").replace(/^```[\s\S]*?^```/gm, "")

/** The anchors that GitHub gives headings. */
const anchorsOf = (page: string): ReadonlySet<string> =>
  new Set(
    [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
      heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-")
    )
  )

it("every link of a page leads to a file that is there, and to a heading of it", () => {
  const links = pages.flatMap((page) =>
    [...textOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(([link, path = "", anchor]) => ({
      page,
      link,
      path,
      anchor
    }))
  )
  const broken = links.filter(({ anchor, page, path }) => {
    const target = path === "" ? page : relative(root, join(root, dirname(page), path))
    return !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(target).has(anchor))
  })
  expect(links.length).toBeGreaterThan(50)
  expect(broken.map(({ link, page }) => `${page}: ${link}`)).toEqual([])
})

it("every TypeScript file that a comment names is there", () => {
  const code = globSync(["{src,connectors,test,bench,examples,scripts}/**/*.{ts,tsx}", "*.ts"], {
    cwd: root,
    exclude: ["bench/peers/**", "**/node_modules/**"]
  })
  const isThere = (name: string): boolean => code.some((file) => file === name || file.endsWith(`/${name}`))
  const named = code.flatMap((file) =>
    (readFileSync(join(root, file), "utf8").match(/\/\*[\s\S]*?\*\/|(?:^|\s)\/\/.*$/gm) ?? []).flatMap((comment) =>
      [...comment.matchAll(/(?<![\w@/.*-])(?:\.{1,2}\/)*([\w./-]*\w\.tsx?)\b/g)].map(([, name = ""]) => ({ file, name }))
    )
  )
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter(({ name }) => !isThere(name)).map(({ file, name }) => `${file}: ${name}`)).toEqual([])
})
