import { describe, expect, it } from "vitest"
import { decodeCodePage } from "../../../src/text/parse/CodePages.ts"
import { decode, decodeAs, guessOf } from "../../../src/text/parse/Decode.ts"

/** A charset's bytes by character, from what each of its bytes and pairs of bytes is read as. */
const encoder = (charset: string): (text: string) => Buffer => {
  const bytes = new Map<string, ReadonlyArray<number>>()
  const learn = (...codes: ReadonlyArray<number>): void => {
    const character = decodeAs(Uint8Array.from(codes), charset)
    if (Array.from(character).length === 1 && character !== "\ufffd" && !bytes.has(character)) bytes.set(character, codes)
  }
  for (let byte = 0; byte < 256; byte++) learn(byte)
  if (/jis|euc|big5|gb/.test(charset)) {
    for (let lead = 0x81; lead < 0xff; lead++) for (let trail = 0x40; trail < 0xff; trail++) learn(lead, trail)
  }
  return (text) => Buffer.from(Array.from(text).flatMap((character) => bytes.get(character) ?? []))
}

const sentences: ReadonlyArray<readonly [language: string, charsets: ReadonlyArray<string>, text: string]> = [
  [
    "German",
    ["windows-1252", "macintosh", "ibm850"],
    "Die Rücksendung übergroßer Geräte müssen Sie vorher ankündigen. Für Schäden haften wir gemäß den Bedingungen für Käufer. "
  ],
  [
    "French",
    ["windows-1252", "macintosh", "ibm850"],
    "Les élèves ont présenté leur pièce d'identité à l'entrée du bâtiment ; après l'été, la société a été créée près du théâtre. "
  ],
  [
    "Spanish",
    ["windows-1252", "macintosh"],
    "El próximo año la compañía abrirá más oficinas en España. ¿Cuándo llegará el señor Muñoz con la información? "
  ],
  [
    "Polish",
    ["windows-1250", "iso-8859-2", "ibm852"],
    "Zażółć gęślą jaźń, proszę państwa: wyjątkowo późną nocą książę świętował urodziny małżonki w zamku. "
  ],
  [
    "Czech",
    ["windows-1250", "iso-8859-2"],
    "Příliš žluťoučký kůň úpěl ďábelské ódy, zatímco děti běžely přes zelenou louku k řece a zpátky. "
  ],
  [
    "Russian",
    ["windows-1251", "koi8-r", "ibm866", "iso-8859-5"],
    "Договор поставки заключён между сторонами на следующих условиях, и каждая из них подтверждает его. "
  ],
  ["Greek", ["windows-1253", "iso-8859-7"], "Η σύμβαση αυτή συνάπτεται μεταξύ των μερών με τους παρακάτω όρους και ισχύει από σήμερα. "],
  ["Turkish", ["windows-1254"], "Şirketimiz müşterilerin şikâyetlerini değerlendirir, gerekli çözümü en kısa sürede bulmaya çalışır. "],
  [
    "Japanese",
    ["shift_jis", "euc-jp"],
    "この契約は両方の会社の間で結ばれるものとし、東京都の図書館の利用時間は午前九時から午後五時までです。"
  ],
  ["Chinese", ["gb18030"], "本合同由双方在平等的基础上签订，自签字之日起生效，我们的产品都要经过严格的检查。"],
  ["Traditional Chinese", ["big5"], "本合約由雙方在平等的基礎上簽訂，自簽字之日起生效，我們的產品都要經過嚴格的檢查。"],
  ["Korean", ["euc-kr"], "이 계약은 양쪽 회사가 서로의 이익을 위하여 맺는 것으로 오늘부터 효력을 가진다고 한다."]
]

const readOf = (bytes: Uint8Array): string | undefined => {
  try {
    return decode(bytes)
  } catch {
    return undefined
  }
}

