import { type BlockSink, oneLine, rowLine } from "../BlockSink.ts"
import { childAt, childElements, descendants, eachElement, parseXml, textContent, type XmlElement } from "../Xml.ts"
import type { OfficePackage } from "./Package.ts"

/** A drawing in a separate part. */
export interface Graphic {
  readonly kind: "chart" | "diagram"
  readonly relationship: string
}

/** The graphic that an element refers to. */
export const graphicOf = (element: XmlElement): Graphic | undefined => {
  if (element.name === "c:chart" || element.name === "cx:chart") return { kind: "chart", relationship: element.attributes["r:id"] ?? "" }
  if (element.name === "dgm:relIds") return { kind: "diagram", relationship: element.attributes["r:dm"] ?? "" }
  return undefined
}

/** Descriptions that programs generate where nobody described a picture: its file name, or a number. */
const noDescription =
  /^(?:[a-z]:[\\/]|[\\/]|(?:https?|file|cid):)|\.(?:png|jpe?g|gif|bmp|tiff?|[ew]mf|svg|webp|pcx|pdf)(?:\?\S*)?$|^(?:picture|image|graphic|bild|grafik|imagem?|immagine|foto)?\s*\d*$/i

/** The description of a picture or graphic for people who cannot see it (`descr` of `docPr` or `cNvPr`); "" where it has none. */
export const alternativeText = (properties: XmlElement | undefined): string => {
  const text = oneLine(properties?.attributes["descr"] ?? "").replace(/ ?Description automatically generated(?: with \w+ confidence)?$/, "")
  return noDescription.test(text) ? "" : text
}

/** Most points of a chart that are written as table rows; a chart with more is a picture, not something to read. */
const maxChartPoints = 1_000

/** The text of a DrawingML paragraph. Fields (`a:fld`) are included, except for slide numbers. */
export const drawingParagraph = (paragraph: XmlElement): string => {
  const parts: Array<string> = []
  for (const child of childElements(paragraph)) {
    if (child.name === "a:br") parts.push("\n")
    else if (child.name === "a:fld" && child.attributes["type"] === "slidenum") continue
    else if (child.name === "a:r" || child.name === "a:fld") parts.push(textContent(childAt(child, "a:t")))
    else for (const text of descendants(child, "m:t")) parts.push(textContent(text))
  }
  return parts.join("")
}

/** Writes every paragraph of the text bodies below an element, one block each. */
export const drawingText = (element: XmlElement, sink: BlockSink): void => {
  for (const paragraph of descendants(element, "a:p")) sink.add("paragraph", drawingParagraph(paragraph))
}

/** Writes the chart or diagram of a part, by relationship. */
export const graphicBlocks = (pack: OfficePackage, part: string, graphic: Graphic, sink: BlockSink): void => {
  const bytes = pack.part(pack.target(part, graphic.relationship) ?? "")
  if (bytes === undefined) return
  if (graphic.kind === "diagram") return diagramBlocks(bytes, sink)
  const root = parseXml(bytes)
  if (root?.name === "cx:chartSpace") return newChartBlocks(root, sink)
  chartBlocks(root, sink)
  const drawn = pack.relatedPart(pack.target(part, graphic.relationship) ?? "", "chartUserShapes")
  if (drawn !== undefined) drawingText(parseXml(drawn) ?? noElement, sink)
}

const noElement: XmlElement = { name: "", attributes: {}, children: [] }

/** Writes a chart part: its title, then its cached figures as a table with a column for each series, then custom labels. */
const chartBlocks = (root: XmlElement | undefined, sink: BlockSink): void => {
  const chart = childAt(root, "c:chart")
  if (chart === undefined) return
  const titles = [childAt(chart, "c:title"), ...childElements(childAt(chart, "c:plotArea")).map((axis) => childAt(axis, "c:title"))]
  for (const title of titles) {
    if (title === undefined) continue
    drawingText(title, sink)
    // The text of a cell that the title refers to.
    const cells = childAt(title, "c:tx", "c:strRef", "c:strCache")
    sink.add("paragraph", cells === undefined ? "" : oneLine(descendants(cells, "c:pt").map(textContent).join(" ")))
  }
  const series = descendants(chart, "c:ser").flatMap((ser) => {
    const one: Series = {
      name: oneLine(textContent(childAt(ser, "c:tx", "c:strRef", "c:strCache", "c:pt", "c:v") ?? childAt(ser, "c:tx", "c:v"))),
      labels: points(childAt(ser, "c:cat") ?? childAt(ser, "c:xVal")),
      values: points(childAt(ser, "c:val") ?? childAt(ser, "c:yVal"))
    }
    const sizes = points(childAt(ser, "c:bubbleSize"))
    return sizes.size === 0 ? [one] : [one, { name: "", labels: one.labels, values: sizes }]
  })
  writeSeries(series, sink)
  for (const label of descendants(chart, "c:dLbl")) drawingText(label, sink)
}

