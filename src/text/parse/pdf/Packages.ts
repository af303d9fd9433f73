import type { LiteParse } from "@llamaindex/liteparse"
import { BrokenInstallation } from "../Reader.ts"
import type { plainPages as readPages } from "./PlainPages.ts"

let layout: Promise<typeof LiteParse | undefined> | undefined

/** The parser that knows headings, lists and tables; `undefined` where its binary for this platform is not installed. */
export const layoutParser = (): Promise<typeof LiteParse | undefined> =>
  layout ??= import("@llamaindex/liteparse").then((module) => module.LiteParse, () => undefined)

/** The reader without native code, which knows pages and their text alone. */
export const plainPages: typeof readPages = async (...args) => {
  const module = await import("./PlainPages.ts").catch(() => {
    throw new BrokenInstallation("what reads PDF cannot be loaded: @hyzyla/pdfium is not installed")
  })
  return module.plainPages(...args)
}

export interface MissingReader {
  /** As npm knows it. */
  readonly name: string
  /** What files lose by it. */
  readonly consequence: string
}

/** The packages that read PDF and cannot be loaded here. */
export const missingReaders = async (): Promise<ReadonlyArray<MissingReader>> => {
  const plain = await import("@hyzyla/pdfium").then(() => true, () => false)
  const binary = `@llamaindex/liteparse-${process.platform}-${process.arch}`
  return [
    ...(await layoutParser() === undefined
      ? [{ name: binary, consequence: plain ? "PDFs are read without their headings, lists and tables" : "no PDF can be read" }]
      : []),
    ...(plain ? [] : [{ name: "@hyzyla/pdfium", consequence: "PDFs that the layout parser does not take cannot be read" }])
  ]
}
