import { PDFiumLibrary } from "@hyzyla/pdfium"
import { BlockWriter } from "../BlockSink.ts"
import type { DocumentBuilder } from "../DocumentBuilder.ts"

/**
 * Adds the text of each page in reading order, one paragraph a page: layout is not known here. `counted` is told how
 * many pages there are before any is read.
 */
export const plainPages = async (
  file: Uint8Array,
  builder: DocumentBuilder,
  counted: (pages: number) => void
): Promise<void> => {
  const library = await PDFiumLibrary.init()
  try {
    const document = await library.loadDocument(file)
    const writer = new BlockWriter(builder)
    try {
      counted(document.getPageCount())
      for (const page of document.pages()) {
        writer.page(page.number + 1)
        writer.add("paragraph", page.getText())
      }
    } finally {
      document.destroy()
    }
  } finally {
    library.destroy()
  }
}
