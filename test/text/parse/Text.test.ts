import { describe, expect, it } from "vitest"
import { ReadFailure } from "../../../src/text/parse/ReadFailure.ts"
import { parse } from "../../../src/text/parse/Parse.ts"
import { prepareFile } from "../../../src/text/pool/PrepareFile.ts"
import { defaultLimits } from "../../../src/text/Prepared.ts"
import { parsed, refusal, timeOf } from "./support/Parsed.ts"

const utf16 = (text: string, bigEndian: boolean, mark: boolean): Buffer => {
  const bytes = Buffer.from((mark ? "\ufeff" : "") + text, "utf16le")
  return bigEndian ? bytes.swap16() : bytes
}

const utf32 = (text: string): Buffer => {
  const bytes = Buffer.alloc((text.length + 1) * 4)
  for (let i = 0; i <= text.length; i++) bytes.writeUInt32LE(i === 0 ? 0xfeff : text.charCodeAt(i - 1), i * 4)
  return bytes
}

describe("plain text", () => {
  it("is paragraphs between blank lines, verbatim otherwise", async () => {
    const { shown } = await parsed("a.txt", "One\r\ntwo\r\n\r\n  indented\t\n \t\nlast\n\n")
    expect(shown).toEqual(["paragraph: One\ntwo", "paragraph:   indented", "paragraph: last"])
  })

  it("is decoded from whatever encoding it is in", async () => {
    const text = "Größe: für 15 €, naïve façade. Çà et là, déjà vu."
    const files = [
      Buffer.from(text),
      Buffer.from(`\ufeff${text}`),
      utf16(text, false, true),
      utf16(text, true, true),
      utf16(text, false, false),
      utf16(text, true, false),
      utf32(text),
      Buffer.from(text.replace("€", "\u0080"), "latin1")
    ]
    for (const file of files) expect((await parsed("a.txt", file)).text).toBe(text)
  })

  it("in Cyrillic and Japanese encodings is recognised by its bytes", async () => {
    const russian = "Привет, мир. Это обычный русский текст, в котором достаточно букв для распознавания кодировки."
    const koi = Buffer.from(Array.from(russian, (letter) => {
      const table = "юабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ"
      const at = table.indexOf(letter)
      return at < 0 ? letter.charCodeAt(0) : 0xc0 + at
    }))
    expect((await parsed("a.txt", koi)).text).toBe(russian)
    const shiftJis = Buffer.from("93fa967b8cea82cc95b68fcd82c582b781428abf8e9a82c682a982c882e082a082e882dc82b78142", "hex")
    expect((await parsed("a.txt", shiftJis)).text).toBe("日本語の文章です。漢字とかなもあります。")
  })

  it("survives damaged bytes and stray zeros", async () => {
    const damaged = Buffer.concat([Buffer.from("Ünïcödé wörds äre hére ".repeat(20)), Buffer.from([0xff]), Buffer.from(" ünd go on")])
    expect((await parsed("a.txt", damaged)).text).toMatch(/Ünïcödé.*\ufffd ünd go on$/s)
    expect((await parsed("a.log", `${"line of a log\n".repeat(50)}\0end`)).text).toMatch(/\nend$/)
  })

  it("takes time in proportion to its length", async () => {
    expect(await timeOf("a.txt", `a${" ".repeat(200_000)}b\n`.repeat(3))).toBeLessThan(2_000)
  })

  it("is answered at once when the reader is loaded, and fails at once", async () => {
    await parsed("a.txt", "x")
    const input = { bytes: Buffer.from("x"), name: "a.txt", limits: defaultLimits }
    expect(parse(input)).not.toBeInstanceOf(Promise)
    expect(() => parse({ ...input, bytes: Buffer.from(" ") })).toThrow(ReadFailure)
  })
})

describe("source code", () => {
  it("is cut where definitions begin, and never changed", async () => {
    const source = "import x\n\ndef one():\n    a = 1\n\n    return a\n\n# Two.\ndef two():\n    pass\n"
    const { blocks, text, shown } = await parsed("a.py", source)
    expect(shown).toEqual(["code: import x", "code: def one():\n    a = 1\n\n    return a", "code: # Two.\ndef two():\n    pass"])
    expect(blocks.every((block) => block.kind === "code")).toBe(true)
    expect(`${text}\n`).toBe(source)
  })
})

