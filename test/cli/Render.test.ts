import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import { TestClock } from "effect/testing"
import { vi } from "vitest"
import { Output } from "../../src/cli/Output.ts"
import { RagFileName } from "../../src/domain/RagFile.ts"
import { bytes, count, plural, seconds } from "../../src/cli/render/Numbers.ts"
import { makeProgress } from "../../src/cli/render/Progress.ts"
import { renderAnswer, renderContexts, renderFooting } from "../../src/cli/render/Answer.ts"
import { renderExplanations } from "../../src/cli/render/Explanation.ts"
import { renderReport } from "../../src/cli/render/Report.ts"
import { makeTable, table } from "../../src/cli/render/Table.ts"
import { asWritten } from "../../src/cli/render/Values.ts"
import { excerpt, wrap, wrapping } from "../../src/cli/render/Wrap.ts"
import { testContexts } from "../../src/Testing.ts"
import { Tally } from "../../src/pipeline/sync/Tally.ts"

describe("numbers", () => {
  it("are written for people", () => {
    assert.deepStrictEqual([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"])
    assert.deepStrictEqual([plural(1, "file"), plural(2, "file"), plural(0, "corpus", "corpora")], ["1 file", "2 files", "0 corpora"])
    assert.deepStrictEqual([0.04, 12, 200, 7500].map(seconds), ["0.04 s", "12 s", "3 min 20 s", "2 h 05 min"])
    assert.deepStrictEqual([12, 1500, 2_000_000].map(bytes), ["12 B", "1.5 kB", "2.0 MB"])
  })
})

describe("a terminal that says it has no columns", () => {
  it.effect("is taken for one of 80", () =>
    Effect.gen(function*() {
      const { columns, isTTY } = process.stdout
      yield* Effect.addFinalizer(() => Effect.sync(() => Object.assign(process.stdout, { columns, isTTY })))
      Object.assign(process.stdout, { columns: 0, isTTY: true })
      const { width } = yield* Output.pipe(Effect.provide(Output.layer))
      assert.strictEqual(width, Number(process.env["COLUMNS"] ?? 80))
    }).pipe(Effect.provide(NodeServices.layer), Effect.scoped))
})

describe("a value", () => {
  it("has its choices as a pipeline file has them", () => {
    const corpus = {
      name: "c",
      vectorDb: { _tag: "managed" },
      options: { search: { _tag: "ann", treeDepth: 2 }, holds: { _tag: "documents" } }
    }
    assert.deepStrictEqual(asWritten(corpus), {
      name: "c",
      vectorDb: "managed",
      options: { search: { ann: { treeDepth: 2 } }, holds: "documents" }
    })
    const weaviate = { httpEndpoint: "https://w.example" }
    assert.deepStrictEqual(asWritten({ list: [1, null, { vectorDb: { _tag: "weaviate", ...weaviate } }] }), {
      list: [1, null, { vectorDb: { weaviate } }]
    })
  })
})

describe("an answer", () => {
  const look = { paint: (_: string, text: string) => text, width: 80 } as const
  const answer = { text: "Ten days [1].", grounded: true, supports: [], model: "m" }
  const citation = { index: 1, file: RagFileName.make("f"), sourceUri: "", sourceDisplayName: "claims.md", quote: "within ten days" }

  it("is shown with its sources, and with whether it was cut off", () => {
    assert.strictEqual(renderAnswer({ ...answer, citations: [] }, look), "Ten days [1].")
    assert.strictEqual(
      renderAnswer({ ...answer, citations: [citation] }, look),
      "Ten days [1].\n\n  [1] claims.md\n      \"within ten days\""
    )
    const placed = { ...citation, headings: ["Claims", "Time"], address: "file:///claims.md#time" }
    assert.strictEqual(
      renderAnswer(
        { ...answer, text: "Run this: [1]\n```\nif late:\n    claim --now\n```", confidence: 0.8123, citations: [placed] },
        look
      ),
      "Run this: [1]\n    if late:\n        claim --now\n(confidence 0.81)\n\n  [1] claims.md\n      Claims > Time\n      \"within ten days\"\n      file:///claims.md#time"
    )
    assert.strictEqual(
      renderAnswer({ ...answer, text: "No.", grounded: false, confidence: 0.1, citations: [], nearest: [citation] }, look),
      "No.\n\nNearest passages, which do not answer it:\n  [1] claims.md\n      \"within ten days\""
    )
    const cut = renderAnswer({ ...answer, citations: [citation], truncated: true }, look)
    assert.match(cut, /^Ten days \[1\]\.\n\(cut off: .*\)\n\n {2}\[1\] claims\.md\n/)
    assert.match(renderFooting({ ...answer, citations: [], truncated: true }, look), /^\(cut off: .*\)$/)
  })
})

describe("wrap", () => {
  it("keeps to the width in any script, and loses nothing", () => {
    const text = `One two three ${"x".repeat(90)} four. ${"休暇は翌年に繰り越せます。".repeat(8)} end`
    for (const width of [24, 33, 60]) {
      const wrapped = wrap(text, width, "  ")
      for (const line of wrapped.split("\n")) assert.isAtMost(displayWidth(line), width)
      assert.strictEqual(wrapped.replace(/\s/g, ""), text.replace(/\s/g, ""))
    }
  })

  it("leaves lines whole in a pipe, where what is found must not depend on how long a path is", () => {
    const text = `ok  table of ${"folders/".repeat(20)} has 2 chunks\nof 4 dimensions`
    assert.strictEqual(wrap(text, Number.POSITIVE_INFINITY, "  "), text.replace("\n", "\n  "))
    assert.isAtMost(displayWidth(excerpt("and so on ".repeat(90), Number.POSITIVE_INFINITY, "", 1)), 102)
  })

  it("does the same with a text that comes in pieces, however it is cut", () => {
    const text = `One two three ${"x".repeat(90)} four.\n\n- ${"休暇は翌年に繰り越せます。".repeat(8)} end\n${"and so on ".repeat(30)}`
    for (const width of [24, 33, 60]) {
      for (const size of [1, 7, text.length]) {
        const { push, rest } = wrapping(width)
        let flowed = ""
        for (let at = 0; at < text.length; at += size) flowed += push(text.slice(at, at + size))
        flowed += rest()
        for (const line of flowed.split("\n")) assert.isAtMost(displayWidth(line), width)
        assert.strictEqual(flowed.replace(/\s/g, ""), text.replace(/\s/g, ""))
        assert.include(flowed, "four.\n\n-")
      }
    }
    const { push, rest } = wrapping(80)
    assert.deepStrictEqual([push("one tw"), push("o 休"), push("暇"), push("th"), rest()], ["one", " two 休", "暇", "", "th"])
  })

  it("shows the beginning of what is too long", () => {
    assert.strictEqual(excerpt("short\n text", 40, "", 2), "short text")
    assert.match(excerpt("word ".repeat(100), 40, "", 2), /^(word )+word\n(word )+word …$/)
  })
})

describe("table", () => {
  const columns = [{ title: "file", flexible: true }, { title: "chunks", align: "right" as const }, { title: "note", flexible: true }]

  it("takes what is too much from the widest, and keeps the end of a path", () => {
    const rows = [["folder/of/some/length/leave.md", "12", "short"], [
      "休暇/年次休暇の繰り越しについて.md",
      "3",
      "a note that goes on and on"
    ]]
    for (const width of [45, 60, 200]) {
      const lines = table(columns, rows, width).split("\n")
      assert.lengthOf(lines, 3)
      for (const line of lines) assert.isAtMost(displayWidth(line), width)
      assert.match(lines[1] ?? "", /leave\.md +12/)
    }
  })

  it("lines up pages printed one after another", () => {
    const print = makeTable(columns, 80)
    const first = print([["a-long-name.md", "1", ""]])
    const second = print([["b.md", "22", ""]])
    assert.strictEqual(first.split("\n").length, 2)
    assert.strictEqual(second, "b.md                22")
  })

  it("keeps a cell on its line", () => {
    assert.strictEqual(table([{ title: "t" }], [["a\r\nb\u001b[31m\tc"]], 80), "t\na b[31m c")
  })
})

/** An output that keeps what it is told. */
const fakeOutput = (live: Output["Service"]["live"]) => {
  const said: Array<string> = []
  const output: Output["Service"] = {
    width: 80,
    live,
    write: undefined,
    wantsJson: false,
    paint: (_, text) => text,
    paintError: (_, text) => text,
    print: () => Effect.void,
    json: () => Effect.void,
    say: (text) => Effect.sync(() => void said.push(text)),
    interrupted: { what: "", next: "" }
  }
  return { said, layer: Layer.succeed(Output, output) }
}

const work = Effect.gen(function*() {
  const observe = yield* makeProgress({ embeddingsPerMinute: 600 })
  yield* observe({ type: "corpus", corpus: "c", action: "created" })
  yield* observe({ type: "listing", source: "docs", listed: 40 })
  yield* TestClock.adjust("5 seconds")
  yield* observe({ type: "listed", source: "docs", listed: 100, complete: true, work: 90 })
  for (let i = 0; i < 30; i++) {
    yield* observe({ type: "file", source: "docs", path: `${i}`, outcome: i === 0 ? "failed" : "added", embedded: 2 })
    if (i === 0) yield* TestClock.adjust("1 second")
  }
  yield* TestClock.adjust("4 seconds")
})

describe("progress", () => {
  it.effect("is a plain line now and then where there is no terminal: counts, rate, time left, quota", () =>
    Effect.gen(function*() {
      const { layer, said } = fakeOutput(undefined)
      yield* work.pipe(Effect.scoped, Effect.provide(layer))
      assert.deepStrictEqual(said, [
        "created corpus c",
        "docs  listing, 40 files so far",
        "docs  [#####...........] 30 of 90 files, 1 failed, 6.0/s, 10 s left\nembedding  60 chunks, 720 a minute of 600 allowed"
      ])
    }))

  it.effect("says whose files the first run into a corpus of others joins", () =>
    Effect.gen(function*() {
      const { layer, said } = fakeOutput(undefined)
      const others = { files: 3, pipelines: { handbook: 2 }, unmarked: 1 }
      yield* makeProgress({}).pipe(
        Effect.flatMap((observe) => observe({ type: "joins", corpus: "c", others })),
        Effect.scoped,
        Effect.provide(layer)
      )
      assert.lengthOf(said, 1)
      assert.match(said[0] ?? "", /^joins corpus c, which holds 3 files of others \(2 of pipeline handbook, 1 without a pipeline's mark\)/)
    }))

  it.effect("is a live line on a terminal, within its width, and leaves nothing behind", () =>
    Effect.gen(function*() {
      const written: Array<string> = []
      const write = vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0)
      yield* Effect.addFinalizer(() => Effect.sync(() => write.mockRestore()))
      const { layer, said } = fakeOutput({ columns: 40, rows: 24 })
      yield* work.pipe(Effect.scoped, Effect.provide(layer))
      assert.deepStrictEqual(said, ["created corpus c"])
      assert.isAbove(written.length, 20)
      for (const text of written) {
        for (const line of text.replace(/\r\u001b\[\d+A\u001b\[J/g, "").split("\n")) assert.isBelow(displayWidth(line), 40)
      }
      // The report comes next, in their place.
      assert.strictEqual(written.at(-1), "\r\u001b[2A\u001b[J")
    }))
})

describe("the report of a run", () => {
  it("gives skips, failures and files read in part by reason and type, largest first", () => {
    const tally = new Tally()
    tally.source("docs", "local")
    const tell = (
      path: string,
      more: {
        readonly outcome: "skipped" | "failed" | "added"
        readonly reason?: string
        readonly message?: string
        readonly remark?: string
      }
    ) => tally.listedOutcome({ source: "docs", path, ...more })
    for (let i = 0; i < 20; i++) tell(`slides/${i}.PPT`, { outcome: "skipped", reason: "unsupported", message: "legacy presentation" })
    for (let i = 0; i < 30; i++) tell(`scan/${i}.pdf`, { outcome: "skipped", reason: "pictures", message: "no text layer" })
    tell("a.docx", { outcome: "failed", reason: "corrupt", message: "damaged archive" })
    tell("b.pdf", { outcome: "added", remark: "parsed 198 of 200 pages: 3, 7 cannot be read" })
    for (let i = 0; i < 49; i++) tell(`${i}.md`, { outcome: "added" })
    const report = tally.report({ pipeline: "p", engine: "e", corpus: "c", started: "", seconds: 1, ended: "done" })
    const lines = renderReport(report, { paint: (_, text) => text, width: 200 }).split("\n")
    assert.deepStrictEqual(lines.slice(2, -1), [
      "failed 1 (1.0%):",
      "  a.docx  corrupt: damaged archive",
      "skipped 50 (49.5%):",
      "  30 .pdf: text in pictures, which waits for text recognition (29.7% of the files), such as",
      "    scan/0.pdf: no text layer",
      "  20 .ppt: no reader (19.8% of the files), such as slides/0.PPT: legacy presentation",
      "read in part 1 (1.0%):",
      "  b.pdf  parsed 198 of 200 pages: 3, 7 cannot be read"
    ])
  })
})

describe("contexts", () => {
  const look = { width: 80, paint: (_: unknown, text: string) => text }
  const explanation = { analyzer: "en", sparse: 1, cosine: 0, normalizedSparse: 1, normalizedDense: 0, alpha: 0, fused: 1 }
  const term = (term: string) => ({ term, documentFrequency: 2, termFrequency: 1, weight: 1 })

  it("say where else their text is", () => {
    const [html, pdf, epub] = testContexts([{ text: "Oil the seal.", file: "m.html" }, { text: "", file: "m.pdf" }, {
      text: "",
      file: "m.epub"
    }])
    const printed = renderContexts([{ ...html!, alsoIn: [pdf!, epub!, pdf!] }], look)
    assert.strictEqual(printed, "1.  m.html  score 1.0000\n    Oil the seal.\n    also in m.pdf, m.epub")
  })

  it("say which queries found them, and what these looked for", () => {
    const found = testContexts([
      {
        text: "a",
        explanation: { ...explanation, terms: [term("leav")], queries: [{ query: "leave", from: 0 }, { query: "days off", from: 3 }] }
      },
      { text: "b", explanation: { ...explanation, terms: [term("dai"), term("leav")], queries: [{ query: "days off", from: 0 }] } }
    ])
    const printed = renderExplanations(found, look)
    assert.include(printed, "    found    at place 1 by \"leave\", at place 4 by \"days off\"")
    assert.deepStrictEqual(printed.match(/^ {2}(?:leav|dai) /gm), ["  leav ", "  dai "])
  })

  it("say what the nearness of the question's words makes of the score", () => {
    const explained = { ...explanation, terms: [], alpha: 0.25, fused: 0.6 }
    const [near = [], plain = []] = [{ ...explained, proximity: { share: 0.5, weight: 0.3 } }, explained].map((explanation) =>
      renderExplanations(testContexts([{ text: "a", explanation }]), { ...look, width: 200 }).split("\n")
    )
    assert.isTrue(near.some((line) => line.startsWith("    mixed    0.600 = 0.75 x words")))
    assert.strictEqual(near.at(-1), "    score    0.577 = (mixed + 0.3 x 0.500 of the query's words in a row) / 1.3")
    assert.isTrue(plain.some((line) => line.startsWith("    score    0.600 = 0.75 x words")))
    assert.isFalse(plain.some((line) => line.includes("in a row")))
  })

  it("say what a word was corrected from, also where the best chunks share the word", () => {
    const corrected = { ...term("annual"), from: "anual", corrected: true }
    const terms = [corrected, { ...term("annual"), shared: true, weight: 0.5 }, { ...term("count"), shared: true, weight: 0.25 }]
    const contexts = testContexts([{ text: "a", explanation: { ...explanation, terms } }])
    const printed = renderExplanations(contexts, { ...look, width: 200 }).split("\n")
    assert.deepStrictEqual(printed.slice(2, 4), [
      "  annual  anual, corrected          2",
      "  and, weaker, what the best of those share: count"
    ])
    assert.include(printed.join("\n"), "BM25 = annual 1.000 (1x) + shared: annual 0.500 (1x) + count 0.250 (1x)")
  })
})
