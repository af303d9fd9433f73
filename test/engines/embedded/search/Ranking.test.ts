import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Context } from "../../../../src/domain/Retrieval.ts"
import { textHash } from "../../../../src/engines/embedded/store/Hash.ts"
import { packSparse } from "../../../../src/engines/embedded/store/Vector.ts"
import { embedHashedSparse, embedWeighed } from "../../../../src/text/hashed/EmbedHashed.ts"
import { StoreBench } from "../support/StoreBench.ts"

interface File {
  readonly name: string
  readonly title?: string
  readonly texts: ReadonlyArray<string>
}

type Ask = (query: string, alpha?: number, count?: number, correctSpelling?: boolean) => ReadonlyArray<Context>

/** Asks a corpus of these files, in a mixed search unless `alpha` is 0. */
const ask = (files: ReadonlyArray<File>, ...question: Parameters<Ask>): ReadonlyArray<Context> =>
  withCorpus(files, (ask) => ask(...question))

const withCorpus = <A>(files: ReadonlyArray<File>, use: (ask: Ask) => A): A => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-"))
  try {
    const bench = new StoreBench(dir)
    bench.createCorpus("c")
    for (const { name, texts, title } of files) {
      const chunks = texts.map((text) => ({ text, headings: [], byteStart: 0, byteEnd: 1, tokens: 1, hash: textHash(text) }))
      const vectors = chunks.map(({ hash, text }) => ({ hash, vector: packSparse(embedHashedSparse(text, "document"), 2048) }))
      bench.send("putVectors", { embedder: "none", vectors, at: 0 })
      bench.send("putFile", {
        corpus: "c",
        file: { name, displayName: name, sourceUri: name, sizeBytes: 1, tokens: 1, chunks, ...(title === undefined ? {} : { title }) },
        at: 0
      })
    }
    return use((query, alpha = 0.25, count = 10, correctSpelling = false) =>
      bench.search.run(bench.row("c"), {
        query,
        count,
        alpha,
        vector: (weigh) => embedWeighed(query, weigh),
        correctSpelling,
        explain: true
      })
    )
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const filler: ReadonlyArray<File> = Array.from({ length: 8 }, (_, i) => ({
  name: `filler-${i}`,
  texts: [`This is a note about gardens and the weather of month ${i}, with some words that are in many notes.`]
}))

describe("ranking", () => {
  it("takes a word's forms in several languages for one word, as frequent as all of them", () => {
    // One German chunk has "organisation" unstemmed; English ones have its stem.
    const files: ReadonlyArray<File> = [
      ...Array.from(
        { length: 6 },
        (_, i) => ({ name: `en-${i}`, texts: [`The organisation of a term is what it is about, and this is the one of number ${i}.`] })
      ),
      { name: "rare", texts: ["The zymurgy of the region is what it is about."] },
      {
        name: "de",
        texts: ["Die Organisation ist ein Wort, das in der Sprache der Fachleute für die Sache steht und nicht für den Namen."]
      }
    ]
    const [first] = ask(files, "organisation zymurgy", 0)
    assert.strictEqual(first?.sourceDisplayName, "rare")
    const forms = (first?.explanation?.terms ?? []).filter(({ term }) => term.startsWith("organis"))
    assert.deepStrictEqual(forms.map(({ documentFrequency }) => documentFrequency).sort(), [1, 6])
    // The rare form is no rarer than the word.
    const [german, ...others] = ask(files, "organisation", 0)
    assert.isBelow(german?.explanation?.sparse ?? 1, 2 * (others[0]?.explanation?.sparse ?? 0))
  })

  it("goes to the file that the question names by its number, whatever else has the words", () => {
    const rules: ReadonlyArray<File> = Array.from({ length: 12 }, (_, i) => ({
      name: `rules/rule-${String(i + 1).padStart(4, "0")}.md`,
      texts: [
        `What is said about the length of a line in rule ${i}, rule 8 and others.`,
        `Chapter ${i} is about spaces and what stands between them.`
      ]
    }))
    const file: File = {
      name: "rules/rule-0008.md",
      texts: ["Limit the length of all lines to 79 characters, tabs included.", "Names are written in capitals."]
    }
    const all = [...rules.filter(({ name }) => name !== file.name), file]
    const [first] = ask(all, "What does rule 8 say about the length of lines?")
    assert.strictEqual(first?.sourceDisplayName, file.name)
    assert.strictEqual(first?.explanation?.named, true)
    // BM25 alone knows no names.
    assert.notStrictEqual(ask(all, "What does rule 8 say about the length of a line?", 0)[0]?.sourceDisplayName, file.name)
  })

  it("finds what explains an option in the manual of its command, which that chunk does not name", () => {
    const manual = (name: string, entries: ReadonlyArray<string>): File => ({
      name: `${name}.txt`,
      texts: [`NAME\n  ${name} - moves the loads of a ${name}`, `Examples of ${name}: ${name} -x load, ${name} -v load`, ...entries]
    })
    const entry = "  -v, --verbose\n      Say what is moved.\n\n  -V METHOD\n      By another method."
    const all = [
      ...filler,
      ...Array.from({ length: 60 }, (_, i) => ({ name: `v-${i}`, texts: [`v of ${i} is v, v and v`, `A v that is no ${i}: v`] })),
      manual("lift", [entry, "  -q  Nothing is said."]),
      manual("winch", [`${entry} The winch is told.`])
    ]
    const [first] = ask(all, "what does lift -v do")
    assert.deepInclude(first, { text: entry, sourceDisplayName: "lift.txt" })
    assert.strictEqual(first?.explanation?.options, 1)
    assert.strictEqual(ask(all, "lift -q")[0]?.text, "  -q  Nothing is said.")
    // BM25 alone knows words only.
    assert.isUndefined(ask(all, "what does lift -v do", 0)[0]?.explanation?.options)
  })

  it("finds what explains an option where its file is indexed before the other candidates", () => {
    const entry = "-v, --verbose\n  much is printed of all that is moved and of what is not moved, in full, and on standard error"
    const found = ask([
      { name: "lift.txt", texts: ["what lift does: the lift manual", entry] },
      { name: "others.txt", texts: Array.from({ length: 150 }, (_, i) => `what does a v do ${i}`) }
    ], "what does lift -v do")
    assert.strictEqual(found.find(({ text }) => text === entry)?.explanation?.options, 1)
  })

  it("prefers the chunk that has the question's neighbouring words near each other and in their order", () => {
    const apart = "A gauge in the yard is read at nine, when the warden comes. Rain is nothing that he likes, and pressure is high."
    const near = "A rain gauge in the yard is read at nine, when the warden comes. Nothing that he likes, and air pressure is high."
    const turned = "The gauge of rain in the yard is read at nine, when the warden comes. Pressure is high, of air that he likes."
    const all = [{ name: "apart", texts: [apart] }, { name: "near", texts: [near] }, { name: "turned", texts: [turned] }, ...filler]
    const [first, ...others] = ask(all, "where are the rain gauges and what is the air pressure")
    assert.strictEqual(first?.text, near)
    // Three pairs: gauge and air are near each other in none.
    assert.isAbove(first?.explanation?.proximity?.share ?? 0, 0.6)
    assert.isBelow(first?.explanation?.proximity?.share ?? 1, 0.7)
    for (const { explanation, text } of others.slice(0, 2)) {
      assert.include([apart, turned], text)
      assert.strictEqual(explanation?.proximity?.share, 0)
    }
    // The mix is what is explained; the score has the proximity too.
    assert.notStrictEqual(first?.score, first?.explanation?.fused)
    // BM25 alone knows no order, and a single word has none.
    assert.isUndefined(ask(all, "rain gauge", 0)[0]?.explanation?.proximity)
    assert.isUndefined(ask(all, "the gauge", 0.25)[0]?.explanation?.proximity)
  })

  it("prefers the file whose title or name has the question's words", () => {
    const text = "Days that are left at the end of a year are kept for the next one, on request, by the office."
    const titled = ask([...filler, { name: "a.md", title: "Notes", texts: [text] }, {
      name: "b.md",
      title: "Annual leave",
      texts: [`${text} `]
    }], "days of annual leave")
    assert.strictEqual(titled[0]?.sourceDisplayName, "b.md")
    assert.isAbove(titled[0]?.explanation?.title ?? 0, 0)
    const named = ask([...filler, { name: "other", texts: ["Annual leave is another matter."] }, { name: "a.md", texts: [text] }, {
      name: "annual-leave.md",
      texts: [`${text} `]
    }], "days of annual leave")
    const places = named.map(({ sourceDisplayName }) => sourceDisplayName)
    assert.isBelow(places.indexOf("annual-leave.md"), places.indexOf("a.md"))
  })

  it("prefers the chunk with a heading that is the question, but not at alpha 0", () => {
    const list = Array.from({ length: 12 }, (_, i) => `acme${i} exporter, maintained exporter of the ${i} exporters`).join("\n")
    const glossary =
      "Collector\n\nA collector is a part of a client.\n\nExporters\n\nAn exporter is a program that runs beside an application."
    const files: ReadonlyArray<File> = [
      ...filler,
      { name: "list", texts: [list, `Further ones\n\n${list}`] },
      { name: "glossary", texts: [glossary] }
    ]
    withCorpus(files, (ask) => {
      for (const question of ["What is an exporter?", "exporters", "Exporter"]) {
        const [first, ...others] = ask(question)
        assert.strictEqual(first?.sourceDisplayName, "glossary", question)
        assert.isTrue(first?.explanation?.headed)
        assert.isUndefined(others[0]?.explanation?.headed)
        assert.strictEqual(ask(question, 0)[0]?.sourceDisplayName, "list")
      }
      assert.deepStrictEqual(ask("exporrter", 0.25, 10, true)[0]?.explanation?.terms.map(({ term }) => term), ["export"])
      // A question that says more than the heading is not the heading.
      assert.isUndefined(ask("Which exporter runs beside a client?").find(({ explanation }) => explanation?.headed)?.chunkId)
    })
  })

  it("prefers the passage of a file that is about the question, but not at alpha 0", () => {
    const passage = "The valve is opened before the pump is started."
    const files: ReadonlyArray<File> = [
      ...filler,
      { name: "cooking", texts: [passage, "Soup is cooked slowly.", "Bread is baked quickly."] },
      { name: "cooling", texts: [`${passage} `, "Coolant flows through the circuit.", "Coolant is changed every year."] }
    ]
    const query = "open the valve for the coolant"
    const [first] = ask(files, query)
    assert.strictEqual(first?.sourceDisplayName, "cooling")
    assert.isAbove(first?.explanation?.file ?? 0, 0)
    for (const { explanation } of ask(files, query, 0)) assert.isUndefined(explanation?.file)
  })

  it("gives the same first results however many are asked for", () => {
    const many: ReadonlyArray<File> = Array.from(
      { length: 60 },
      (_, i) => ({ name: `m-${i}`, texts: [`Valve number ${i} is part ${i % 7} of pump ${i % 11}.`] })
    )
    const names = (count: number) => ask(many, "valve part 3 of pump 5", 0.25, count).map(({ sourceDisplayName }) => sourceDisplayName)
    const all = names(60)
    assert.strictEqual(all.length, 60)
    assert.deepStrictEqual(names(8), all.slice(0, 8))
  })

  it("counts pairs with hiragana less than those that a text is about, unless BM25 alone is asked for", () => {
    const notes: ReadonlyArray<File> = Array.from(
      { length: 20 },
      (_, i) => ({ name: `note-${i}`, texts: [`${i}番目の植木鉢が庭園にある。`] })
    )
    // Formal texts ask no questions, so what asks is as rare as the subject.
    const files: ReadonlyArray<File> = [
      ...notes,
      { name: "subject", texts: ["蔵書印、蔵書票、蔵書数。"] },
      { name: "form", texts: ["人は何の役に立つのか、と問う。"] }
    ]
    const query = "蔵書は何の"
    const [mixed] = ask(files, query)
    assert.strictEqual(mixed?.sourceDisplayName, "subject")
    const factors = (contexts: ReadonlyArray<Context>) =>
      Object.fromEntries(
        (contexts[0]?.explanation?.terms ?? []).filter(({ shared }) => shared !== true).map(({ factor, term }) => [term, factor ?? 1])
      )
    assert.deepInclude(factors(ask(files, query)), { 蔵書: 1, は何: 0.3, 何の: 0.3 })
    assert.deepInclude(factors(ask(files, query, 0)), { 蔵書: 1, は何: 1, 何の: 1 })
    assert.strictEqual(ask(files, query, 0)[0]?.sourceDisplayName, "form")
  })

  describe("words that the best chunks share", () => {
    const others: ReadonlyArray<File> = Array.from({ length: 40 }, (_, i) => ({
      name: `other-${i}`,
      texts: [`Plant number ${i} stands in garden ${i % 9} beside bed ${i % 5}, and wants water in week ${i}.`]
    }))
    const about: ReadonlyArray<File> = [
      { name: "one", texts: ["A cataract clouds the lens, and phacoemulsification removes it under local anaesthesia."] },
      { name: "two", texts: ["The lens that a cataract has clouded goes by phacoemulsification, which surgeons prefer."] }
    ]
    const unsaid: File = { name: "unsaid", texts: ["Phacoemulsification takes ten minutes and needs a second visit."] }
    const query = "cataract of the lens"
    const shared = (contexts: ReadonlyArray<Context>) =>
      contexts[0]?.explanation?.terms.filter(({ shared }) => shared === true).map(({ term }) => term) ?? []

    it("find what the question has no word of, and explain says so", () => {
      const found = ask([...others, ...about, unsaid], query)
      assert.deepStrictEqual(found.slice(0, 3).map(({ sourceDisplayName }) => sourceDisplayName).sort(), ["one", "two", "unsaid"])
      assert.includeMembers([...shared(found)], ["phacoemulsif", "cataract"])
      const [term] =
        found.find(({ sourceDisplayName }) => sourceDisplayName === "unsaid")?.explanation?.terms.filter(({ term }) =>
          term === "phacoemulsif"
        ) ?? []
      assert.strictEqual(term?.termFrequency, 1)
      assert.isAbove(term?.weight ?? 0, 0)
    })

    it("are none of one chunk alone, nor of its copies", () => {
      assert.notInclude(shared(ask([...others, ...about], query)), "anaesthesia")
      const [one, two] = about
      const copies: ReadonlyArray<File> = [0, 1, 2].map((i) => ({ name: `copy-${i}`, texts: one?.texts ?? [] }))
      const found = shared(ask([...others, ...copies, ...(two === undefined ? [] : [two])], query))
      assert.include(found, "phacoemulsif")
      assert.notInclude(found, "anaesthesia")
    })

    it("are none that much of the corpus has, and none at alpha 0", () => {
      assert.notInclude(shared(ask([...others, ...about], "plant cataract lens")), "garden")
      assert.deepStrictEqual(shared(ask([...others, ...about, unsaid], query, 0)), [])
    })

    const weightOf = (term: string, contexts: ReadonlyArray<Context>, in_: string): number =>
      contexts.find(({ sourceDisplayName }) => sourceDisplayName === in_)?.explanation?.terms
        .find((one) => one.term === term && one.shared === true)?.weight ?? 0

    it("weigh no more for what a long question says besides", () => {
      const files = [...others, ...about, unsaid]
      const weight = (query: string) => weightOf("phacoemulsif", ask(files, query, 0.25, files.length), "unsaid")
      const short = weight(query)
      // Each of these words is in some chunk, but in none of the best.
      const long = weight(`${query}, not 21, 22, 23, 24, 25 and 26`)
      assert.isAbove(short, 0)
      assert.isAbove(long, 0)
      assert.isAtMost(long, 1.1 * short)
    })

    it("weigh little where the chunks have few words: each is much of them", () => {
      const weighed = (rest: string) => {
        const short: ReadonlyArray<File> = ["one", "two"].map((name) => ({
          name,
          texts: [`Cataract lens phacoemulsification ${rest} ${name}.`]
        }))
        return weightOf("phacoemulsif", ask([...others, ...short, unsaid], query), "unsaid")
      }
      const filled = weighed("which surgeons everywhere prefer because eyes heal sooner than after older operations with larger cuts")
      assert.isAbove(filled, 0)
      assert.isBelow(weighed(""), 3 * filled)
    })

    it("in ideographs weigh less: neighbouring pairs are one word several times", () => {
      const notes: ReadonlyArray<File> = Array.from(
        { length: 40 },
        (_, i) => ({ name: `note-${i}`, texts: [`${i}號的植物在花園旁邊，每週要澆水。`] })
      )
      const subjects: ReadonlyArray<File> = [
        { name: "one", texts: ["白內障使水晶體混濁，超音波乳化手術可以除去。"] },
        { name: "two", texts: ["水晶體因白內障而混濁時，醫師多用超音波乳化手術。"] }
      ]
      const [first] = ask([...notes, ...subjects], "白內障的水晶體")
      const terms = first?.explanation?.terms ?? []
      const sum = (of: ReadonlyArray<{ readonly weight: number }>) => of.reduce((sum, { weight }) => sum + weight, 0)
      const added = sum(terms.filter(({ shared }) => shared === true))
      assert.isAbove(added, 0)
      assert.isBelow(added, 0.3 * sum(terms.filter(({ shared }) => shared !== true)))
    })

    it("in Japanese weigh less still where a pair has hiragana: it is an ending, or the bound between two words", () => {
      const notes: ReadonlyArray<File> = Array.from(
        { length: 40 },
        (_, i) => ({ name: `note-${i}`, texts: [`${i}番目の植木鉢が庭園にあり、毎週欠かさず散水する。`] })
      )
      const subjects: ReadonlyArray<File> = [
        { name: "one", texts: ["白内障では角膜から超音波で手術し、レンズを入れる。"] },
        { name: "two", texts: ["眼科では白内障を角膜から超音波で手術し、レンズを選ぶ。"] }
      ]
      const [first] = ask([...notes, ...subjects], "白内障の手術は何ですか")
      const weight = (term: string) =>
        first?.explanation?.terms.find((one) => one.term === term && one.shared === true)?.weight ?? assert.fail(`${term} is not shared`)
      // All of them are once in both, and nowhere else.
      for (const pair of ["膜か", "波で"]) assert.closeTo(weight(pair) / weight("超音"), 0.3, 1e-6)
      assert.closeTo(weight("ンズ") / weight("超音"), 1, 1e-6)
    })

    it("are the same whatever was asked before", () => {
      const files = [...others, ...about, unsaid]
      const before = ["plant in the garden", "phacoemulsification under anaesthesia", query]
      assert.deepStrictEqual(withCorpus(files, (ask) => [...before, query].map((one) => ask(one)).at(-1)), ask(files, query))
    })
  })
})
