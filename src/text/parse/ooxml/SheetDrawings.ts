import type { BlockSink } from "../BlockSink.ts"
import { childElements, parseXml } from "../Xml.ts"
import { type Graphic, graphicBlocks } from "./Drawing.ts"
import type { OfficePackage } from "./Package.ts"
import { shapeTree } from "./Shapes.ts"

/**
 * Writes the text boxes, diagrams and charts of a sheet.
 *
 * @param sheet name of the sheet's part
 */
export const sheetDrawings = (pack: OfficePackage, sheet: string, sink: BlockSink): void => {
  for (const { type, target } of pack.relationships(sheet)) {
    const bytes = type === "drawing" ? pack.part(target) : undefined
    if (bytes === undefined) continue
    const graphic = (found: Graphic): void => graphicBlocks(pack, target, found, sink)
    for (const anchor of childElements(parseXml(bytes))) shapeTree(anchor, sink, { graphic, running: () => true })
  }
}
