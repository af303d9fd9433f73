import { describe, expect, it } from "vitest"
import { rtf } from "../../../src/text/parse/Rtf.ts"
import { problemOf, readWith } from "./support/ReadWith.ts"

const header = String
  .raw`{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss\fcharset0 Arial;}{\f1\fnil\fcharset204 Arial Cyr;}{\f2\fnil\fcharset128 MS Mincho;}{\f3\ftech\fcharset2 Symbol;}}`
const read = (body: string) => readWith(rtf, Buffer.from(`${header}${body}}`, "latin1"))
const shown = async (body: string) => (await read(body)).shown

describe("text", () => {
  it("of a file that is cut off is read to its end, which is said", async () => {
    const { remarks, shown } = await readWith(rtf, Buffer.from(`${header}\\pard one\\par two`, "latin1"))
    expect(shown).toEqual(["paragraph: one", "paragraph: two"])
    expect(remarks).toEqual([{ kind: "cut", text: "the file is cut off: read to where it ends" }])
    expect((await read("one")).remarks).toBeUndefined()
  })

  it("has paragraphs, breaks, characters by name, and no optional hyphens", async () => {
    expect(
      await shown(String.raw`\pard one\line two\tab three\par \ldblquote q\rdblquote  a\emdash b c\_d e\-f\~g \{x\}\\` + "\\\nlast\n line")
    )
      .toEqual(["paragraph: one\ntwo\tthree", "paragraph: “q” a—b c-d ef g {x}\\", "paragraph: last line"])
  })

  it("is kept behind a style of characters that old readers should skip", async () => {
    expect(await shown(String.raw`\pard one {\*\cs16 two} {\*\cs3\b three}{\*\unknown four}\par`)).toEqual(["paragraph: one two three"])
  })

  it("is decoded by the document's code page, a font's character set, and Unicode escapes", async () => {
    expect(
      await shown(
        String
          .raw`\'dcber \f1\'cf\'f0\'e8\'e2\'e5\'f2\f0  \f2\'83e\'83X\'83g\f0  {\f3 a\'b3b} \u8364?uro {\uc2\u26085\'93\'fa}\uc0\u55349\u57186!`
      )
    )
      .toEqual(["paragraph: Über Привет テスト α≥β €uro 日\u{1d762}!"])
    const central = String.raw`{\rtf1\ansi\ansicpg1250 P\'f8\'edli\'9a \'9elu\'9dou\par}`
    expect((await readWith(rtf, Buffer.from(central))).shown).toEqual(["paragraph: Příliš žluťou"])
    const dos = String.raw`{\rtf1\pc Stra\'e1e\par}`
    expect((await readWith(rtf, Buffer.from(dos))).shown).toEqual(["paragraph: Straße"])
    const fonts = [77, 78, 85, 88].map((charset, font) => String.raw`{\f${font}\fnil\fcharset${charset} F;}`).join("")
    const mac = String.raw`{\rtf1\mac\deff0{\fonttbl${fonts}}caf\'8e \f1\'83\'65 \f2\'c0\'db \f3\'8b\'8e\par}`
    expect((await readWith(rtf, Buffer.from(mac))).shown).toEqual(["paragraph: café テ άέ čé"])
  })

  it("has results of fields and objects, and nothing of skipped groups, pictures or deletions", async () => {
    expect(
      await shown(
        String
          .raw`a{\field{\*\fldinst HYPERLINK "http://x"}{\fldrslt {\ul link}}} {\*\unknown no{\par no}}{\pict\wmetafile8 0102ff}{\pict\bin5 }` +
          "}{\\}a" + String.raw`}{\object{\*\objdata 00ff}{\result shown}} {\deleted gone}{\v hidden}b{\xe index}\par`
      )
    ).toEqual(["paragraph: alink shown b"])
    const { remarks } = await read(String.raw`{\deleted gone}{\v hidden{\xe index}{\deleted both}}b\par`)
    expect(remarks).toEqual([{ kind: "cut", text: "hidden text of 6 characters, left out" }])
  })

  it("prefers the Unicode form of doubled text", async () => {
    expect(await shown(String.raw`{\upr{old}{\*\ud{n\u233?w}}}\par`)).toEqual(["paragraph: néw"])
  })
})

