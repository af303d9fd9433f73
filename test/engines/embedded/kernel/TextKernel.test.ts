import { assert, describe, it } from "@effect/vitest"
import { readerOf } from "../../../../src/engines/embedded/kernel/TextKernel.ts"
import { packSparse } from "../../../../src/engines/embedded/store/Vector.ts"
import { DocumentTerms } from "../../../../src/search/analysis/DocumentTerms.ts"
import { Vocabulary } from "../../../../src/search/analysis/Vocabulary.ts"
import { PlainReader } from "../../../../src/search/analysis/WordReader.ts"
import { embedHashedSparse } from "../../../../src/text/hashed/EmbedHashed.ts"
import { dimensions, forEachFeature } from "../../../../src/text/hashed/Features.ts"
import { random } from "../support/Random.ts"

const withKernel = (mostRemembered?: number) => new DocumentTerms(new Vocabulary(), mostRemembered, readerOf)
const withoutKernel = () => new DocumentTerms(new Vocabulary())

const vectorOf = (documents: DocumentTerms, text: string) => {
  const { vector } = documents.scan(text, "Above it", true)
  return vector === undefined ? undefined : Uint8Array.from(vector)
}

/** Its vector by the kernel is that of the embedder. */
const checkVector = (documents: DocumentTerms, text: string, about = text): void =>
  assert.deepStrictEqual(vectorOf(documents, text), packSparse(embedHashedSparse(text, "document"), dimensions), about)

/** Any characters at all, most of them ASCII. */
const anything = (seed: number, length: number): string => {
  const next = random(seed)
  const kinds: ReadonlyArray<() => number> = [
    () => next() * 128,
    () => 0x61 + next() * 26,
    () => 0x61 + next() * 4,
    () => 0x20,
    () => 0x2c + next() * 16,
    () => next() * 0x250,
    () => next() * 0x10ffff
  ]
  return Array.from({ length }, () => String.fromCodePoint(Math.floor(kinds[Math.floor(next() ** 2 * kinds.length)]!()))).join("")
}

describe("the kernel of words and vectors", () => {
  it("runs on this machine", () => {
    assert.notInstanceOf(readerOf(() => undefined), PlainReader)
  })

  it("finds the words of any text and what tells its language, as plain code does", () => {
    const [fast, plain] = [withKernel(), withoutKernel()]
    for (let seed = 1; seed <= 400; seed++) {
      const text = anything(seed, 1 + ((seed * 37) % 700))
      const above = seed % 3 === 0 ? anything(-seed, 40) : ""
      assert.deepStrictEqual(fast.scan(text, above), plain.scan(text, above), JSON.stringify(text))
      assert.deepStrictEqual(fast.survey(text), plain.survey(text))
    }
    assert.deepStrictEqual(fast.surfaces, plain.surfaces)
  })

  it("makes vectors of any text", () => {
    const documents = withKernel()
    let made = 0
    for (let seed = 1; seed <= 300; seed++) {
      const text = anything(seed, (seed * 97) % 2_000)
      // With digits of other scripts it is another text.
      if (vectorOf(documents, text) === undefined) continue
      checkVector(documents, text)
      made++
    }
    assert.isAbove(made, 100)
  })

  it("makes vectors of words that occur often, of none, and of few", () => {
    const documents = withKernel()
    for (
      const text of ["", " ", "!", "a", "the", "The the THE", "lantern ".repeat(255), "lantern ".repeat(256), "the lantern ".repeat(5_000)]
    ) {
      checkVector(documents, text, `${text.slice(0, 20)} of ${text.length}`)
    }
  })

  it("makes vectors that have no zeros", () => {
    const taken = new Set<number>()
    let text = ""
    for (let unit = 0x4e00; unit < 0xd7a0; unit++) {
      const character = String.fromCharCode(unit)
      if (!/[\p{sc=Han}\p{sc=Hang}]/u.test(character)) continue
      forEachFeature(character, (slot) => {
        if (taken.has(slot >> 1)) return
        taken.add(slot >> 1)
        text += `${character} `
      })
    }
    assert.strictEqual(taken.size, dimensions)
    const documents = withKernel()
    assert.strictEqual(vectorOf(documents, text)?.length, dimensions + 1)
    checkVector(documents, text, "a character for each component")
  })

  it("has room for a text of more words than it had ever room for, and for others after it", () => {
    const [fast, plain, other] = [withKernel(), withoutKernel(), withKernel()]
    const text = Array.from({ length: 190_000 }, (_, i) => `w${i.toString(36)}`).join(" ")
    for (const part of [text.slice(0, 2_000), text, "Others get numbers after them.", text.slice(-2_000)]) {
      assert.deepStrictEqual(fast.scan(part), plain.scan(part))
      checkVector(other, part, `${part.length}`)
    }
    assert.isTrue(fast.forgetIfFull())
    assert.isTrue(plain.forgetIfFull())
    assert.deepStrictEqual(fast.scan("Others again"), plain.scan("Others again"))
    checkVector(other, "Others again")
  })

  it("forgets words before long ones take much more room than their number says", () => {
    const documents = withKernel()
    const wordOf = (i: number): string => `${i.toString(36)}${"x".repeat(50)}`
    let read = 0
    for (; !documents.forgetIfFull(); read += 100) {
      checkVector(documents, Array.from({ length: 100 }, (_, i) => wordOf(read + i)).join(" "), `${read}`)
    }
    assert.isAbove(read, 10_000)
    assert.isBelow(read, 60_000)
  })
})
