import { type BlockSink, oneLine, rowLine } from "../BlockSink.ts"
import { letters, roman } from "../Numerals.ts"
import { childAt, childElements, descendants, type XmlElement } from "../Xml.ts"
import { chooseAlternate } from "./AlternateContent.ts"
import { alternativeText, drawingParagraph, type Graphic, graphicOf } from "./Drawing.ts"

interface ShapeHooks {
  readonly graphic: (graphic: Graphic) => void
  /** Whether to write the text of a header, footer or date, which a slide show repeats on each slide. */
  readonly running: (text: string) => boolean
  /** Only shapes that fill no placeholder: for masters and layouts, whose placeholders contain prompts. Default false. */
  readonly own?: boolean
}

/** Writes the text of a shape tree, titles first as headings, and returns the title. */
export const shapeTree = (tree: XmlElement, sink: BlockSink, hooks: ShapeHooks): string | undefined => {
  const shapes = hooks.own === true ? flatShapes(tree).filter((shape) => placeholder(shape) === "") : flatShapes(tree)
  let title: string | undefined
  for (const shape of shapes.filter(isTitle)) {
    const text = oneLine(paragraphs(shape).map(drawingParagraph).join(" "))
    if (text === "") continue
    sink.add("heading", text, title === undefined ? 1 : 2)
    title ??= text
  }
  for (const shape of shapes) if (!isTitle(shape)) writeShape(shape, sink, hooks)
  return title
}

/** Shapes, pictures and graphic frames in order, taken out of their groups. */
const flatShapes = (tree: XmlElement): ReadonlyArray<XmlElement> =>
  childElements(tree).flatMap((child) => {
    if (child.name === "mc:AlternateContent") {
      const chosen = chooseAlternate(child)
      return chosen === undefined ? [] : flatShapes(chosen)
    }
    const local = child.name.slice(child.name.indexOf(":") + 1)
    if (local === "grpSp") return flatShapes(child)
    return local === "sp" || local === "cxnSp" || local === "graphicFrame" || local === "pic" ? [child] : []
  })

/** The kind of placeholder that a shape fills, "" for none. */
const placeholder = (shape: XmlElement): string => {
  const element = childAt(shape, "p:nvSpPr", "p:nvPr", "p:ph")
  return element === undefined ? "" : element.attributes["type"] ?? "obj"
}

const runningTypes = new Set(["hdr", "ftr", "dt"])

const isTitle = (shape: XmlElement): boolean => {
  const type = placeholder(shape)
  return type === "title" || type === "ctrTitle"
}

const paragraphs = (shape: XmlElement): ReadonlyArray<XmlElement> => descendants(shape, "a:p")

const writeShape = (shape: XmlElement, sink: BlockSink, hooks: ShapeHooks): void => {
  const isFrame = shape.name.endsWith("graphicFrame")
  if (isFrame || shape.name.endsWith("pic")) {
    // A master's pictures are decoration, the same on each slide.
    if (hooks.own !== true) sink.add("paragraph", alternativeText(descendants(shape, shape.name.replace(/[^:]+$/, "cNvPr"))[0]))
    return isFrame ? writeFrame(shape, sink, hooks) : undefined
  }
  const type = placeholder(shape)
  if (type === "sldNum" || type === "sldImg") return
  const found = paragraphs(shape)
  if (runningTypes.has(type) && !hooks.running(found.map(drawingParagraph).join("\n"))) return
  // Placeholders for content take their bullets from the layout.
  const bulleted = (type === "body" || type === "obj") &&
    found.filter((paragraph) => drawingParagraph(paragraph).trim() !== "").length > 1
  const numbers = new Map<number, number>()
  for (const paragraph of found) writeParagraph(paragraph, bulleted, numbers, sink)
}

const writeParagraph = (
  paragraph: XmlElement,
  bulleted: boolean,
  numbers: Map<number, number>,
  sink: BlockSink
): void => {
  const text = drawingParagraph(paragraph)
  if (text.trim() === "") return
  const properties = childAt(paragraph, "a:pPr")
  const level = Number(properties?.attributes["lvl"] ?? 0)
  for (const deeper of numbers.keys()) if (deeper > level) numbers.delete(deeper)
  const automatic = childAt(properties, "a:buAutoNum")
  if (automatic === undefined) {
    const bullet = bulleted && childAt(properties, "a:buNone") === undefined ||
      childAt(properties, "a:buChar") !== undefined
    if (bullet) sink.item(level, "-", text)
    else sink.add("paragraph", text)
    return
  }
  const number = (numbers.get(level) ?? Number(automatic.attributes["startAt"] ?? 1) - 1) + 1
  numbers.set(level, number)
  sink.item(level, numberLabel(automatic.attributes["type"] ?? "", number), text)
}

/** The label of an automatic number: `arabicPeriod` is `1.`, `alphaLcParenBoth` is `(a)`. */
const numberLabel = (type: string, number: number): string => {
  const lower = type.startsWith("alpha") ? letters(number) : type.startsWith("roman") ? roman(number) : String(number)
  const sign = type.includes("Uc") ? lower.toUpperCase() : lower
  if (type.endsWith("ParenBoth")) return `(${sign})`
  if (type.endsWith("ParenR")) return `${sign})`
  return type.endsWith("Plain") ? sign : `${sign}.`
}

const writeFrame = (frame: XmlElement, sink: BlockSink, hooks: ShapeHooks): void => {
  const data = descendants(frame, "a:graphicData")[0]
  if (data === undefined) return
  for (const table of descendants(data, "a:tbl")) {
    const rows = childElements(table, "a:tr").map((row) =>
      rowLine(childElements(row, "a:tc").map((cell) => oneLine(descendants(cell, "a:p").map(drawingParagraph).join(" "))))
    )
    sink.add("table", rows.filter((row) => row !== "").join("\n"))
  }
  for (const element of ["c:chart", "cx:chart", "dgm:relIds"].flatMap((name) => descendants(data, name))) {
    const graphic = graphicOf(element)
    if (graphic !== undefined) hooks.graphic(graphic)
  }
}
