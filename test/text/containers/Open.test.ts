import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { crc32, gzipSync, zstdCompressSync } from "node:zlib"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { open } from "../../../src/text/containers/Open.ts"
import { mayHoldFiles, safePath, unique } from "../../../src/text/containers/Kinds.ts"
import { parse } from "../../../src/text/parse/Parse.ts"
import { defaultLimits, type Limits } from "../../../src/text/Prepared.ts"
import { writeZip, zipOf } from "../parse/support/ZipWriter.ts"

let into = ""
beforeEach(() => {
  into = mkdtempSync(join(tmpdir(), "sluice-"))
})
afterEach(() => rmSync(into, { recursive: true, force: true }))

/** Each part with its text, or why it is not taken. */
const opened = async (name: string, content: Uint8Array, limits: Partial<Limits> = {}, archives = true) => {
  const { kind, parts } = await open({ content, name, archives, into }, { ...defaultLimits, ...limits })
  return {
    kind,
    parts: parts.map(({ hash, path, refused }) =>
      `${path}: ${refused === undefined ? readFileSync(join(into, hash), "utf8").slice(0, 20) : refused.reason}`
    )
  }
}

/** A tar archive; `type` as in its header. */
const tarOf = (
  entries: ReadonlyArray<{ readonly path: string; readonly text?: string; readonly type?: string; readonly size?: number }>
): Buffer =>
  Buffer.concat([
    ...entries.flatMap(({ path, size, text = "", type = "0" }) => {
      const header = Buffer.alloc(512)
      header.write(path, 0, "utf8")
      header.write("0000644\0", 100)
      header.write(`${(size ?? Buffer.byteLength(text)).toString(8).padStart(11, "0")}\0`, 124)
      header.write("        ", 148)
      header.write(type, 156)
      header.write("ustar\u000000", 257)
      header.write(`${header.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, "0")}\0 `, 148)
      return [header, Buffer.from(text), Buffer.alloc((512 - Buffer.byteLength(text) % 512) % 512)]
    }),
    Buffer.alloc(1024)
  ])

/** A 7-Zip archive whose files are stored as they are (7zFormat.txt). */
const sevenZipOf = (files: Readonly<Record<string, string>>): Buffer => {
  const contents = Object.values(files).map((text) => Buffer.from(text))
  const packed = Buffer.concat(contents)
  const names = Buffer.from(Object.keys(files).map((name) => `${name}\0`).join(""), "utf16le")
  const uint32 = (value: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(value)
    return bytes
  }
  const header = Buffer.concat([
    Buffer.from([1, 4, 6, 0, 1, 9, packed.length, 0]),
    Buffer.from([7, 0x0b, 1, 0, 1, 1, 0, 0x0c, packed.length, 0]),
    Buffer.from([8, 0x0d, contents.length, 9, ...contents.slice(0, -1).map(({ length }) => length), 0x0a, 1]),
    ...contents.map((content) => uint32(crc32(content))),
    Buffer.from([0, 0, 5, contents.length, 0x11, names.length + 1, 0]),
    names,
    Buffer.from([0, 0])
  ])
  const start = Buffer.alloc(20)
  start.writeUInt32LE(packed.length, 0)
  start.writeUInt32LE(header.length, 8)
  start.writeUInt32LE(crc32(header), 16)
  return Buffer.concat([Buffer.from("7z\xbc\xaf\x27\x1c\0\x04", "latin1"), uint32(crc32(start)), start, packed, header])
}

/** A RAR 4 archive whose files are stored as they are. */
const rarOf = (files: Readonly<Record<string, string>>, { encrypted = false } = {}): Buffer => {
  const block = (type: number, flags: number, rest: Buffer): Buffer => {
    const head = Buffer.alloc(7)
    head[2] = type
    head.writeUInt16LE(flags, 3)
    head.writeUInt16LE(7 + rest.length, 5)
    const whole = Buffer.concat([head, rest])
    whole.writeUInt16LE(crc32(whole.subarray(2)) & 0xffff, 0)
    return whole
  }
  return Buffer.concat([
    Buffer.from("Rar!\x1a\x07\0", "latin1"),
    block(0x73, 0, Buffer.alloc(6)),
    ...Object.entries(files).flatMap(([name, text]) => {
      const fields = Buffer.alloc(25)
      fields.writeUInt32LE(text.length, 0)
      fields.writeUInt32LE(text.length, 4)
      fields[8] = 3
      fields.writeUInt32LE(crc32(text), 9)
      fields[17] = 20
      fields[18] = 0x30
      fields.writeUInt16LE(name.length, 19)
      fields.writeUInt32LE(0o100644, 21)
      return [block(0x74, 0x8000 | (encrypted ? 4 : 0), Buffer.concat([fields, Buffer.from(name)])), Buffer.from(text)]
    }),
    block(0x7b, 0x4000, Buffer.alloc(0))
  ])
}

