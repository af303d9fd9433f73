import { assert, describe, it } from "@effect/vitest"
import { adfToMarkdown } from "../../connectors/jira/Adf.ts"
import { conditionOf, listingJql } from "../../connectors/jira/Listing.ts"
import { wikiToMarkdown } from "../../connectors/jira/Wiki.ts"
import { cpuTime } from "../support/CpuTime.ts"

describe("wiki markup of Jira", () => {
  const cases: ReadonlyArray<readonly [string, string, string]> = [
    [
      "marks",
      "a *bold* _it_ -gone- +ins+, not well-known a-b-c or snake_case_name",
      "a **bold** *it* ~~gone~~ ins, not well-known a-b-c or snake_case_name"
    ],
    ["stars that are no marks", "2*3*4 and \\*no\\*", "2\\*3\\*4 and \\*no\\*"],
    ["headings below the issue's", "h1. Top\nh6. Deep", "### Top\n\n###### Deep"],
    ["lists", "* one\n** two\n*# three\n*# four\n- five", "- one\n  - two\n  1. three\n  2. four\n- five"],
    [
      "tables",
      "||Name||Link||\n|a|[x|https://e.com/(a)]|\n|b \\| c|[https://e.com]|",
      "| Name | Link |\n| --- | --- |\n| a | [x](https://e.com/%28a%29) |\n| b \\| c | <https://e.com> |"
    ],
    [
      "panels and quotes",
      "{panel:title=Hint|bgColor=#fff}\nin *it*\n{panel}\n{quote}\nq1\nq2\n{quote}\nbq. one",
      "> **Hint**\n>\n> in **it**\n\n> q1\n> q2\n\n> one"
    ],
    ["code as it is", "{code:title=A.java|java}\nint *x; // [a|b]\n{code}\nand {{a_b*}}", "```java\nint *x; // [a|b]\n```\n\nand `a_b*`"],
    ["fences inside code", "{noformat}\n```\n{noformat}", "````\n```\n````"],
    [
      "mentions, images and files",
      "[~egon] [~accountid:5b:1] !shot.png|width=300! [^log.txt]",
      "@egon @5b:1 [Attachment: shot.png] [Attachment: log.txt]"
    ],
    ["brackets that are no link", "[TODO] <b>", "[TODO] \\<b\\>"],
    ["colours and bare addresses", "{color:red}see https://x.org/a_b_c.{color}", "see <https://x.org/a_b_c>."],
    ["rules and breaks", "a\\\\\nb\n----", "a\\\nb\n\n---"],
    ["what never ends", "{code}\n{quote} {panel", "{code}\n{panel"]
  ]
  for (const [name, wiki, markdown] of cases) it(name, () => assert.strictEqual(wikiToMarkdown(wiki), markdown))

  it("takes no time over hostile text", () => {
    const before = cpuTime()
    for (
      const text of [
        "*".repeat(20_000),
        "[".repeat(20_000),
        "{code}".repeat(3_001),
        "{quote}".repeat(2_001),
        "!a".repeat(10_000),
        "|".repeat(20_000)
      ]
    ) wikiToMarkdown(text)
    assert.isBelow(cpuTime() - before, 3_000)
  })
})

