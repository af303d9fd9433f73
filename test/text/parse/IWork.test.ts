import { describe, expect, it } from "vitest"
import { iWork } from "../../../src/text/parse/IWork.ts"
import { sniff } from "../../../src/text/parse/Sniff.ts"
import { defaultLimits } from "../../../src/text/Prepared.ts"
import { problemOf, readWith } from "./support/ReadWith.ts"
import { zipOf } from "./support/ZipWriter.ts"

type Value = number | string | Buffer | ReadonlyArray<Field>
type Field = readonly [field: number, value: Value]

const varint = (value: number): Buffer => {
  const bytes: Array<number> = []
  for (let left = value;; left = Math.floor(left / 128)) {
    if (left < 128) return Buffer.from([...bytes, left])
    bytes.push((left % 128) + 128)
  }
}

const message = (fields: ReadonlyArray<Field>): Buffer =>
  Buffer.concat(fields.flatMap(([field, value]) => {
    if (typeof value === "number") return [varint(field * 8), varint(value)]
    const bytes = typeof value === "string" ? Buffer.from(value) : Buffer.isBuffer(value) ? value : message(value)
    return [varint(field * 8 + 2), varint(bytes.length), bytes]
  }))

const ref = (id: number): ReadonlyArray<Field> => [[1, id]]

interface Thing {
  readonly id: number
  readonly type: number
  readonly fields: ReadonlyArray<Field>
  readonly to?: ReadonlyArray<number>
}

/** An archive of objects, in blocks of one literal each, and of a copy where bytes recur. */
const iwa = (...things: ReadonlyArray<Thing>): Buffer => {
  const data = Buffer.concat(things.flatMap(({ fields, id, to = [], type }) => {
    const body = message(fields)
    const info = message([[1, id], [2, [[1, type], [2, Buffer.from([1, 0, 5])], [3, body.length], [5, Buffer.concat(to.map(varint))]]]])
    return [varint(info.length), info, body]
  }))
  const literal = Buffer.concat([Buffer.from([61 << 2, (data.length - 1) & 255, (data.length - 1) >> 8]), data])
  const block = Buffer.concat([varint(data.length), literal])
  return Buffer.concat([Buffer.from([0, block.length & 255, block.length >> 8, 0]), block])
}

/** A storage of text; styles and lists by where they begin. */
const storage = (id: number, text: string, more: ReadonlyArray<Field> = [], to: ReadonlyArray<number> = []): Thing => ({
  id,
  type: 2001,
  fields: [[3, text], ...more],
  to
})
const runs = (...entries: ReadonlyArray<readonly [at: number, id?: number]>): Value =>
  entries.map(([at, id]) => [1, id === undefined ? [[1, at]] : [[1, at], [2, ref(id)]]] as const)

const pages = (...things: ReadonlyArray<Thing>) => zipOf({ "Index/Document.iwa": iwa(...things) })

describe("a shared document", () => {
  it("is read without the changes that it keeps apart", async () => {
    const document: Thing = { id: 1, type: 10_000, fields: [[4, ref(2)]] }
    const file = zipOf({ "Index/Document.iwa": iwa(document, storage(2, "Minutes")), "Index/OperationStorage-7.iwa": "no objects" })
    expect((await readWith(iWork, file)).text).toBe("Minutes")
  })
})

