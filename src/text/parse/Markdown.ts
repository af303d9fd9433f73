import { BlockWriter } from "./BlockSink.ts"
import { decodeLines, unixLines } from "./Decode.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { frontMatter } from "./markdown/FrontMatter.ts"
import { MarkdownBlocks } from "./markdown/MarkdownBlocks.ts"
import type { Reader } from "./Reader.ts"

export const markdown: Reader = ({ bytes, format, limits, name, properties }) => {
  const builder = new DocumentBuilder(limits.characters)
  const source = decodeLines(bytes)
  const front = frontMatter(source)
  const blocks = new MarkdownBlocks(source.slice(front.end), builder, { mdx: /\.mdx$/i.test(name) })
  const writer = new BlockWriter(builder)
  // Site generators show the title of the front matter as the page's heading.
  if (front.title !== undefined && !blocks.hasTitle) writer.add("heading", front.title, 1)
  if (front.description !== undefined) writer.add("paragraph", front.description)
  const firstHeading = blocks.read()
  const title = front.title ?? firstHeading
  const document = builder.build({
    format,
    title,
    author: front.author,
    language: front.language
  })
  const { block } = front
  if (properties === undefined || block === undefined) return document
  // The reader of properties is large, and few callers need it.
  return import("./markdown/FrontMatterProperties.ts").then(({ addFrontMatter }) => {
    addFrontMatter(block, properties)
    return document
  })
}

/** Adds the blocks of a piece of Markdown, such as a notebook's cell. Returns its first heading. */
export const markdownBlocks = (source: string, builder: DocumentBuilder): string | undefined =>
  new MarkdownBlocks(unixLines(source), builder).read()
