import type { Limits, PagePicture, Pictured, Picturing } from "../Prepared.ts"
import { fromHeader } from "./Pdf.ts"
import { plainReader } from "./pdf/Packages.ts"
import type { PlainPages } from "./pdf/PlainPages.ts"
import { type Drawing, png } from "./Png.ts"
import { BrokenInstallation } from "./ReadFailure.ts"
import { sniff } from "./Sniff.ts"

/**
 * Pixels of a drawn page's longer side. Models scale down anything larger. The smaller one is for pages whose picture has too many bytes;
 * at three bytes a pixel it never has.
 */
const sides = [2_048, 1_024]
/** Most bytes of the picture of a drawn page. Base64 adds a third. */
const mostDrawn = 4 * 1024 * 1024
/** Most bytes of a picture that is sent as it is. Base64 adds a third. */
const mostSent = 12 * 1024 * 1024

/** Pictures of a PDF's pages, or the file itself where it is a picture. Throws a ReadFailure where it cannot be opened. */
export const picturesOf = async ({ content, from, mimeType, most, name }: Picturing, limits: Limits): Promise<Pictured> => {
  const format = sniff(content, name, limits, mimeType)
  if (format === "picture") return { pages: 1, pictures: from > 1 ? [] : [asItIs(content)] }
  if (format !== "pdf") return { pages: 0, pictures: [] }
  const withPlainPages = await plainReader()
  if (withPlainPages === undefined) {
    throw new BrokenInstallation("the renderer of PDF pages cannot be loaded: @hyzyla/pdfium is not installed")
  }
  return withPlainPages(fromHeader(content), async (pages) => {
    const pictures: Array<PagePicture> = []
    for (let page = from; page < from + most && page <= pages.count; page++) pictures.push(await drawn(pages, page))
    return { pages: pages.count, pictures }
  })
}

const drawn = async (pages: PlainPages, page: number): Promise<PagePicture> => {
  for (const side of sides) {
    const drawing = await pages.draw(page, side).catch(() => undefined)
    if (drawing === undefined) return { page, why: "it cannot be drawn" }
    // A model that is shown a blank page makes something up.
    if (isBlank(drawing)) return { page, why: "blank" }
    const data = png(drawing, "colour")
    if (data.byteLength <= mostDrawn) return { page, image: { mimeType: "image/png", data } }
  }
  return { page, why: `its picture is larger than ${mostDrawn} bytes` }
}

/** Whether all of it is one colour. */
const isBlank = ({ data }: Drawing): boolean => {
  for (let at = 4; at < data.length; at++) if (data[at] !== data[at - 4]) return false
  return true
}

const kinds = [[/^\x89PNG/, "image/png"], [/^\xff\xd8\xff/, "image/jpeg"], [/^RIFF[^]{4}WEBP/, "image/webp"]] as const

const asItIs = (content: Uint8Array): PagePicture => {
  const head = Buffer.from(content.subarray(0, 16)).toString("latin1")
  const kind = kinds.find(([pattern]) => pattern.test(head))
  if (kind === undefined) return { page: 1, why: "models take pictures in PNG, JPEG and WebP" }
  if (content.byteLength > mostSent) return { page: 1, why: `it has more than ${mostSent / 2 ** 20} MiB` }
  return { page: 1, image: { mimeType: kind[1], data: content } }
}