/** A series of a chart: its name, and its points by index. */
interface Series {
  readonly name: string
  readonly labels: ReadonlyMap<number, string>
  readonly values: ReadonlyMap<number, string>
}

/** A table with a column for each series. */
const writeSeries = (series: ReadonlyArray<Series>, sink: BlockSink): void => {
  const first = series[0]
  if (first === undefined) return
  const rows = [rowLine(["", ...series.map(({ name }) => name)])]
  const indexes = new Set(series.flatMap(({ labels, values }) => [...labels.keys(), ...values.keys()]))
  const left = indexes.size - maxChartPoints
  for (const index of Array.from(indexes).sort((a, b) => a - b).slice(0, maxChartPoints)) {
    rows.push(rowLine([first.labels.get(index) ?? "", ...series.map(({ values }) => values.get(index) ?? "")]))
  }
  sink.add("table", rows.filter((row) => row !== "").join("\n"))
  if (left > 0) sink.add("paragraph", `(and ${left} more points of the chart)`)
}

const points = (source: XmlElement | undefined): ReadonlyMap<number, string> => {
  const found = new Map<number, string>()
  if (source === undefined) return found
  for (const point of descendants(source, "c:pt")) {
    const index = Number(point.attributes["idx"])
    const text = oneLine(textContent(childAt(point, "c:v")))
    const before = found.get(index)
    found.set(index, before === undefined ? text : `${text} ${before}`)
  }
  return found
}

/** Writes a chart of a kind introduced with Office 2016 (MS-ODRAWXML, 2.24.3): waterfalls, treemaps, funnels, histograms. */
const newChartBlocks = (root: XmlElement, sink: BlockSink): void => {
  const chart = childAt(root, "cx:chart")
  if (chart !== undefined) {
    for (const title of descendants(chart, "cx:title")) {
      const [text, plain] = [descendants(title, "a:p").map(drawingParagraph).join(" "), descendants(title, "cx:v")[0]]
      sink.add("paragraph", text.trim() === "" ? oneLine(textContent(plain)) : text)
    }
  }
  const data = new Map(childElements(childAt(root, "cx:chartData"), "cx:data").map((each) => [each.attributes["id"], each]))
  const series = (chart === undefined ? [] : descendants(chart, "cx:series")).flatMap((each): ReadonlyArray<Series> => {
    const figures = data.get(childAt(each, "cx:dataId")?.attributes["val"])
    return figures === undefined ? [] : [{
      name: oneLine(textContent(childAt(each, "cx:tx", "cx:txData", "cx:v"))),
      labels: levels(childAt(figures, "cx:strDim")),
      values: levels(childAt(figures, "cx:numDim"))
    }]
  })
  writeSeries(series, sink)
}

/** The points of a dimension by index; names of outer levels precede those of inner ones. */
const levels = (dimension: XmlElement | undefined): ReadonlyMap<number, string> => {
  const found = new Map<number, string>()
  for (const level of childElements(dimension, "cx:lvl")) {
    for (const point of childElements(level, "cx:pt")) {
      const index = Number(point.attributes["idx"])
      const [text, inner] = [oneLine(textContent(point)), found.get(index)]
      if (text !== "") found.set(index, inner === undefined ? text : `${text} ${inner}`)
    }
  }
  return found
}

/** Writes the texts of a SmartArt diagram, from its data model, as a list. */
const diagramBlocks = (bytes: Uint8Array, sink: BlockSink): void => {
  eachElement(bytes, (name) => name === "dgm:pt", (point) => {
    const text = descendants(point, "a:p").map(drawingParagraph).join(" ")
    if (text.trim() !== "") sink.item(0, "-", text)
  })
}
