import { assert, describe, it } from "@effect/vitest"
import { draftsOf } from "../../src/models/ExtractiveDrafter.ts"

const questions = (text: string, ...headings: ReadonlyArray<string>) => draftsOf({ text, headings }).map(({ question }) => question)

describe("drafts of a passage", () => {
  it("ask what its sentences say by their form", () => {
    const asked: ReadonlyArray<readonly [string, string]> = [
      ["A rain gauge is an instrument that measures how much rain fell. It is a tube.", "What is a rain gauge?"],
      ["Barometers are the devices that measure the pressure of the air.", "What are Barometers?"],
      ["RAG stands for retrieval augmented generation in this handbook.", "What does RAG stand for?"],
      ["The sluice gate is used to keep the level of the upper pond.", ""],
      ["Flashboards are used to raise the level of a dam for a season.", "What are Flashboards used for?"],
      ["Fetch_level requires a token of the warden's office.", "What does Fetch_level require?"],
      ["Fetch_level specifies the gauge that is read at nine.", "What does Fetch_level specify?"],
      ["Fetch_level defaults to the gauge of the upper pond.", "What does Fetch_level default to?"],
      ["The maximum depth of the basin is 4.2 metres in spring.", "What is the maximum depth of the basin?"],
      ["To empty the rain gauge, open the lid and pour the water out.", "How do I empty the rain gauge?"],
      ["You can export the monthly readings by clicking Save in the last column.", "How can I export the monthly readings?"],
      ["Mill Bridge was built by two brothers in 1874, of oak.", "When was Mill Bridge built?"],
      ["Ein Pegel ist ein Gerät, das den Stand des Wassers misst.", "Was ist ein Pegel?"]
    ]
    for (const [text, question] of asked) assert.deepStrictEqual(questions(text), question === "" ? [] : [question], text)
    // A definite term has to be what the section is about.
    assert.deepStrictEqual(
      questions("The sluice gate is used to keep the level of the upper pond.", "Sluice gate").at(-1),
      "What is the sluice gate used for?"
    )
    // As it is written elsewhere, where that is in small letters.
    assert.deepStrictEqual(questions("Flow meters are the eyes of a weir. We read flow meters daily."), ["What are flow meters?"])
  })

  it("quote whole sentences, however their lines are broken, and none of listings and tables", () => {
    const text =
      "A rain gauge is an instrument that\nmeasures how much rain fell. It is\nread at nine.\n\n    A = B is a(line) of code that assigns.\n"
    assert.deepStrictEqual(draftsOf({ text, headings: [] }), [
      { question: "What is a rain gauge?", span: "A rain gauge is an instrument that measures how much rain fell." }
    ])
  })

  it("ask what headings ask, the task that they name, or their subject where the first sentence takes it up", () => {
    assert.deepStrictEqual(questions("Open the lid and pour the water out.", "How is the tube emptied?"), ["How is the tube emptied?"])
    assert.deepStrictEqual(questions("Choose Settings, then the second tab.", "Rename a station"), ["How do I rename a station?"])
    assert.deepStrictEqual(questions("Five unused days carry over into the next year.", "Leave", "3.1 Carry over of leave"), [
      "Carry over of leave"
    ])
    assert.deepStrictEqual(questions("Nobody may enter the yard after nine o'clock.", "Additional ideas"), [])
    assert.deepStrictEqual(questions("Open the lid and pour the water out.", "Why does this happen?"), [])
  })

  it("are none of what leans on what was said before, of clauses, and of fragments", () => {
    for (
      const text of [
        "It is a tube of glass that is open above.",
        "This is the reason for all that came.",
        "A dog is a pet.",
        "A list is a thing that goes",
        "roups is a word that was cut in the middle.",
        "Its flagship products are the consoles that everybody has.",
        "Frequently criticized are the ease of use and the price.",
        "Suppose the example module is a candidate for the library.",
        "Returns true if the object is a valid mode of an image.",
        "Keep it on your chest while you are the last in the line.",
        "In situations where there are the usual images, name them.",
        "Removing duplicates from a list is a common task of readers.",
        "Countries that are the members of the union vote twice.",
        "To do this on your own, use the second of the two forms."
      ]
    ) {
      assert.deepStrictEqual(questions(text), [], text)
    }
  })
})
