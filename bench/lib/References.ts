import { walkHtml } from "../../src/text/parse/html/HtmlTokens.ts"
import { childAt, childElements, descendants, parseXml, textContent, type XmlElement } from "../../src/text/parse/Xml.ts"
import { openZip } from "../../src/text/parse/Zip.ts"
import { defaultLimits } from "../../src/text/Prepared.ts"

/** Frequencies of the words in a text: runs of Unicode word characters in lower case, NFKC. Each CJK character is a word. */
export const wordCounts = (text: string): Map<string, number> => {
  const counts = new Map<string, number>()
  const plain = text.normalize("NFKC").toLowerCase().replace(/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/g, " $& ")
  for (const word of plain.match(/[\p{L}\p{N}]+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

/** Words of a reference that a parser need not find, and the rule that excuses them. */
interface Excuse {
  readonly rule: string
  readonly words: ReadonlyMap<string, number>
}

/**
 * Words that are in the reference but that parsers omit on purpose, or that are wrong in the reference. Each rule depends on the
 * file or the reference alone, never on the parsed text. A word is excused as often as a rule names it.
 */
export const excuses = (name: string, bytes: Uint8Array, reference: string): ReadonlyArray<Excuse> => {
  const extension = name.slice(name.lastIndexOf(".") + 1).toLowerCase()
  const rules: ReadonlyArray<readonly [rule: string, text: () => string]> = [
    ["the reference has U+FFFD in or beside it", () => reference.match(/[\p{L}\p{N}\ufffd]*\ufffd[\p{L}\p{N}\ufffd]*/gu)?.join(" ") ?? ""],
    ...(/^x?html?$/.test(extension) ? [["in navigation, footer, sidebar or hidden", () => besides(bytes)] as const] : []),
    ...(/^od[tsp]$/.test(extension)
      ? [["author, date or deleted text of a change, pattern of an index", () => records(bytes)] as const]
      : []),
    ...(/^pp[ts][xm]$/.test(extension) ? [["number of a slide, or its date or footer again", () => running(bytes)] as const] : []),
    ...(/^doc[xm]$/.test(extension) ? [["in the fallback of a drawing", () => fallbacks(bytes)] as const] : [])
  ]
  return rules.flatMap(([rule, text]) => {
    const words = wordCounts(text())
    return words.size === 0 ? [] : [{ rule, words }]
  })
}

const asideNames: ReadonlySet<string> = new Set(["nav", "footer", "aside", "script", "style", "template", "select"])
const asideRoles: ReadonlySet<string> = new Set(["navigation", "search", "contentinfo", "menu", "menubar", "toolbar"])

const besides = (bytes: Uint8Array): string => {
  const texts: Array<string> = []
  const open: Array<boolean> = []
  walkHtml(new TextDecoder().decode(bytes), {
    open: (name, attributes) => {
      const aside = asideNames.has(name) || asideRoles.has(attributes.get("role") ?? "") || attributes.has("hidden") ||
        attributes.get("aria-hidden") === "true" || /display\s*:\s*none/i.test(attributes.get("style") ?? "")
      open.push(aside || open.at(-1) === true)
      texts.push(" ")
    },
    close: () => {
      open.pop()
      texts.push(" ")
    },
    text: (data) => {
      if (open.at(-1) === true) texts.push(data)
    }
  }, false)
  return texts.join("")
}

/** The XML trees of the parts of a package whose names match; an empty list where it cannot be opened. */
const parts = (bytes: Uint8Array, names: RegExp): ReadonlyArray<XmlElement> => {
  try {
    const zip = openZip(bytes, defaultLimits)
    return zip.names().filter((name) => names.test(name)).map((name) => parseXml(zip.read(name)!))
  } catch {
    return []
  }
}

const all = (element: XmlElement, test: (element: XmlElement) => boolean): ReadonlyArray<XmlElement> =>
  childElements(element).flatMap((child) => test(child) ? [child] : all(child, test))

const records = (bytes: Uint8Array): string =>
  parts(bytes, /^content\.xml$/)
    .flatMap((part) => all(part, ({ name }) => /^(?:dc:creator|dc:date|text:tracked-changes|text:.*-source)$/.test(name)))
    .map(spaced).join(" ")

const fallbacks = (bytes: Uint8Array): string =>
  parts(bytes, /^word\/[a-z]+\d*\.xml$/).flatMap((part) => descendants(part, "mc:Fallback")).map((one) =>
    descendants(one, "w:p").map(textContent).join(" ")
  ).join(" ")

/** The text of an element, with a blank between child elements. */
const spaced = (element: XmlElement): string =>
  element.children.map((child) => typeof child === "string" ? child : ` ${spaced(child)} `).join("")

const running = (bytes: Uint8Array): string => {
  const seen = new Set<string>()
  return parts(bytes, /^ppt\/(?:slides|notesSlides)\/[^/]+\.xml$/).flatMap((part) => descendants(part, "p:sp")).flatMap((shape) => {
    const type = childAt(shape, "p:nvSpPr", "p:nvPr", "p:ph")?.attributes["type"] ?? ""
    const text = descendants(shape, "a:p").map(textContent).join(" ")
    if (type === "sldNum") return [text]
    if (type !== "dt" && type !== "ftr" && type !== "hdr") return []
    if (seen.has(text)) return [text]
    seen.add(text)
    return []
  }).join(" ")
}