describe("Pages", () => {
  it("gives headings, lists, footnotes and comments where they belong, and text boxes after the text", async () => {
    const text = "Leave\nAn employee has 28 days.\ufffc\nin spring\nin autumn\nfirst\nsecond\nGone for good."
    const at = (words: string) => text.indexOf(words)
    const file = pages(
      { id: 1, type: 10_000, fields: [[4, ref(2)]], to: [3, 2, 4, 5] },
      { id: 4, type: 401, fields: [], to: [9] },
      storage(9, "Text of a template."),
      storage(2, text, [
        [5, runs([0, 20], [at("An"), 21])],
        [7, runs([0, 30], [at("in spring"), 31], [at("first"), 32], [at("Gone"), 30])],
        [16, runs([at("\ufffc"), 40])],
        [22, runs([at("Gone") + 4, 50], [at("Gone") + 13])],
        [23, runs([at("Gone"), 60], [at("Gone") + 4])]
      ]),
      { id: 20, type: 2022, fields: [[1, [[3, ref(22)]]]] },
      { id: 22, type: 2022, fields: [[1, [[1, "Heading 2"]]]] },
      { id: 21, type: 2022, fields: [[1, [[1, "Body"]]]] },
      { id: 30, type: 2023, fields: [[11, 0]] },
      { id: 31, type: 2023, fields: [[11, 2]] },
      { id: 32, type: 2023, fields: [[11, 3]] },
      { id: 40, type: 2008, fields: [[2, ref(41)]], to: [41] },
      storage(41, "From the first of January."),
      { id: 60, type: 2013, fields: [[1, ref(61)]], to: [61] },
      { id: 61, type: 3056, fields: [[1, "Is that so?"], [4, ref(62)]] },
      { id: 62, type: 3056, fields: [[1, "It is."]] },
      { id: 3, type: 2011, fields: [], to: [5] },
      storage(5, "In a box\u2028of two lines")
    )
    const { blocks, shown, title } = await readWith(iWork, file)
    expect(shown).toEqual([
      "heading: Leave",
      "paragraph: An employee has 28 days.",
      "paragraph: From the first of January.",
      "list: - in spring\n- in autumn\n1. first\n2. second",
      "paragraph: Gone.",
      "paragraph: Comment: Is that so?",
      "paragraph: Comment: It is.",
      "paragraph: In a box\nof two lines"
    ])
    expect(title).toBe("Leave")
    expect(blocks[0]?.level).toBe(2)
  })

  it("is known by its content, whatever its name", () => {
    const file = pages({ id: 1, type: 10_000, fields: [] })
    for (const name of ["a.pages", "a.key", "a"]) expect(sniff(file, name, defaultLimits)).toBe("iwork")
    expect(() => sniff(Buffer.from("-----BEGIN KEY-----\nabc\n"), "server.key", defaultLimits)).not.toThrow(/iWork/)
  })

  it("is refused by name where it is damaged, protected, or unpacks without end", async () => {
    const whole = iwa({ id: 1, type: 10_000, fields: [[4, ref(2)]] }, storage(2, "Words"))
    expect(await problemOf(iWork, zipOf({ "Index/Document.iwa": whole.subarray(0, -4) }))).toBe("corrupt")
    expect(await problemOf(iWork, zipOf({ "Index/Document.iwa": iwa(storage(2, "Words")) }))).toBe("corrupt")
    expect(await problemOf(iWork, zipOf({ "Index/Document.iwa": whole, ".iwph": Buffer.from("hint") }))).toBe("encrypted")
    // 1 GB from a few bytes, and a copy from before the beginning.
    const bomb = Buffer.concat([varint(2 ** 30), Buffer.from([0, 65])])
    const early = Buffer.from([4, 0x02, 0x10, 0x00])
    for (const block of [bomb, early]) {
      const file = Buffer.concat([Buffer.from([0, block.length, 0, 0]), block])
      expect(await problemOf(iWork, zipOf({ "Index/Document.iwa": file }))).toMatch(/corrupt|limit/)
    }
  })
})

describe("Keynote", () => {
  it("gives slides in their order with titles, bodies and notes, nothing of masters, and says which are hidden", async () => {
    const slide = (id: number, title: string, body: string, hidden: number): ReadonlyArray<Thing> => [
      { id, type: 4, fields: [[2, ref(id + 1)], [4, hidden]], to: [id + 1] },
      {
        id: id + 1,
        type: 5,
        fields: [[5, ref(id + 2)], [6, ref(id + 3)], [17, ref(90)], [27, ref(id + 4)]],
        to: [90, id + 4, id + 3, id + 2]
      },
      { id: id + 2, type: 7, fields: [], to: [id + 1, id + 5] },
      { id: id + 3, type: 7, fields: [], to: [id + 1, id + 6] },
      { id: id + 4, type: 15, fields: [[1, ref(id + 7)]], to: [id + 7] },
      storage(id + 5, title),
      storage(id + 6, body),
      storage(id + 7, `Say: ${title}`)
    ]
    const inner = zipOf({
      "Index/Document.iwa": iwa(
        { id: 1, type: 1, fields: [[2, ref(2)]], to: [2] },
        { id: 2, type: 2, fields: [[2, ref(95)], [3, [[2, ref(20)], [2, ref(10)]]]], to: [95, 10, 20] },
        { id: 90, type: 6, fields: [], to: [91] },
        storage(91, "Title Text"),
        ...slide(10, "Second", "More", 1)
      ),
      "Index/Slide-20.iwa": iwa(...slide(20, "First", "Some", 0))
    })
    const { pages: count, remarks, shown, title } = await readWith(iWork, zipOf({ "Show.key/Index.zip": Buffer.from(inner) }))
    expect(shown.filter((block) => !block.startsWith("pageBreak"))).toEqual([
      "heading: First",
      "paragraph: Some",
      "paragraph: Say: First",
      "heading: Second",
      "paragraph: More",
      "paragraph: Say: Second"
    ])
    expect([count, title, remarks]).toEqual([2, "First", [{ kind: "hidden", text: "slide 2", pages: [2] }]])
  })
})

/** A cell of the form since 2016: its type, and its fields by their flags. */
const cell = (type: number, flags: number, ...fields: ReadonlyArray<Buffer>): Buffer => {
  const head = Buffer.alloc(12)
  head[0] = 5
  head[1] = type
  head.writeUInt32LE(flags, 8)
  return Buffer.concat([head, ...fields])
}
const key = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
const double = (value: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes
}
/** decimal128: a significand and a power of ten. */
const decimal = (significand: number, power: number): Buffer => {
  const bytes = Buffer.alloc(16)
  bytes.writeUIntLE(Math.abs(significand), 0, 6)
  bytes.writeUInt16LE(((power + 0x1820) << 1) | (significand < 0 ? 0x8000 : 0), 14)
  return bytes
}

