import { crc32, deflateSync } from "node:zlib"

/** Pixels as drawn: four bytes each, BGRA. */
export interface Drawing {
  readonly data: Uint8Array
  readonly width: number
  readonly height: number
}

/** Colour type and samples of a pixel by the PNG specification: grey is type 0, RGB is type 2. */
const samples = { grey: { type: 0, count: 1 }, colour: { type: 2, count: 3 } } as const

/** Encodes a drawing as PNG with 8 bits per sample, without transparency. */
export const png = ({ data, height, width }: Drawing, kind: keyof typeof samples): Uint8Array => {
  const { count, type } = samples[kind]
  const stride = 1 + count * width
  const rows = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const from = (y * width + x) * 4
      const to = y * stride + 1 + count * x
      const [blue, green, red] = [data[from]!, data[from + 1]!, data[from + 2]!]
      if (kind === "grey") rows[to] = (blue * 29 + green * 150 + red * 77) >> 8
      else {
        rows[to] = red
        rows[to + 1] = green
        rows[to + 2] = blue
      }
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  header[9] = type
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngPart("IHDR", header),
    pngPart("IDAT", deflateSync(rows, { level: 1 })),
    pngPart("IEND", Buffer.alloc(0))
  ])
}

const pngPart = (name: string, content: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(name, "latin1"), content])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}
