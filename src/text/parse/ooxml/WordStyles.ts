import { headingLevelOf, isTitleStyle } from "../HeadingStyle.ts"
import { childAt, eachElement, type XmlElement } from "../Xml.ts"

/** A list that a paragraph or a style belongs to. */
interface ListPlace {
  /** Id of the list. `undefined` inherits the list and sets only the level; "0" means no list. */
  readonly id: string | undefined
  readonly level: number | undefined
}

/** The structure that a paragraph style defines, including inherited properties. */
export interface ParagraphStyle {
  /** Level of a heading, 1 to 9; absent for other styles. */
  readonly heading?: number
  readonly title?: boolean
  readonly code?: boolean
  readonly list?: ListPlace
}

export type ParagraphStyles = (styleId: string | undefined) => ParagraphStyle

interface StyleDefinition {
  readonly names: ReadonlyArray<string>
  readonly basedOn: string | undefined
  readonly outline: number | undefined
  readonly list: ListPlace | undefined
}

const codeName = /^(?:html preformatted|preformatted text|source ?code|code(?: block)?|macro text)$/i

/** Outline level 10, stored as 9, is body text. */
const bodyOutline = 9

/** Reads styles.xml. A style's own outline level takes precedence, then its name, then the style it is based on. */
export const readParagraphStyles = (bytes: Uint8Array | undefined): ParagraphStyles => {
  const definitions = new Map<string, StyleDefinition>()
  if (bytes !== undefined) {
    eachElement(bytes, (name, parent) => name === "w:style" && parent === "w:styles", (element) => {
      const id = element.attributes["w:styleId"]
      if (id === undefined || (element.attributes["w:type"] ?? "paragraph") !== "paragraph") return
      const properties = childAt(element, "w:pPr")
      definitions.set(id, {
        names: [value(childAt(element, "w:name")) ?? "", id],
        basedOn: value(childAt(element, "w:basedOn")),
        outline: outlineLevel(properties),
        list: listPlace(properties)
      })
    })
  }
  const resolved = new Map<string, ParagraphStyle>()
  return (styleId) => {
    // A file without style definitions still names its styles.
    const id = styleId ?? ""
    let style = resolved.get(id)
    if (style === undefined) {
      style = resolve(definitions, id)
      resolved.set(id, style)
    }
    return style
  }
}

const resolve = (definitions: ReadonlyMap<string, StyleDefinition>, id: string): ParagraphStyle => {
  let outline: number | undefined
  let named: number | undefined
  let title = false
  let code = false
  let listId: string | undefined
  let listLevel: number | undefined
  const seen = new Set<string>()
  for (let at: string | undefined = id; at !== undefined && !seen.has(at);) {
    seen.add(at)
    const style: StyleDefinition = definitions.get(at) ??
      { names: [at], basedOn: undefined, outline: undefined, list: undefined }
    if (named === undefined) outline ??= style.outline
    if (outline === undefined) named ??= style.names.map(headingLevelOf).find((level) => level !== undefined)
    title ||= style.names.some(isTitleStyle)
    code ||= style.names.some((name) => codeName.test(name))
    listId ??= style.list?.id
    listLevel ??= style.list?.level
    at = style.basedOn
  }
  const heading = outline === undefined ? named : outline < bodyOutline ? outline + 1 : undefined
  return {
    heading,
    title: title ? title : undefined,
    code: code ? code : undefined,
    list: listId === undefined ? undefined : { id: listId, level: listLevel }
  }
}

export const value = (element: XmlElement | undefined): string | undefined => element?.attributes["w:val"]

/** The 0-based outline level of paragraph properties; 9 is body text. */
export const outlineLevel = (properties: XmlElement | undefined): number | undefined => {
  const level = Number(value(childAt(properties, "w:outlineLvl")) ?? Number.NaN)
  return Number.isInteger(level) && level >= 0 && level <= bodyOutline ? level : undefined
}

export const listPlace = (properties: XmlElement | undefined): ListPlace | undefined => {
  const place = childAt(properties, "w:numPr")
  if (place === undefined) return undefined
  const level = Number(value(childAt(place, "w:ilvl")) ?? Number.NaN)
  return { id: value(childAt(place, "w:numId")), level: level >= 0 && level <= 8 ? level : undefined }
}