describe("Numbers", () => {
  it("gives the cells of its tables by what they show, with what stands beside them", async () => {
    const row = (number: number, ...cells: ReadonlyArray<Buffer | undefined>): Field => {
      let at = 0
      const offsets = Buffer.concat(cells.map((one) => {
        const bytes = Buffer.alloc(2)
        bytes.writeUInt16LE(one === undefined ? 0xffff : at)
        at += one?.length ?? 0
        return bytes
      }))
      return [5, [[1, number], [2, cells.length], [6, Buffer.concat(cells.flatMap((one) => one ?? []))], [7, offsets]]]
    }
    const file = pages(
      { id: 1, type: 1, fields: [[1, ref(2)]], to: [2] },
      { id: 2, type: 2, fields: [[1, "Budget"], [2, ref(3)], [2, ref(4)]], to: [3, 4] },
      { id: 3, type: 6000, fields: [[2, ref(5)]], to: [5] },
      {
        id: 5,
        type: 6001,
        fields: [[8, "Costs"], [22, 1], [4, [[3, [[1, [[1, 0], [2, ref(6)]]]]], [4, ref(7)], [17, ref(8)], [19, ref(11)]]]],
        to: [6, 7, 8]
      },
      {
        id: 6,
        type: 6002,
        fields: [
          row(0, cell(3, 8, key(1)), cell(3, 8, key(2)), cell(9, 0x10, key(1))),
          row(1, cell(5, 4, double(86_400 * 31)), cell(2, 1, decimal(-1234567, -2)), cell(6, 2, double(1))),
          row(3, cell(7, 2, double(90)), undefined, cell(10, 0x80_001, decimal(5, 0), key(1)))
        ]
      },
      { id: 7, type: 6005, fields: [[1, 1], [3, [[1, 1], [3, "Day"]]], [3, [[1, 2], [3, "Sum"]]]] },
      { id: 8, type: 6005, fields: [[1, 8], [3, [[1, 1], [9, ref(9)]]]] },
      { id: 9, type: 6218, fields: [[1, ref(10)]] },
      storage(10, "Paid\nyet"),
      { id: 11, type: 6005, fields: [[1, 10], [3, [[1, 1], [10, ref(12)]]]] },
      { id: 12, type: 3056, fields: [[1, "Too much"]] },
      { id: 4, type: 2011, fields: [], to: [13] },
      storage(13, "All in euros")
    )
    expect((await readWith(iWork, file)).shown).toEqual([
      "heading: Budget",
      "paragraph: Costs",
      "table: Day | Sum | Paid yet\n2001-02-01 | -12345.67 | TRUE",
      "table: 90 s | 5",
      "paragraph: Comment: Too much",
      "paragraph: All in euros"
    ])
  })
})

describe("what was written until 2012", () => {
  it("gives the texts and tables of its XML, and nothing of its templates", async () => {
    const xml = `<key:presentation xmlns:key="http://developer.apple.com/namespaces/keynote2"
      xmlns:sf="http://developer.apple.com/namespaces/sf" xmlns:sfa="http://developer.apple.com/namespaces/sfa">
      <key:theme-list><sf:p>Title Text</sf:p></key:theme-list>
      <key:slide-list><key:slide><key:title-placeholder><sf:p>Plan</sf:p></key:title-placeholder>
        <sf:p>One<sf:br/>two <sf:span>three</sf:span></sf:p>
        <sf:grid sf:numcols="2"><sf:datasource>
          <sf:t sf:ct="0"><sf:ct sfa:s="Day"/></sf:t><sf:t><sf:ct sfa:s="Kind"/></sf:t>
          <sf:d sf:ct="255" sf:cell-date="276048000"/>
          <sf:pm><sf:menu-choices><sf:t sfa:ID="a"><sf:ct sfa:s="Food"/></sf:t><sf:t sfa:ID="b"><sf:ct sfa:s="Home"/></sf:t></sf:menu-choices>
            <sf:proxied-cell-ref sfa:IDREF="b"/></sf:pm>
          <sf:f><sf:fo sf:fs="=A+B"/><sf:r><sf:rn sf:v="3.1000000000000001"/></sf:r></sf:f>
        </sf:datasource></sf:grid>
        <key:notes><sf:p>Slowly</sf:p></key:notes></key:slide></key:slide-list></key:presentation>`
    const file = zipOf({ "index.apxl": xml, "buildVersionHistory.plist": "<plist/>" })
    expect(sniff(file, "show.key", defaultLimits)).toBe("iwork")
    const { pages: count, shown, title } = await readWith(iWork, file)
    expect(shown).toEqual([
      "heading: Plan",
      "paragraph: One\ntwo three",
      "table: Day | Kind\n2009-10-01 | Home | 3.1",
      "paragraph: Slowly"
    ])
    expect([title, count]).toEqual(["Plan", 1])
  })
})
