import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync, zstdCompressSync } from "node:zlib"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { open } from "../../../src/text/containers/Open.ts"
import { mayHoldFiles, safePath, unique } from "../../../src/text/containers/Kinds.ts"
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
