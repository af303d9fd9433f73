import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { embedHashed } from "../../src/text/hashed/EmbedHashed.ts"
import { HashEmbedder } from "../../src/models/HashEmbedder.ts"
import { Embedder } from "../../src/ports/Embedder.ts"

const document = (text: string): Float32Array => embedHashed(text, "document")

const cosine = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0)

const similarity = (question: string, text: string): number => cosine(embedHashed(question, "query"), document(text))

const kept = (vector: Float32Array): number => vector.filter((value) => value !== 0).length

describe("HashEmbedder", () => {
  it.effect("gives one unit vector a text, in order, of the length it promises", () =>
    Effect.gen(function*() {
      const embedder = yield* Embedder
      const vectors = yield* embedder.embed(["Travel expenses are paid monthly.", "", "Reisekosten"], "document")
      assert.deepStrictEqual(vectors.map((vector) => vector.length), Array.from({ length: 3 }, () => embedder.dimensions))
      assert.deepStrictEqual(vectors.map((vector) => Math.round(cosine(vector, vector) * 1e5) / 1e5), [1, 0, 1])
      assert.deepStrictEqual(vectors[0], document("Travel expenses are paid monthly."))
    }).pipe(Effect.provide(HashEmbedder)))

  it("does not depend on what was embedded before", () => {
    const text = "Vacation requests go to the team lead, zwei Wochen vorher. 休暇の申請は二週間前まで。"
    const first = document(text)
    for (let i = 0; i < 40; i++) document(Array.from({ length: 2_000 }, (_, j) => `filler${(i * 2_000 + j).toString(36)}`).join(" "))
    assert.deepStrictEqual(document(text), first)
  })

  it("has the numbers it had in other releases: a change needs another id", () => {
    const vector = document("How do I book a meeting room?")
    const strongest = [...vector.keys()].sort((a, b) => Math.abs(vector[b]!) - Math.abs(vector[a]!)).slice(0, 4)
    assert.deepStrictEqual(
      strongest.map((i) => [i, Math.round(vector[i]! * 1e4)]),
      pinned
    )
  })

  it("knows other forms of a word, parts of compounds and misspellings", () => {
    const others = ["The canteen opens at noon.", "Printers are on the second floor."]
    for (
      const [question, text] of [
        ["reimbursing", "Reimbursement takes ten days."],
        ["Kündigung", "Die Kündigungsfrist beträgt drei Monate."],
        ["passwort", "The password expires every year."],
        ["uber", "Über uns"]
      ] as const
    ) {
      const right = similarity(question, text)
      for (const other of others) assert.isAbove(right, similarity(question, other) + 0.1, question)
    }
  })

  it("matches Thai, Lao, Khmer and Burmese by the words that a dictionary finds in them", () => {
    for (
      const [question, right, wrong] of [
        ["โรงพยาบาล", "บ้านของฉันอยู่ใกล้โรงพยาบาลแห่งใหม่ริมแม่น้ำ", "พนักงานทุกคนลาพักร้อนได้ปีละสิบวัน"],
        ["น้ำตาล", "กาแฟร้อนไม่ใส่น้ำตาลและนม", "พนักงานทุกคนลาพักร้อนได้ปีละสิบวัน"],
        ["ໂຮງໝໍ", "ເຮືອນຂອງຂ້ອຍຢູ່ໃກ້ໂຮງໝໍ", "ພະນັກງານທຸກຄົນພັກໄດ້ສິບວັນ"],
        ["មន្ទីរពេទ្យ", "ផ្ទះខ្ញុំនៅជិតមន្ទីរពេទ្យ", "បុគ្គលិកទាំងអស់ឈប់សម្រាកដប់ថ្ងៃ"],
        ["ဆေးရုံ", "ကျွန်တော့်အိမ်သည်ဆေးရုံအနီးမှာရှိသည်", "ဝန်ထမ်းတိုင်းဆယ်ရက်ခွင့်ယူနိုင်သည်"]
      ] as const
    ) assert.isAbove(similarity(question, right), similarity(question, wrong) + 0.2, question)
  })

  it("matches Chinese, Japanese and Korean by pairs of characters", () => {
    assert.isAbove(similarity("休暇申請", "有給休暇の申請は人事部へ。"), similarity("休暇申請", "社員食堂は二階です。") + 0.2)
    assert.isAbove(similarity("출장비", "출장비는 매월 지급됩니다."), similarity("출장비", "식당은 정오에 엽니다.") + 0.2)
  })

  it("weighs function words little", () => {
    assert.isAbove(similarity("what is the deadline", "deadline"), similarity("what is the deadline", "what is the") + 0.3)
  })

  it("is sparse: about 300 components for 200 tokens, never more than 512", () => {
    const words = Array.from({ length: 5_000 }, (_, i) => `term${(i * 7919).toString(36)}`)
    assert.isAtMost(kept(document(words.slice(0, 110).join(" "))), 300)
    assert.isAtMost(kept(document(words.join(" "))), 512)
  })

  it("takes whatever text holds", () => {
    for (const text of ["\ud83d\ude00", "a".repeat(100_000), "\u0000\ufffd", "…—„“", "\ud800 alone"]) {
      const vector = document(text)
      assert.isFalse(vector.some((value) => !Number.isFinite(value)))
    }
    assert.strictEqual(kept(document("… — !?")), 0)
  })
})

const pinned = [[795, -3750], [1682, -3750], [1761, 3750], [1531, 2500]]
