import { assert, describe, it } from "@effect/vitest"
import { blocksOf, leads, maxListingCharacters } from "../../src/models/extractive/Blocks.ts"
import { itemText } from "../../src/models/extractive/Units.ts"

/** The kinds of the blocks of a parsed text, in which code, lists and tables have lost their marks. */
const kinds = (...blocks: ReadonlyArray<string>): ReadonlyArray<string> => blocksOf(blocks.join("\n\n")).map(({ kind }) => kind)

describe("blocks of a parsed text", () => {
  it("a command is code if it has flags, a prompt or a lead-in", () => {
    for (const command of ["acme cache prune --older-than 7d", "$ acme du", "npm install acme", "gcloud auth login", "$> acme docs"]) {
      assert.deepStrictEqual(kinds("Intro of the page here.", command, "What follows is prose."), ["paragraph", "code", "paragraph"])
    }
    for (const lead of ["To see its size, run:", "Run this to see its size.", "To see its size, use the following."]) {
      assert.deepStrictEqual(kinds(lead, "acme cache du", "What follows is prose."), ["paragraph", "code", "paragraph"])
    }
    assert.deepStrictEqual(kinds("The cache grows.", "acme caches", "What follows is prose."), ["paragraph", "heading", "paragraph"])
  })

  it("source code is code, whole with what is indented below blank lines, and comments that stand alone are prose", () => {
    const source =
      "package main\n\nimport (\n\t\"fmt\"\n\n\t\"os\"\n)\n\n// Lifts the load.\n// It stops at the top.\n\n// lift is short.\nfunc lift(load Load) {\n\tload.Up()\n}"
    assert.deepStrictEqual(
      blocksOf(source, false, undefined, true).map(({ end, kind, start }) => [kind, source.slice(start, end).split("\n").length]),
      [["code", 1], ["code", 5], ["paragraph", 2], ["code", 4]]
    )
  })

  it("what stands for a picture heads nothing", () => {
    for (const caption of ["Screenshot of the login dialog", "Figure 3 The crane from above", "A diagram showing how loads move"]) {
      assert.deepStrictEqual(
        kinds("Intro of the page here.", caption, "What follows is prose."),
        ["paragraph", "paragraph", "paragraph"],
        caption
      )
    }
    assert.deepStrictEqual(kinds("Intro of the page here.", "Images", "What follows is prose."), ["paragraph", "heading", "paragraph"])
  })

  it("code is recognised by comments, brackets, calls and properties, whatever it starts with", () => {
    for (
      const code of [
        "// Which results in:\nselect(users)",
        "{\n  \"origin\": \"*\",\n  \"methods\": \"GET\"\n}",
        "const limiter = rateLimit({\n  windowMs: 15 * 60 * 1000,\n  limit: 100\n})",
        "await pg.exec('CREATE EXTENSION IF NOT EXISTS pgtap;')",
        "# every night\n0 2 * * * backup"
      ]
    ) assert.deepStrictEqual(kinds("Intro of the page here.", code, "What follows is prose."), ["paragraph", "code", "paragraph"], code)
  })

  it("a function is one listing with its docstring and the indented lines below blank lines, a prompt is one with its output", () => {
    for (
      const code of [
        "import textwrap",
        "from shop.cart import (\n    Cart,\n    Item\n)",
        "def total(items):\n    \"\"\"\n    This is what all of the items cost together.\n    \"\"\"",
        "class Cart:\n    size = 3\n\n    Holds what a customer takes along to the desk.\n\n    def clear(self) -> None:\n        ...",
        ">>> mean([1, 2, 3])\n2.0",
        "@property\ndef size(self):\n    Returns what the cart holds at this time of the day."
      ]
    ) assert.deepStrictEqual(kinds("Intro of the page here.", code, "What follows is prose."), ["paragraph", "code", "paragraph"], code)
  })

  it("what a session prints is part of it, whatever it reads like, up to prose or a heading", () => {
    assert.deepStrictEqual(
      kinds(
        "To empty the yard:",
        "$ yard empty\nlooking for old cranes\n2 of 3 cranes are old",
        "to remove:   2 cranes\nremaining:   1 crane",
        "Counting the rest",
        "The yard is empty now."
      ),
      ["paragraph", "code", "heading", "paragraph"]
    )
  })

  it("an address below half a sentence or a lead-in is a listing, and a heading elsewhere", () => {
    const half = "On Linux, chances are high that this is"
    for (const address of ["/var/lib/cranes/_data", "https://cranes.example/yard", "C:\\cranes"]) {
      assert.deepStrictEqual(kinds(half, address, "Leave it alone."), ["paragraph", "code", "paragraph"], address)
      assert.deepStrictEqual(kinds("It is:", address, "Leave it alone."), ["paragraph", "code", "paragraph"], address)
    }
    assert.deepStrictEqual(kinds("Cranes are listed.", "/v1/cranes", "Lists cranes."), ["paragraph", "heading", "paragraph"])
  })

  it("a listing that is too long to be shown is cut into several", () => {
    const listing = Array.from({ length: 12 }, (_, at) => `door${at}.open({\n${"  key: 1,\n".repeat(20)}})`)
    const blocks = blocksOf(["Intro of the page here.", ...listing].join("\n\n")).slice(1)
    assert.isAbove(blocks.length, 1)
    for (const { end, kind, start } of blocks) {
      assert.strictEqual(kind, "code")
      assert.isAtMost(end - start, maxListingCharacters)
    }
  })

  it("a sentence is prose, though it names a call or goes on in a line that starts with a keyword of code", () => {
    for (
      const prose of [
        "To wait for several doors, two calls like the\nwait() and all() calls of the shop.doors\npackage are provided by the desk.",
        "The names are taken by the people who come in the morning\nfrom the list that hangs beside the door,\nimport duties are paid at the desk.",
        "Converting code that uses doors.local() takes a day."
      ]
    ) assert.deepStrictEqual(kinds(prose, "What follows is prose too."), ["paragraph", "paragraph"], prose)
    assert.deepStrictEqual(kinds("Intro of the page here.", "Converting code that uses doors.local()", "It takes a day."), [
      "paragraph",
      "heading",
      "paragraph"
    ])
  })

  it("the head of a document is keys and values, though a list of authors goes over several lines", () => {
    const head =
      "Rule: 8\nTitle: Style of doors\nAuthor: Ada Winter <ada@rules.example>,\nBo Lind <bo@rules.example>,\nCy Dahl <cy@rules.example>\nStatus: Active\nType: Process\nCreated: 05-Jul-2001\nPost-History: 05-Jul-2001, 01-Aug-2013"
    assert.deepStrictEqual(kinds(head, "This document tells of doors."), ["keys", "paragraph"])
  })

  it("an assignment to an environment variable is code", () => {
    assert.deepStrictEqual(kinds("Another shell has another syntax.", "$env:DEBUG = \"*\"", "What follows is prose."), [
      "paragraph",
      "code",
      "paragraph"
    ])
  })

  it("a call above prose is a heading; a sentence with a command in its last line is prose", () => {
    for (const heading of ["parser(args, opts={})", "retry.timeouts([options])", "new Signer(options)"]) {
      assert.deepStrictEqual(kinds("Intro of the page here.", heading, "Returns a list of all that it found."), [
        "paragraph",
        "heading",
        "paragraph"
      ], heading)
    }
    const prose = "This is a Node.js module available through the\nnpm registry. Installation is done using the\nnpm install command."
    assert.deepStrictEqual(kinds(prose), ["paragraph"])
  })

  it("items with the mark #. are a list", () => {
    assert.deepStrictEqual(kinds("The steps are:", "#. Call the desk.\n#. Sign for the badge."), ["paragraph", "list"])
    assert.strictEqual(itemText({ text: "#. Call the desk." }), "Call the desk.")
  })

  it("a lead-in ends in a colon, or says to do something with what stands below", () => {
    for (const lead of ["To install it:", "Run this to prune the cache.", "For a quick start, use the following command."]) {
      assert.isTrue(leads(lead), lead)
    }
    for (const sentence of ["This is how the cache works.", "Run times vary a lot.", "The following day was sunny."]) {
      assert.isFalse(leads(sentence), sentence)
    }
  })

  it("a term stands above what explains it, less indented, or beside it", () => {
    const terms = (text: string) => blocksOf(text).map(({ term }) => term?.text)
    assert.deepStrictEqual(terms("-q, --quiet\n    Print nothing but errors."), ["-q, --quiet"])
    assert.deepStrictEqual(terms("-L port:host\n-L socket\n    Forward a port\n    to the host."), ["-L port:host\n-L socket"])
    assert.deepStrictEqual(terms("Port     The port of the server.\n         22 unless it is set."), ["Port"])
    // A blank line may stand between them, and a tab for columns.
    assert.deepStrictEqual(terms("       -q, --quiet\n\n\t      Print nothing\n\n       -i[SUFFIX]\n\n\t      Write in place"), [
      "-q, --quiet",
      "-i[SUFFIX]"
    ])
    assert.deepStrictEqual(
      blocksOf("-S     sort by the weight of the load, largest first\n\n--sort=WORD\n       sort by WORD").map(({ kind }) => kind),
      ["paragraph", "paragraph"]
    )
    assert.deepStrictEqual(terms("-q\n\nPrint nothing."), [undefined, undefined])
    assert.deepStrictEqual(terms("AUTHORS:\n    Ada Winter\n    Bo Lind"), ["AUTHORS:"])
    for (
      const none of [
        "The crane is moved by hand\nwhen the wind is strong.",
        "  The first line is indented\nas those of a paragraph are.",
        "The sentence is cut off here,\n    and goes on below.",
        "- an item of a list\n  that goes on"
      ]
    ) assert.deepStrictEqual(terms(none), [undefined], none)
  })

  it("an underlined line is a heading, and the lines after it without a blank line are under it", () => {
    const blocks = blocksOf("Moving the crane\n================\nIt is moved at night.\n\nBy hand\n-------\n\nFour people push.")
    assert.deepStrictEqual(blocks.map(({ kind }) => kind), ["heading", "paragraph", "heading", "paragraph"])
    assert.deepStrictEqual(blocks.map(({ lines }) => lines[0]!.text), [
      "Moving the crane",
      "It is moved at night.",
      "By hand",
      "Four people push."
    ])
    assert.deepStrictEqual(kinds("Size   Price\n------------\nsmall   4"), ["paragraph"])
  })

  it("an entry of a list of questions is a heading, though it ends in a point", () => {
    assert.deepStrictEqual(kinds("8. I found a bug.", "    Please send it to us.", "9. Why is the crane\n   so slow?", "It is old."), [
      "heading",
      "paragraph",
      "heading",
      "paragraph"
    ])
    assert.deepStrictEqual(kinds("Some say this.", "* The crane is red.", "It is moved at night."), ["paragraph", "paragraph", "paragraph"])
  })

  it("a greeting is not code, and a line above an indented listing is not a heading", () => {
    assert.notInclude(kinds("Hi all,", "The crane is out of use."), "code")
    assert.deepStrictEqual(
      kinds("If the build prints something like", "    crane.o(.text+0x154): undefined reference to `lift'", "the file is old."),
      [
        "paragraph",
        "code",
        "paragraph"
      ]
    )
  })

  it("a sentence that a page or a column cuts off is one paragraph with its rest below the blank line", () => {
    for (
      const [before, after] of [
        ["The crane of the north quay was built by the harbour company after", "Ada Winter had drawn it in one night."],
        ["The crane of the north quay was built without much", "thought on the part of those who paid."]
      ] as const
    ) {
      const text = `Intro of the page here.\n\n${before}\n\n${after}`
      const blocks = blocksOf(text)
      assert.deepStrictEqual(blocks.map(({ kind }) => kind), ["paragraph", "paragraph"])
      assert.strictEqual(text.slice(blocks[1]!.start, blocks[1]!.end), `${before}\n\n${after}`)
    }
    assert.deepStrictEqual(kinds("Moving the crane", "npm is not needed for it."), ["heading", "paragraph"])
    assert.deepStrictEqual(kinds("The crane is moved at night, says the harbour master.", "iron rusts."), ["paragraph", "paragraph"])
  })
})
