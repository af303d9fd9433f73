import { type BlockSink, oneLine } from "../BlockSink.ts"
import { childAt, childElements, eachElement, parseXml, textContent } from "../Xml.ts"
import { type Graphic, graphicBlocks } from "./Drawing.ts"
import type { OfficePackage } from "./Package.ts"
import { shapeTree } from "./Shapes.ts"

/**
 * Writes the text boxes, diagrams and charts of a sheet, and the labels of its form controls, which stand in its VML.
 *
 * @param sheet name of the sheet's part
 */
export const sheetDrawings = (pack: OfficePackage, sheet: string, sink: BlockSink): void => {
  const written = new Set<string>()
  const noting: BlockSink = {
    add(kind, text, level) {
      written.add(oneLine(text))
      sink.add(kind, text, level)
    },
    item(depth, label, text) {
      written.add(oneLine(text))
      sink.item(depth, label, text)
    }
  }
  for (const { type, target } of pack.relationships(sheet)) {
    const bytes = type === "drawing" ? pack.part(target) : undefined
    if (bytes === undefined) continue
    const graphic = (found: Graphic): void => graphicBlocks(pack, target, found, noting)
    for (const anchor of childElements(parseXml(bytes))) shapeTree(anchor, noting, { graphic, running: () => true })
  }
  for (const { type, target } of pack.relationships(sheet)) {
    const bytes = type === "vmlDrawing" ? pack.part(target) : undefined
    if (bytes === undefined) continue
    eachElement(bytes, (name) => name === "v:shape", (shape) => {
      const client = childElements(shape).find(({ name }) => name.endsWith(":ClientData"))
      // Comments are read from their own part, and newer programs write a control's label in the drawing too.
      if (client?.attributes["ObjectType"] === "Note") return
      const text = oneLine(textContent(childAt(shape, "v:textbox")))
      if (!written.has(text)) noting.add("paragraph", text)
    })
  }
}
