import type { LiteParse } from "@llamaindex/liteparse"
import type { withPlainPages } from "./PlainPages.ts"

let layout: Promise<typeof LiteParse | undefined> | undefined
let plain: Promise<typeof withPlainPages | undefined> | undefined

/** The parser that recognises headings, lists and tables; `undefined` where its binary for this platform is not installed. */
export const layoutParser = (): Promise<typeof LiteParse | undefined> =>
  layout ??= import("@llamaindex/liteparse").then((module) => module.LiteParse, () => undefined)

/** The reader without native code, which knows only pages and their text; `undefined` where it is not installed. */
export const plainReader = (): Promise<typeof withPlainPages | undefined> =>
  plain ??= import("./PlainPages.ts").then((module) => module.withPlainPages, () => undefined)

export interface MissingReader {
  /** Its name on npm. */
  readonly name: string
  /** What files lose without it. */
  readonly consequence: string
}

/** The packages for reading PDF that cannot be loaded here. */
export const missingReaders = async (): Promise<ReadonlyArray<MissingReader>> => {
  const plain = await plainReader() !== undefined
  const binary = `@llamaindex/liteparse-${process.platform}-${process.arch}`
  return [
    ...(await layoutParser() === undefined
      ? [{ name: binary, consequence: plain ? "PDFs are read without their headings, lists and tables" : "no PDF can be read" }]
      : []),
    ...(plain
      ? []
      : [{
        name: "@hyzyla/pdfium",
        consequence: "words that the layout parser loses stay lost, and PDFs that it does not take cannot be read"
      }])
  ]
}
