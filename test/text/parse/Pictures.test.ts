import { describe, expect, it } from "vitest"
import { picturesOf } from "../../../src/text/parse/Pictures.ts"
import { defaultLimits } from "../../../src/text/Prepared.ts"
import { writePdf } from "./support/PdfWriter.ts"

const pictures = (content: Uint8Array, from = 1, most = 10, name = "a.pdf") => picturesOf({ content, name, from, most }, defaultLimits)

const widthOf = (file: Uint8Array | undefined): number => Buffer.from(file ?? []).readUInt32BE(16)

describe("pictures of pages", () => {
  it("are of the pages asked for, and not of blank ones", async () => {
    const file = writePdf([["one"], [], ["three"], ["four"]])
    expect(await pictures(file, 1, 0)).toEqual({ pages: 4, pictures: [] })
    const { pictures: found } = await pictures(file, 2, 2)
    expect(found).toMatchObject([{ page: 2, why: "blank" }, { page: 3, image: { mimeType: "image/png" } }])
    expect((await pictures(file, 4)).pictures).toHaveLength(1)
  })

  it("are smaller where they have too many bytes", async () => {
    const [width, height] = [1_400, 1_800]
    let seed = 1
    const noise = Buffer.from(new Uint8Array(3 * width * height).map(() => seed = (seed * 48_271) % 2_147_483_647)).toString("latin1")
    const image =
      `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Length ${noise.length} >>\nstream\n${noise}\nendstream`
    const page = ["% q 612 0 0 792 0 0 cm /X0 Do Q"]
    const { pictures: [large] } = await pictures(writePdf([page], { xObject: image }))
    expect(widthOf(large?.image?.data)).toBe(791)
    expect(large?.image?.data.byteLength).toBeLessThan(4 * 1024 * 1024)
    const { pictures: [plain] } = await pictures(writePdf([["one"]]))
    expect(widthOf(plain?.image?.data)).toBe(1_582)
  })

  it("are the file itself where it is a picture that models take, and none of other formats", async () => {
    const jpeg = Buffer.from("\xff\xd8\xff\xe0 a photograph", "latin1")
    expect(await pictures(jpeg, 1, 1, "a.jpg")).toEqual({
      pages: 1,
      pictures: [{ page: 1, image: { mimeType: "image/jpeg", data: jpeg } }]
    })
    const tiff = Buffer.from("II*\0 a scan", "latin1")
    expect(await pictures(tiff, 1, 1, "a.tif")).toEqual({
      pages: 1,
      pictures: [{ page: 1, why: "models take pictures in PNG, JPEG and WebP" }]
    })
    expect(await pictures(Buffer.from("# Text"), 1, 1, "a.md")).toEqual({ pages: 0, pictures: [] })
  })
})