describe("Atlassian Document Format", () => {
  const text = (words: string, ...marks: ReadonlyArray<string | object>) => ({
    type: "text",
    text: words,
    marks: marks.map((mark) => typeof mark === "string" ? { type: mark } : mark)
  })
  const node = (type: string, attrs: object, ...content: ReadonlyArray<object>) => ({ type, attrs, content })
  const paragraph = (...content: ReadonlyArray<object>) => node("paragraph", {}, ...content)
  const item = (...content: ReadonlyArray<object>) => node("listItem", {}, ...content)

  const cases: ReadonlyArray<readonly [string, object, string]> = [
    ["headings", node("heading", { level: 2 }, text("Head "), text("b", "strong")), "#### Head **b**"],
    [
      "marks, with their spaces outside",
      paragraph(
        text("a "),
        text("bold ", "strong", "em"),
        text("x*y", "code"),
        text(" l", { type: "link", attrs: { href: "https://e.com" } }),
        text(" gone", "strike")
      ),
      "a ***bold*** `x*y` [l](https://e.com) ~~gone~~"
    ],
    [
      "inline nodes",
      paragraph(
        node("mention", { text: "@Egon" }),
        { type: "hardBreak" },
        node("emoji", { text: "X" }),
        node("status", { text: "DONE" }),
        node("date", { timestamp: "1790000000000" }),
        node("inlineCard", { url: "https://e.com" })
      ),
      "@Egon\\\nX[DONE]2026-09-21<https://e.com>"
    ],
    [
      "lists in lists, with code",
      node(
        "bulletList",
        {},
        item(paragraph(text("one")), node("orderedList", { order: 3 }, item(paragraph(text("in"))))),
        item(paragraph(text("two")), node("codeBlock", { language: "js" }, text("a\nb")))
      ),
      "- one\n\n  3. in\n- two\n\n  ```js\n  a\n  b\n  ```"
    ],
    [
      "tasks",
      node("taskList", {}, node("taskItem", { state: "DONE" }, text("did")), node("taskItem", { state: "TODO" }, text("do"))),
      "- [x] did\n- [ ] do"
    ],
    ["panels", node("panel", { panelType: "warning" }, paragraph(text("hot"))), "> **Warning**\n>\n> hot"],
    [
      "tables",
      node(
        "table",
        {},
        node("tableRow", {}, node("tableHeader", {}, paragraph(text("H|1"))), node("tableHeader", {}, paragraph(text("H2")))),
        node("tableRow", {}, node("tableCell", {}, paragraph(text("1")), paragraph(text("2"))))
      ),
      "| H\\|1 | H2 |\n| --- | --- |\n| 1 2 |  |"
    ],
    [
      "merged cells, with the others in their columns",
      node(
        "table",
        {},
        node(
          "tableRow",
          {},
          node("tableHeader", { colspan: 2 }, paragraph(text("Where"))),
          node("tableHeader", {}, paragraph(text("Days")))
        ),
        node(
          "tableRow",
          {},
          node("tableCell", { rowspan: 2 }, paragraph(text("EU"))),
          node("tableCell", {}, paragraph(text("Bern"))),
          node("tableCell", {}, paragraph(text("5")))
        ),
        node("tableRow", {}, node("tableCell", {}, paragraph(text("Rome"))), node("tableCell", { colspan: 1e9 }, paragraph(text("6"))))
      ),
      `| Where |  | Days |${"  |".repeat(99)}\n|${" --- |".repeat(102)}\n| EU | Bern | 5 |${"  |".repeat(99)}\n|  | Rome | 6 |${
        "  |".repeat(99)
      }`
    ],
    ["media", node("mediaSingle", {}, node("media", { type: "file", alt: "shot.png" })), "[Attachment: shot.png]"],
    ["expands", node("expand", { title: "More" }, paragraph(text("hid"))), "**More**\n\nhid"],
    ["a card's linked data", paragraph(node("inlineCard", { data: { name: "Plan", url: "https://e.com/1" } })), "[Plan](https://e.com/1)"],
    ["a macro's text", node("extension", { extensionKey: "toc", text: "the macro" }), "the macro"],
    ["nodes that are not known", node("extension", {}, paragraph(text("inside"))), "inside"],
    ["text that looks like markup", paragraph(text("1. no list\n# no heading <b>")), "1\\. no list\n\\# no heading \\<b\\>"],
    ["scripts for addresses", paragraph(text("l", { type: "link", attrs: { href: "javascript:alert(1)" } })), "l"]
  ]
  for (const [name, content, markdown] of cases) {
    it(name, () => assert.strictEqual(adfToMarkdown({ type: "doc", content: [content] }), markdown))
  }

  it("ends where nesting never does", () => {
    let deep: object = text("x")
    for (let depth = 0; depth < 5_000; depth++) deep = node("blockquote", {}, deep)
    assert.isBelow(adfToMarkdown({ type: "doc", content: [deep] }).length, 1_000)
    for (const odd of [undefined, null, [], { content: "x" }, { content: [null, 5, { type: 7 }] }]) {
      assert.strictEqual(adfToMarkdown(odd), "")
    }
  })
})

describe("JQL of listings", () => {
  it("takes the order away, and nothing else", () => {
    assert.strictEqual(conditionOf("labels = kb ORDER  BY updated DESC, key"), "labels = kb")
    assert.strictEqual(conditionOf("(a = b)order by key"), "(a = b)")
    assert.strictEqual(
      conditionOf("summary ~ \"order by mail\" AND x = 'order by \\' y'"),
      "summary ~ \"order by mail\" AND x = 'order by \\' y'"
    )
    assert.strictEqual(conditionOf("order by created"), "")
  })
  it("narrows by minutes, in no time zone", () => {
    assert.strictEqual(listingJql("a = b OR c = d", 7), "(a = b OR c = d) AND updated >= \"-7m\" ORDER BY created ASC, key ASC")
    assert.strictEqual(listingJql(""), "ORDER BY created ASC, key ASC")
  })
})
