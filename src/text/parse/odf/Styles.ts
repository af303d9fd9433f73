import { headingLevelOf, isTitleStyle } from "../HeadingStyle.ts"
import { letters, roman } from "../Numerals.ts"
import { childElements, eachElement, type XmlElement } from "../Xml.ts"

/** The structure that a paragraph style defines, including inherited properties. */
export interface ParagraphStyle {
  readonly heading?: number
  readonly title?: boolean
  readonly code?: boolean
}

/** The label of an item at one depth of a list. */
type ListLabel = (number: number) => string

export interface DocumentStyles {
  /** Whether a sheet or a slide of this style is hidden. */
  readonly hides: (name: string | undefined) => boolean
  readonly paragraph: (name: string | undefined) => ParagraphStyle
  /** Labels by list style and 0-based depth. Items of unknown lists are bulleted. */
  readonly list: (name: string | undefined, depth: number) => ListLabel
}

interface StyleDefinition {
  readonly parent: string | undefined
  readonly displayName: string
  readonly outline: number | undefined
}

const codeName = /^(?:preformatted[ _]text|source[ _]?(?:code|text)|code)$/i

const bullet: ListLabel = () => "-"

/** Reads the common styles of styles.xml and the automatic ones of content.xml. */
export const readStyles = (parts: ReadonlyArray<Uint8Array>): DocumentStyles => {
  const styles = new Map<string, StyleDefinition>()
  const hiding = new Set<string>()
  const lists = new Map<string, ReadonlyMap<number, ListLabel>>()
  for (const part of parts) {
    let body = false
    const isStyle = (name: string): boolean => {
      body ||= name === "office:body"
      return name === "style:style" || name === "text:list-style"
    }
    eachElement(part, isStyle, (element) => {
      const name = element.attributes["style:name"] ?? ""
      if (element.name === "text:list-style") {
        lists.set(
          name,
          new Map(
            childElements(element).map((level) => [
              Number(level.attributes["text:level"]) - 1,
              level.name === "text:list-level-style-number" ? numberLabel(level.attributes) : bullet
            ])
          )
        )
      } else if (hidden(element)) {
        hiding.add(name)
      } else if (element.attributes["style:family"] === "paragraph") {
        const outline = Number(element.attributes["style:default-outline-level"] || Number.NaN)
        styles.set(name, {
          parent: element.attributes["style:parent-style-name"],
          displayName: element.attributes["style:display-name"] ?? name,
          outline: Number.isInteger(outline) ? outline : undefined
        })
      }
    }, () => body)
  }
  const resolved = new Map<string, ParagraphStyle>()
  return {
    hides: (name = "") => hiding.has(name),
    paragraph: (name = "") => {
      let style = resolved.get(name)
      if (style === undefined) {
        style = resolve(styles, name)
        resolved.set(name, style)
      }
      return style
    },
    list: (name = "", depth) => lists.get(name)?.get(depth) ?? bullet
  }
}

/** Whether a style hides. OpenOffice.org 1 had this in `style:properties`. */
const hidden = (style: XmlElement): boolean =>
  (style.attributes["style:family"] === "table" || style.attributes["style:family"] === "drawing-page") &&
  childElements(style).some(({ attributes }) =>
    attributes["table:display"] === "false" || attributes["presentation:visibility"] === "hidden"
  )

const resolve = (styles: ReadonlyMap<string, StyleDefinition>, name: string): ParagraphStyle => {
  let heading: number | undefined
  let title = false
  let code = false
  const seen = new Set<string>()
  for (let at: string | undefined = name; at !== undefined && !seen.has(at);) {
    seen.add(at)
    const style: StyleDefinition | undefined = styles.get(at)
    const names = [at.replaceAll("_20_", " "), style?.displayName ?? ""]
    heading ??= style?.outline ?? names.map(headingLevelOf).find((level) => level !== undefined)
    title ||= names.some(isTitleStyle)
    code ||= names.some((candidate) => codeName.test(candidate))
    at = style?.parent
  }
  return {
    heading,
    title: title ? title : undefined,
    code: code ? code : undefined
  }
}

const numberLabel = (attributes: Readonly<Record<string, string>>): ListLabel => {
  const format = attributes["style:num-format"] ?? ""
  if (format === "") return () => "-"
  const prefix = attributes["style:num-prefix"] ?? ""
  const suffix = attributes["style:num-suffix"] ?? ""
  const start = Number(attributes["text:start-value"] ?? 1)
  return (number) => {
    const n = start + number - 1
    const sign = format.toLowerCase() === "a" ? letters(n) : format.toLowerCase() === "i" ? roman(n) : String(n)
    return `${prefix}${format === "A" || format === "I" ? sign.toUpperCase() : sign}${suffix}`.trim()
  }
}
