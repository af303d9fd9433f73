import type { Remark } from "../../../domain/Document.ts"
import type { Limits } from "../../Prepared.ts"
import { type BlockWriter, CellText } from "../BlockSink.ts"
import { hiddenPage } from "../HiddenText.ts"
import { ReadFailure } from "../ReadFailure.ts"
import { onlyOnce } from "../RunningText.ts"
import { childElements, eachElement, type XmlElement } from "../Xml.ts"
import { Story, type StoryContext } from "./Story.ts"

/** Writes the slides of a presentation, each as a page: title as heading, content, notes. Adds hidden ones to the remarks. */
export const writeSlides = (
  content: Uint8Array,
  context: StoryContext,
  writer: BlockWriter,
  limits: Limits,
  remarks: Array<Remark>
): { readonly count: number; readonly title: string | undefined } => {
  let count = 0
  let title: string | undefined
  const running = onlyOnce(writer)
  eachElement(content, (name) => name === "draw:page" || isDeclaration(name), (element) => {
    const story = new Story(context)
    if (isDeclaration(element.name)) {
      running.add("paragraph", element.children.filter((child) => typeof child === "string").join(""))
      return
    }
    count++
    if (count > limits.pages) throw new ReadFailure("limit", `more than ${limits.pages} slides`)
    writer.page(count)
    if (context.styles.hides(element.attributes["draw:style-name"])) {
      remarks.push(hiddenPage(`slide ${count}`, count))
    }
    const shapes = childElements(element)
    for (const shape of shapes.filter(isTitle)) {
      const text = new CellText()
      story.block(shape, text)
      if (text.text !== "") writer.add("heading", text.text, 1)
      title ??= text.text === "" ? undefined : text.text
    }
    for (const shape of shapes) if (!isTitle(shape)) writeShape(shape, story, writer)
  })
  return { count, title }
}

/** Whether an element declares a header or footer, which slides then refer to by name. */
const isDeclaration = (name: string): boolean => name === "presentation:footer-decl" || name === "presentation:header-decl"

const isTitle = (shape: XmlElement): boolean => shape.attributes["presentation:class"] === "title"

const writeShape = (shape: XmlElement, story: Story, writer: BlockWriter): void => {
  const kind = shape.attributes["presentation:class"] ?? ""
  if (kind === "page-number" || kind === "date-time" || kind === "page") return
  if (shape.name === "presentation:notes") { for (const child of childElements(shape)) writeShape(child, story, writer) }
  else story.block(shape, writer)
}