describe.each(sentences)("%s", (_, charsets, text) => {
  it.each(charsets)("in %s is read as written, or its charset is unknown", (charset) => {
    const encode = encoder(charset)
    expect(decodeAs(encode(text), charset)).toBe(text)
    for (const size of [40, 200, 2000]) {
      const repeated = Array.from(text.repeat(Math.ceil(size / text.length)))
      // Not inside a character, and not the same words at each size.
      const bytes = encode(repeated.slice(size === 40 ? 4 : 0, size).join("")).subarray(0, size)
      const part = decodeAs(bytes, charset).replace(/\ufffd$/, "")
      if (size === 40) {
        // So little may say too little: then nothing is said in its place.
        expect([part, undefined]).toContain(readOf(encode(part)))
      } else {
        const whole = encode(part)
        expect(decode(whole)).toBe(part)
        expect(guessOf(whole)?.confidence).toBeGreaterThan(0.75)
      }
    }
  })
})

describe("a text of which few characters are in doubt", () => {
  const english = "The otter crossed the river before dawn, and nobody saw it go. "
  it("is read as is most likely, with little confidence", () => {
    const noise = Buffer.from(`${english.repeat(10)}a\x98\x81b${english.repeat(10)}`, "latin1")
    expect(decode(noise)).toContain(english.repeat(10))
    expect(guessOf(noise)?.confidence).toBeLessThan(0.75)
  })

  it("is not read where they are more", () => {
    expect(() => decode(Buffer.from(`The otter a\x98\x81b crossed`, "latin1"))).toThrow("charset unknown")
  })
})

describe("EBCDIC", () => {
  it.each([
    [
      "ibm037",
      "c4898540d9dc8392a2859584a495874084859940c7859943a38540baa28985888540c1958881958740c1bb408881a34084859940d243a48685994089954084859940c69989a2a3408195a9a492dc9584898785956b40848985408889859940878595819595a34089a2a35a"
    ],
    [
      "ibm500",
      "c4898540d9dc8392a2859584a495874084859940c7859943a385404aa28985888540c1958881958740c15a408881a34084859940d243a48685994089954084859940c69989a2a3408195a9a492dc9584898785956b40848985408889859940878595819595a34089a2a34f"
    ],
    [
      "ibm273",
      "c4898540d9d08392a2859584a495874084859940c78599c0a3854063a28985888540c1958881958740c1fc408881a34084859940d2c0a48685994089954084859940c69989a2a3408195a9a492d09584898785956b40848985408889859940878595819595a34089a2a34f"
    ],
    [
      "ibm1047",
      "c4898540d9dc8392a2859584a495874084859940c7859943a38540ada28985888540c1958881958740c1bd408881a34084859940d243a48685994089954084859940c69989a2a3408195a9a492dc9584898785956b40848985408889859940878595819595a34089a2a35a"
    ]
  ])("in the code page %s, by where its signs stand", (charset, hex) => {
    const bytes = Buffer.from(hex, "hex")
    expect(decode(bytes)).toBe(
      "Die Rücksendung der Geräte [siehe Anhang A] hat der Käufer in der Frist anzukündigen, die hier genannt ist!"
    )
    expect(guessOf(bytes)).toMatchObject({ charset })
    // Too short to be told, it is no Chinese either.
    expect(readOf(bytes.subarray(0, 12))).toBeUndefined()
  })

  it("is not seen in ASCII, whatever its signs", () => {
    for (const text of [`${"@".repeat(40)}K\n`, "@k@k@K%@".repeat(40)]) expect(decode(Buffer.from(text))).toBe(text)
  })
})

describe("a code page by its number", () => {
  it.each([
    [437, "81", "ü"],
    [932, "938c8b9e", "東京"],
    [1200, "2c67", "本"],
    [1251, "cff0", "Пр"],
    [20866, "f0d2", "Пр"],
    [28592, "a3f364bc", "Łódź"],
    [50220, "1b2442456c357e1b2842", "東京"],
    [28602, "e9", "é"],
    [4711, "e9", "é"]
  ])("%i", (codePage, bytes, text) => {
    expect(decodeCodePage(codePage, Buffer.from(bytes, "hex"))).toBe(text)
  })
})
