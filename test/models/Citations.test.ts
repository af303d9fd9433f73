import { assert, describe, it } from "vitest"
import { CorpusName } from "../../src/domain/Corpus.ts"
import { RagFileName } from "../../src/domain/RagFile.ts"
import { citationOf } from "../../src/models/Citations.ts"

const corpus = CorpusName.make("projects/p/locations/l/ragCorpora/1")

const addressOf = (sourceUri: string, text: string, more: { readonly firstPage?: number } = {}) =>
  citationOf(
    1,
    {
      file: RagFileName.make(`${corpus}/ragFiles/1`),
      sourceUri,
      sourceDisplayName: "a",
      chunkId: "1",
      text,
      score: 1,
      headings: ["Guide", "Set it up"],
      ...more
    },
    0,
    text.length
  ).address

describe("the address of a citation", () => {
  it("opens Markdown at the heading, paged files at the page, and HTML at the words, whatever ids its headings have", () => {
    assert.strictEqual(addressOf("file:///a/guide.md", "Any."), "file:///a/guide.md#set-it-up")
    assert.strictEqual(addressOf("https://a.example/guide.pdf", "Any.", { firstPage: 7 }), "https://a.example/guide.pdf#page=7")
    assert.strictEqual(
      addressOf("https://a.example/guide.html", "-j\nRuns the long-running steps at once, in so many processes."),
      "https://a.example/guide.html#:~:text=Runs%20the%20long%2Drunning%20steps%20at%20once%2C%20in%20so"
    )
    // The mark of a list is not in the page.
    assert.strictEqual(addressOf("https://a.example/a.html", "- Only one.\n- Or two."), "https://a.example/a.html#:~:text=Only%20one.")
  })

  it("has no fragment where nothing is known of the format, and is the source's own where that has one", () => {
    assert.strictEqual(addressOf("https://a.example/guide.rst", "Any."), "https://a.example/guide.rst")
    assert.strictEqual(addressOf("https://a.example/guide.html#part", "Any."), "https://a.example/guide.html#part")
    assert.strictEqual(addressOf("gs://bucket/guide.html", "Any."), "gs://bucket/guide.html")
  })
})