describe("an archive", () => {
  it("gives its files by their paths, which stay inside it, and each a name of its own", async () => {
    expect(
      await opened(
        "a.zip",
        writeZip([
          { name: "../../etc/passwd", content: "one" },
          { name: "etc/passwd", content: "two" },
          { name: "C:\\windows\\x.md", content: "three" },
          { name: "/abs.md", content: "four" },
          { name: ".hidden", content: "five" },
          { name: "a\u202egnp.md", content: "six" }
        ])
      )
    ).toEqual({
      kind: "archive",
      parts: ["etc/passwd: one", "etc/passwd (2): two", "windows/x.md: three", "abs.md: four", ".hidden: ignored", "a gnp.md: six"]
    })
    expect(readdirSync(into).every((name) => /^[0-9a-f]{32}$/.test(name))).toBe(true)
    expect([safePath("..\\..\\x"), safePath("///"), safePath(`${"é".repeat(400)}.pdf`).length]).toEqual(["x", "file", 150])
    expect(unique("a/b.tar.gz", new Set(["a/b.tar.gz"]))).toBe("a/b.tar (2).gz")
  })

  it("of tar may have long names, links and folders", async () => {
    const long = `${"long/".repeat(40)}name.md`
    const pax = ` path=${long}\n`
    const length = pax.length + String(pax.length + 3).length
    expect(
      await opened(
        "a.tar",
        tarOf([
          { path: "pax", type: "x", text: `${length}${pax}` },
          { path: "short", text: "by pax" },
          { path: "gnu", type: "L", text: `gnu/${long}\0` },
          { path: "short", text: "by gnu" },
          { path: "folder/", type: "5" },
          { path: "link", type: "2" },
          { path: "fifo", type: "6" },
          { path: "plain.md", text: "plain" }
        ])
      )
    ).toEqual({ kind: "archive", parts: [`${long}: by pax`, `gnu/${long}: by gnu`, "link: link", "fifo: special", "plain.md: plain"] })
  })

  it("may be packed in others, to a depth", async () => {
    const tgz = gzipSync(tarOf([{ path: "in.md", text: "inside" }, { path: "b.zip", text: "" }]))
    expect((await opened("a.tar.gz", tgz)).parts).toEqual(["in.md: inside", "b.zip: "])
    expect((await opened("a.md.zst", zstdCompressSync("one text"))).parts).toEqual(["a.md: one text"])
    let nested = zipOf({ "end.md": "end" })
    for (let depth = 0; depth < 6; depth++) nested = writeZip([{ name: "in.zip", content: nested }])
    expect((await opened("a.zip", nested)).parts).toEqual(["in.zip/in.zip/in.zip/in.zip: limit"])
  })

  it("that bombs, is cut off or encrypted costs what cannot be had, by name", async () => {
    const zeros = Buffer.alloc(4 * 1024 * 1024)
    await expect(open({ content: gzipSync(zeros), name: "a.gz", archives: true, into }, defaultLimits)).rejects.toMatchObject({
      problem: "limit"
    })
    expect((await opened("a.zip", writeZip([{ name: "zeros", content: zeros }, { name: "fine.md", content: "fine" }]))).parts).toEqual([
      "zeros: limit",
      "fine.md: fine"
    ])
    expect((await opened("a.zip", zipOf({ "a.md": "first", "b.md": "second" }), { unpackedBytes: 8 })).parts).toEqual([
      "a.md: first",
      "b.md: limit"
    ])
    await expect(opened("a.zip", zipOf({ "a.md": "first", "b.md": "second" }), { parts: 1 })).rejects.toMatchObject({ problem: "limit" })
    expect(
      (await opened(
        "a.zip",
        writeZip([{ name: "x.md", content: "x", encrypted: true }, { name: "y.md", content: "y", claims: { crc: 1 } }])
      )).parts
    ).toEqual(["x.md: encrypted", "y.md: corrupt"])
    await expect(opened("a.tar", tarOf([{ path: "a.md", text: "a", size: 9_999 }]).subarray(0, 1_024))).rejects.toMatchObject({
      problem: "corrupt"
    })
    await expect(opened("a.gz", gzipSync("some text").subarray(0, 15))).rejects.toMatchObject({ problem: "corrupt" })
    expect((await opened("a.zip", writeZip([{ name: "in.gz", content: gzipSync("text").subarray(0, 15) }]))).parts).toEqual([
      "in.gz: corrupt"
    ])
  })

  /** `xz -9` and `bzip2 -9` of a text, of a tar archive with `in.md`, and of four mebibytes of zeros. */
  const packed = {
    xz: {
      text: "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAPb25lIHRleHQsIHBhY2tlZACPcX7Ddmhn+gABKBDlC2xgH7bzfQEAAAAABFla",
      tar:
        "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4Cf/AGpdADSbgcVhr3OYfxv7MxYJ+VZCBpszv4DPwKReq3HmrkRJYLOYkUKKaoITkLK+29X8oof9i0M2PL2yyPdXgnCpIu8ivWICndvX5nX5mtor2z6jyuO/q5n9mIx4GteFpTZB98N+y8WU1SPzIAAAAABxOsLGlQncGQABhgGAUAAAI5I5t7HEZ/sCAAAAAARZWg==",
      zeros:
        "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM//8RAWxdAABv/f//o7f/Rz5IFXI5YVG4kijmo4YH+e7kHoLTL8U6PAFLsX7JiopNL6MN2X+m44wjEVPgWRjFdYrid/i2lH8MasDedElk4ulcU7IE2PdEDKtfDW1G6eXDdoi3llestk3haR1v+0uIEGxCy4g/XACP0E6vJiiUcR89jyThcJ6nI1/sKMuF0ZWYin4qkfIndfcZwAaYTZj92K/VkA/EJVP49ZE2MQWlsO5vwXBNRwzRkRGqrWAdus6xJxhcWYbpZlJYvul2rFnk5VsFCPnH2q38+1IrdM0eWyBC+d1TPfgpZAk7gMsqbN+1O/DEvS5fqg8+S2ZCkBMO/xCT+HF4WfgLzf+VKEYPqfx83vuaMC5WwI+F84OBwGXEJVP49ZE2MQWlsO5vwXBNRwzRkRGqrWAdus6xJxhcWYbpZlJYvul2rFnk5VsFCPnH2q38+1IrdM0eWyBC+d1TPfgpZAk7gMsqbN+1O/DEvEgn5lif/xABKwDsc1On/b6ufDEan7eNMW5wnqcjX+woy4XRlZiKfiqR8id19xnABphNmP3Yr9WQD8QlU/j1kTYxBaWw7m/BcE1HDNGREaqtYB26zrEnGFxZhulmUli+6XasWeTlWwUI+cfarfz7Uit0zR5bIEL53VM9+ClkCTuAyyps37U78MS9Ll+qDz5LZkKQEw7/EJP4cXhZ+AvN/5UoRg+p/Hze+5owLlbAj4Xzg4HAZcQlU/j1kTYxBaWw7m/BcE1HDNGREaqtYB26zrEnGFxZhulmUli+6XasWeTlWwUI+cfarfz7Uit0zR5bIEL53VM9+ClkCTuAyyps37U78MS9Ll+qDz5LZkKQEw7/EJP4cXhZ+AvN/5UoRg+p/Hze+5owLlbAj4Xzg4HAZcQlUQ8/soAB3AAFAEHqpi0AAGtsRXzSCWHbAAHEBYCAgALTUy1YscRn+wIAAAAABFla"
    },
    bz2: {
      text: "QlpoOTFBWSZTWcH2jy8AAAWRgEAELgnEQCAAIgR6TPVMQNA0IQLmYrA/F6LuSKcKEhg+0eXg",
      tar:
        "QlpoOTFBWSZTWd1IkIAAAHp7kMmAAERAAWWAAAhmI54ABAAACCAAVDRQ9QPU0wTT1G0EVJoAAaDQTPt8KoohKtRTKnOBpPG6xBIDAO9YokqZGCz5NcqrPVDE2av9nZB4Li9KWdAryIiAwLuSKcKEhupEhAA=",
      zeros: "QlpoOTFBWSZTWVYC4ogAICBIAMAAAAQACCAAMMwFKaYCAbECAeLuSKcKEgrAXFEA"
    }
  }

  it.each(["xz", "bz2"] as const)("of .%s is a file, or the files of a tar archive, within the limits", async (extension) => {
    const { tar, text, zeros } = packed[extension]
    const [one, many] = [Buffer.from(text, "base64"), Buffer.from(tar, "base64")]
    expect((await opened(`a.md.${extension}`, one)).parts).toEqual(["a.md: one text, packed"])
    expect((await opened(`a.md.${extension}`, Buffer.concat([one, one]))).parts).toEqual(["a.md: one text, packedone "])
    expect((await opened(`a.tar.${extension}`, many)).parts).toEqual(["in.md: inside"])
    expect((await opened("a.zip", writeZip([{ name: `b.tar.${extension}`, content: many }]))).parts).toEqual([
      `b.tar.${extension}/in.md: inside`
    ])
    await expect(opened(`a.${extension}`, Buffer.from(zeros, "base64"))).rejects.toMatchObject({ problem: "limit" })
    await expect(opened(`a.${extension}`, one.subarray(0, -12))).rejects.toMatchObject({ problem: "corrupt" })
    const damaged = Buffer.from(one)
    damaged[28]! ^= 0xff
    await expect(opened(`a.${extension}`, damaged)).rejects.toMatchObject({ problem: "corrupt" })
  })

  it("of 7-Zip or RAR gives its files, links by name, within the limits", async () => {
    const files = { "in.md": "inside", "deep/b.md": "deeper", ".hidden": "not this" }
    for (const [name, archive] of [["a.7z", sevenZipOf(files)], ["a.rar", rarOf(files)]] as const) {
      expect(await opened(name, archive)).toEqual({ kind: "archive", parts: ["in.md: inside", "deep/b.md: deeper", ".hidden: ignored"] })
      expect((await opened(name, archive, { bytes: 300, unpackedBytes: 8 })).parts).toEqual([
        "in.md: inside",
        "deep/b.md: limit",
        ".hidden: ignored"
      ])
      expect((await opened("a.zip", writeZip([{ name, content: archive }]))).parts).toContain(`${name}/in.md: inside`)
      await expect(opened(name, archive.subarray(0, 40))).rejects.toMatchObject({ problem: "corrupt" })
      expect(mayHoldFiles(name, undefined, true)).toBe(true)
    }
    const damaged = sevenZipOf(files)
    damaged[damaged.indexOf("deeper")]! ^= 1
    expect((await opened("a.7z", damaged)).parts[1]).toBe("deep/b.md: corrupt")
    expect((await opened("a.rar", rarOf({ "in.md": "inside" }, { encrypted: true }))).parts).toEqual(["in.md: encrypted"])
  })

  it("of Outlook gives its items as mails beneath their folders, with what hangs on them", async () => {
    const examples = createRequire(createRequire(import.meta.url).resolve("pst-extractor")).resolve("../example/testdata/enron.pst")
    const archive = readFileSync(examples)
    const { kind, parts } = await open({ content: archive, name: "mail.pst", archives: true, into }, defaultLimits)
    expect(kind).toBe("archive")
    const mails = parts.filter(({ path }) => !path.includes("/attachments/"))
    expect([mails.length, parts.filter(({ path, refused }) => path.includes("/attachments/") && refused === undefined).length]).toEqual([
      71,
      70
    ])
    const document = parts.find(({ path }) => path.endsWith("/attachments/TW_PNR_Oct26_01.doc"))!
    const told = mails.find(({ path }) => document.path.startsWith(`${path}/`))!
    expect(told.path).toBe(
      "Top of Personal Folders/lokay-m/MLOKAY (Non-Privileged)/TW-Commercial Group/2001-10-29 FW: New PNR points for Transwestern.eml"
    )
    const mail = await parse({ bytes: readFileSync(join(into, told.hash)), name: "a.eml", limits: defaultLimits, opened: true })
    expect([mail.title, mail.text]).toEqual([
      "FW: New PNR points for Transwestern",
      expect.stringMatching(/^FW: New PNR[^]*\nFrom: \w[^]*\nDate: \w[^]*Attachment: TW_PNR_Oct26_01\.doc/)
    ])
    expect(document.size).toBe(30_208)
    expect((await parse({ bytes: readFileSync(join(into, document.hash)), name: document.path, limits: defaultLimits })).format).toBe("doc")
    await expect(opened("mail.pst", archive.subarray(0, 300))).rejects.toMatchObject({ problem: "corrupt" })
    expect((await opened("mail.pst", archive, {}, false)).kind).toBe("document")
    expect(mayHoldFiles("mail.pst", undefined, true)).toBe(true)
  })

  it("is one by its bytes: an Office document is not, whatever it is called", async () => {
    expect(await opened("a.zip", zipOf({ "word/document.xml": "<w/>" }))).toEqual({ kind: "document", parts: [] })
    expect(await opened("a.gz", Buffer.from("just text"))).toEqual({ kind: "document", parts: [] })
    expect([
      mayHoldFiles("a.zip", undefined, false),
      mayHoldFiles("a.zip", undefined, true),
      mayHoldFiles("a.EML", undefined, false),
      mayHoldFiles("a.docx", undefined, true)
    ]).toEqual([false, true, true, false])
  })
})