describe("the charset of a text", () => {
  const bytes = (hex: string): Uint8Array => Buffer.from(hex.replace(/\s/g, ""), "hex")

  it.each([
    // „Договор поставки“ in code page 866 of DOS.
    ["ibm866", "84aea3aea2aee020afaee1e2a0a2aaa8", "Договор поставки"],
    ["windows-1251", "c4eee3eee2eef020efeef1f2e0e2eae8", "Договор поставки"],
    ["koi8-r", "e4cfc7cfd7cfd220d0cfd3d4c1d7cbc9", "Договор поставки"],
    ["shift_jis", "93 8c 8b 9e 93 73 82 cc 90 7d 8f 91 8a d9", "東京都の図書館"],
    ["gb18030", "b1 be ba cf cd ac d3 c9 cb ab b7 bd c7 a9 b6 a9 a3 ac", "本合同由双方签订，"],
    ["windows-1252", "636166e9", "café"],
    ["ibm850", "4c6520836c8a76652061208274822085206c278263 6f6c65", "Le âlève a été à l'école"],
    ["ibm850", "88 74 72 65 20 6f 75 20 6e 65 20 70 61 73 20 88 74 72 65 20 85 20 50 61 72 69 73", "être ou ne pas être à Paris"],
    ["macintosh", "8e 74 8e 20 88 20 6c 27 8e 63 6f 6c 65", "été à l'école"]
  ])("is %s where that reads like a language", async (_, hex, text) => {
    expect((await parsed("a.txt", bytes(hex))).text).toBe(text)
  })

  it("is said where it was guessed, and how sure that is", async () => {
    const { remarks } = await parsed("a.txt", bytes("6c 27 82 63 6f 6c 65 20 64 27 82 74 82 20 65 73 74 20 66 65 72 6d 82 65"))
    expect(remarks).toEqual([{ kind: "charset", text: "ibm850", confidence: expect.closeTo(1) }])
    expect((await parsed("a.txt", "l'école d'été")).remarks).toBeUndefined()
  })

  it("may be EBCDIC", async () => {
    const text =
      "e3 88 89 a2 40 81 87 99 85 85 94 85 95 a3 40 89 a2 40 94 81 84 85 40 81 a3 40 f1 f2 4b 15 c1 93 93 40 95 96 a3 89 83 85 a2 4b"
    expect((await parsed("a.txt", bytes(text))).text).toBe("This agreement is made at 12.\nAll notices.")
  })

  it("is not guessed where nothing reads like a language", async () => {
    const noise = "9d 61 f5 42 b9 c3 62 20 d7 41 fe b2 63 20 9c f1 61 b3 20 62 dc 41 f6 cd 20 fb 61 aa 42 d1 20 af 78 d9 62 e4 41"
    expect(await refusal("a.txt", bytes(noise))).toMatchObject({ problem: "charset", message: expect.stringContaining("charset unknown") })
  })
})

describe("a long text", () => {
  it("is read in parts, and is one text all the same", async () => {
    const line = (i: number): string => `2026-01-01 request ${i} ${"took some time and then was done ".repeat(40)}`
    const content = Buffer.from(Array.from({ length: 14_000 }, (_, i) => line(i)).join("\n"))
    const chunking = { strategy: "fixed", size: 8_000, overlap: 0 } as const
    const { chunks, format, tokens } = await prepareFile({ content, name: "a.log", chunking }, defaultLimits)
    expect(content.length).toBeGreaterThan(16 * 1024 * 1024)
    expect(format).toBe("text")
    const numbers = chunks.flatMap(({ text }) => text.match(/request \d+/g) ?? [])
    expect(numbers.length).toBeGreaterThan(13_900)
    chunks.forEach((chunk, i) => {
      expect(chunk.ordinal).toBe(i)
      expect(chunk.end - chunk.start).toBe(chunk.text.length)
      expect(chunk.byteEnd - chunk.byteStart).toBe(Buffer.byteLength(chunk.text))
      if (i > 0) expect(chunk.start).toBeGreaterThanOrEqual(chunks[i - 1]!.end)
    })
    expect(tokens).toBe(chunks.reduce((sum, chunk) => sum + chunk.tokens, 0))
    await expect(prepareFile({ content, name: "a.log", chunking }, { ...defaultLimits, characters: 10_000_000 })).rejects.toMatchObject({
      problem: "limit"
    })
  })

  const chunking = { strategy: "structure", size: 2_000, overlap: 0 } as const
  const filler = "took some time and then was done ".repeat(40)

  it("of rows is parted between rows, by the separator and the charset of the whole", async () => {
    const row = (i: number): string => `${i};"über, ${i},${i}\nsagte ""ja""";${filler}`
    const source = ["id;text;more", ...Array.from({ length: 13_000 }, (_, i) => row(i))].join("\n")
    const { chunks, remark } = await prepareFile({ content: Buffer.from(source, "latin1"), name: "a.csv", chunking }, defaultLimits)
    const lines = chunks.flatMap(({ text }) => text.split("\n")).filter((line) => line !== "")
    expect(lines.length).toBe(13_001)
    expect(lines.slice(1).every((line, i) => line.startsWith(`${i} | über, ${i},${i} sagte "ja" | took`))).toBe(true)
    expect(remark).toContain("charset taken for")
    const unclosed = await prepareFile(
      { content: Buffer.from(`a,"b\n${`${filler},x\n`.repeat(14_000)}`), name: "a.csv", chunking },
      defaultLimits
    )
    expect(unclosed.tokens).toBeGreaterThan(14_000 * 280)
  })

  it("of Markdown is parted at headings, never in code", async () => {
    const section = (i: number): string => `## Section ${i}\n\n${filler}\n\n\`\`\`sh\n# no heading ${i}\n\`\`\`\n`
    const { chunks, format, title } = await prepareFile({
      content: Buffer.from(`# Title\n\n${Array.from({ length: 13_000 }, (_, i) => section(i)).join("\n")}`),
      name: "a.md",
      chunking
    }, defaultLimits)
    expect([format, title]).toEqual(["markdown", "Title"])
    const all = chunks.map(({ text }) => text).join("\n")
    expect(all.match(/no heading \d+/g)?.length).toBe(13_000)
    expect(chunks.flatMap(({ headings }) => headings).some((heading) => heading.includes("no heading"))).toBe(false)
    expect(all.match(/```/g)).toBeNull()
  })
})