describe("structure", () => {
  it("has headings by outline level, by style, by inherited style, in any circle", async () => {
    const styles = String
      .raw`{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 Kapitel;}{\s2\sbasedon0 heading 2;}{\s3\sbasedon2 Mine;}{\s4\sbasedon5 A;}{\s5\sbasedon4 B;}{\*\cs10 Char;}}`
    const { blocks } = await read(
      styles + String.raw`\pard\s1 One\par\pard\s2 Two\par\pard\s3 Mine\par\pard\s4 round\par\pard\outlinelevel2 Three\par\pard plain\par`
    )
    expect(blocks.map(({ kind, text, level }) => [kind, text, level])).toEqual([
      ["heading", "One", 1],
      ["heading", "Two", 2],
      ["heading", "Mine", 2],
      ["paragraph", "round", undefined],
      ["heading", "Three", 3],
      ["paragraph", "plain", undefined]
    ])
  })

  it("has lists with the labels that are stored", async () => {
    expect(
      await shown(
        String
          .raw`{\listtext\f3\'b7\tab}\pard\ls1 dot\par{\listtext\f0 1.\tab}\pard\ls2 one\par{\listtext a)\tab}\pard\ilvl1 deep\par\pard{\*\pn\pnlvlblt}{\pntext\'b7\tab}old\par\pard out\par`
      )
    ).toEqual(["list: - dot\n1. one\n  a) deep\n- old", "paragraph: out"])
  })

  it("has tables, also nested and without the paragraph mark of tables", async () => {
    const row = (...cells: ReadonlyArray<string>): string =>
      String.raw`\trowd\cellx100\cellx200 ${cells.map((cell) => String.raw`\pard\intbl ${cell}\cell `).join("")}\row `
    const nested = String.raw`in \itap2 x\nestcell y\nestcell{\*\nesttableprops\trowd\cellx50\nestrow}\itap1`
    expect(
      await shown(
        String.raw`\pard before\par ` + row("Name", "Role") + row(String.raw`Ann\par Lee`, "") + row(nested, "z") +
          String.raw`\pard after\par`
      )
    )
      .toEqual(["paragraph: before", "table: Name | Role\nAnn Lee\nin x y | z", "paragraph: after"])
    expect(await shown(String.raw`\trowd a\cell b\cell\row\trowd c\cell d\cell\row`)).toEqual(["table: a | b\nc | d"])
  })

  it("has notes, comments and text boxes after their paragraph, headers once, footers last", async () => {
    const box = String.raw`{\shp{\*\shpinst{\sp{\sn shapeType}{\sv 202}}{\shptxt boxed\par}}{\shprslt{\*\do{\dptxbxtext boxed\par}}}}`
    expect(
      await shown(
        String
          .raw`{\header ACME\par}{\headerf ACME\par}{\footer Page \chpgn 3\par Confidential\par}\pard claim{\super\chftn{\footnote\pard{\super\chftn} source\par}} more${box}{\*\atnid K}{\*\atnauthor Kim}\chatn{\*\annotation{\*\atndate 1}why?}\par end\par`
      )
    ).toEqual([
      "paragraph: ACME",
      "paragraph: claim[1] more",
      "paragraph: [1] source",
      "paragraph: boxed",
      "paragraph: Comment by Kim: why?",
      "paragraph: end",
      "paragraph: Confidential"
    ])
  })

  it("has the notes of groups that readers may skip", async () => {
    expect(
      await shown(
        String
          .raw`one{\*\footnote\ftnalt first} two{\*\unknown no{\footnote second}} three{\xe no{\footnote index}}{\nonshppict{\*\new{\footnote twice}}}\par`
      )
    ).toEqual(["paragraph: one[1] two[2] three", "paragraph: [1] first", "paragraph: [2] second"])
  })

  it("has title and author", async () => {
    const { title, author, shown } = await read(String.raw`{\info{\title Pl\'e4ne}{\author Ann}{\*\company X}{\comment no}}text\par`)
    expect({ title, author, shown }).toEqual({ title: "Pläne", author: "Ann", shown: ["paragraph: text"] })
  })
})

describe("hostile and damaged files", () => {
  it("give what is there when cut off", async () => {
    const whole = `${header}${String.raw`\pard one\par two {\b bold`}`
    expect((await readWith(rtf, Buffer.from(whole))).shown).toEqual(["paragraph: one", "paragraph: two bold"])
    expect((await readWith(rtf, Buffer.from(`${whole}}}}}}}} after\\'`))).shown).toEqual(["paragraph: one", "paragraph: two bold after"])
    expect((await read(String.raw`a\par{\pict\bin999999999 x`)).shown).toEqual(["paragraph: a"])
  })

  it("end with the right problem", async () => {
    expect(await problemOf(rtf, Buffer.from("plain text"))).toBe("corrupt")
    expect(await problemOf(rtf, Buffer.from(`{\\rtf1 ${"{".repeat(100_000)}`))).toBe("limit")
    expect(await problemOf(rtf, Buffer.from(`{\\rtf1 ${"word ".repeat(1_000)}\\par}`), { characters: 100 })).toBe("limit")
  })
})
