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
