import { describe, expect, it } from "vitest"
import { ReadFailure } from "../../../src/text/parse/Reader.ts"
import { parse } from "../../../src/text/parse/Parse.ts"
import { defaultLimits } from "../../../src/text/Prepared.ts"
import { parsed, timeOf } from "./support/Parsed.ts"

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
