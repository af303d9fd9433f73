import { Readability } from "@mozilla/readability"
import { Parser } from "htmlparser2"
import { parseHTML } from "linkedom"
import { markdownFromHtml } from "../../src/ConnectorKit.ts"
import { canonical } from "./Site.ts"

/** What a page states for crawlers. */
interface PageFacts {
  readonly title: string | undefined
  /** The address that the page declares as its own. */
  readonly canonical: string | undefined
  readonly index: boolean
  /** Addresses of the links that may be followed, in order, each once. */
  readonly links: ReadonlyArray<string>
}

/** Most links of one page that are read. */
const maxLinks = 5_000
/** Most elements of a page whose main content is searched for; of a larger page, all text is taken. */
const maxElements = 50_000
/** Characters of main content below which all text is taken: pages of links, and pages that are not articles. */
const enoughCharacters = 200

/** A page's text, by the charset that its header or its `meta` names. Default UTF-8. */
export const textOf = (bytes: Uint8Array, contentType: string | undefined): string => {
  const named = /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType ?? "")?.[1] ??
    /<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(
      Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4_096)).toString("latin1")
    )?.[1]
  try {
    return new TextDecoder(named ?? "utf-8").decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}

export const factsOf = (html: string, address: string, robotsTag: string | undefined): PageFacts => {
  let base = address
  let own: string | undefined
  let title: string | undefined
  let inTitle = false
  let directives = robotsTag ?? ""
  const links = new Set<string>()
  const parser = new Parser({
    onopentag: (name, attributes) => {
      const rel = attributes["rel"]?.toLowerCase() ?? ""
      const { href } = attributes
      if (name === "base" && href !== undefined && base === address) base = URL.parse(href, address)?.href ?? address
      else if (name === "title" && title === undefined) [inTitle, title] = [true, ""]
      else if (name === "meta" && /^(?:robots|sluice)$/i.test(attributes["name"] ?? "")) directives += `,${attributes["content"] ?? ""}`
      else if (name === "link" && /(?:^|\s)canonical(?:\s|$)/.test(rel) && href !== undefined) own ??= canonical(href, base)
      else if ((name === "a" || name === "area") && href !== undefined && !/(?:^|\s)nofollow(?:\s|$)/.test(rel) && links.size < maxLinks) {
        const link = canonical(href.trim(), base)
        if (link !== undefined) links.add(link)
      }
    },
    ontext: (text) => {
      if (inTitle) title += text
    },
    onclosetag: (name) => {
      if (name === "title") inTitle = false
    }
  }, { decodeEntities: true })
  parser.end(html)
  const says = (word: string): boolean => new RegExp(`(?:^|[\\s,:])(?:${word}|none)(?:[\\s,]|$)`, "i").test(directives)
  return {
    title: title?.replace(/\s+/g, " ").trim() || undefined,
    canonical: own,
    index: !says("noindex"),
    links: says("nofollow") ? [] : [...links]
  }
}

/** The main content of a page as Markdown, under its title; all its text where no main content is found. */
export const markdownOf = (html: string): string => {
  const all = markdownFromHtml(html)
  const article = articleOf(html)
  if (article === undefined) return all.markdown
  const { markdown } = markdownFromHtml(article.content)
  if (markdown.length < Math.min(enoughCharacters, all.markdown.length)) return all.markdown
  const title = article.title.replace(/\s+/g, " ").trim()
  return title === "" || markdown.startsWith(`# ${title}`) ? markdown : `# ${title}\n\n${markdown}`
}

const articleOf = (html: string): { readonly title: string; readonly content: string } | undefined => {
  try {
    const { document } = parseHTML(html)
    const article = new Readability(document as unknown as ConstructorParameters<typeof Readability>[0], { maxElemsToParse: maxElements })
      .parse()
    return typeof article?.content === "string" ? { title: article.title ?? "", content: article.content } : undefined
  } catch {
    // Too large, or nothing that a browser would show: its text is taken instead.
    return undefined
  }
}
