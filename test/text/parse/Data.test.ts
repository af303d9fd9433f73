import { describe, expect, it } from "vitest"
import { parsed, refusal, timeOf } from "./support/Parsed.ts"

describe("separated values", () => {
  it("are one table, with the separator found and quotes undone", async () => {
    expect((await parsed("a.csv", "\ufeffname;note\nAnn;\"a; \"\"b\"\"\nc\"\nBo;\n\n;x\n")).shown).toEqual([
      "table: name | note\nAnn | a; \"b\" c\nBo\n | x"
    ])
    expect((await parsed("a.csv", "a,b\n1,2")).text).toBe("a | b\n1 | 2")
    expect((await parsed("a.tsv", "a, x\tb\n1\t2\n")).text).toBe("a, x | b\n1 | 2")
    expect((await parsed("a.csv", "sep=|\na|b,c\n")).text).toBe("a | b,c")
    expect((await parsed("a.csv", "a,b\n\"open,1\n2,3")).text).toBe("a | b\n\"open | 1\n2 | 3")
  })

  it("with one column are lines of text", async () => {
    expect((await parsed("a.csv", "alpha\nbeta\n")).shown).toEqual(["paragraph: alpha\nbeta"])
  })
})

describe("hostile rows take linear time", () => {
  // Quadratic, each of these takes 15 s or more.
  it.each([
    ["one line", "a,".repeat(1_500_000)],
    ["quotes that nothing closes", `a,b\n1,2\n${"\"a,".repeat(1_000_000)}`],
    ["lines without a separator", `${"a,b\n".repeat(100)}${"c\n".repeat(1_500_000)}`]
  ])("%s", async (_, source) => {
    expect(await timeOf("a.csv", source)).toBeLessThan(4_000)
  })
})

describe("JSON", () => {
  it("is lines of key and value", async () => {
    const value = {
      name: "Trowel",
      price: 12.5,
      tags: ["a", "b"],
      size: { w: 1, none: null },
      parts: [{ id: 1 }, { id: 2, x: true }],
      text: "one\n\ntwo"
    }
    expect(await parsed("a.json", JSON.stringify(value))).toMatchObject({
      title: "Trowel",
      shown: [
        "paragraph: name: Trowel\nprice: 12.5\ntags: a, b\nsize:\n  w: 1\nparts:\n  - id: 1\n  - id: 2\n    x: true\ntext: one\n  two"
      ]
    })
  })

  it("has sections where there is much of it, and a paragraph a record", async () => {
    const long = "word ".repeat(200).trim()
    expect((await parsed("a.json", JSON.stringify({ id: 1, body: { a: long, b: [1, 2] }, end: 2 }))).shown)
      .toEqual(["paragraph: id: 1", "heading 1: body", `paragraph: a: ${long}\nb: 1, 2`, "paragraph: end: 2"])
    expect((await parsed("a.json", JSON.stringify([{ a: long }, { a: "x" }]))).shown).toEqual([`paragraph: a: ${long}`, "paragraph: a: x"])
  })

  it("may be lines of JSON, or none at all", async () => {
    expect((await parsed("a.jsonl", "{\"a\": 1}\n\n{\"a\": 2}\nbroken {\n")).shown).toEqual([
      "paragraph: a: 1",
      "paragraph: a: 2",
      "paragraph: broken {"
    ])
    expect((await parsed("a.json", "// comment\n{\"a\": 1,}")).shown).toEqual(["code: // comment\n{\"a\": 1,}"])
  })

  it("nested without end is refused", async () => {
    expect(await refusal("a.json", "[".repeat(5_000) + "1" + "]".repeat(5_000))).toMatchObject({ problem: "limit" })
  })
})

describe("XML", () => {
  const xml = (body: string): string => `<?xml version="1.0" encoding="ISO-8859-1"?>${body}`

  it("has the words of styles, and no stylesheets", async () => {
    const texts = async (body: string): Promise<string> => (await parsed("a.xml", xml(body))).text
    expect(await texts("<doc><p>One <style name='slanted'>two</style> three</p></doc>")).toBe("One two three")
    expect(await texts("<records><record><style>Baroque</style><year>1701</year></record></records>")).toBe("style: Baroque\nyear: 1701")
    expect(await texts("<doc><style type='text/css'>p {}</style><stylesheet type='text/css'>p {}</stylesheet><p>One</p></doc>")).toBe("One")
    expect(await texts("<doc><svg><style>p {}</style></svg><p>One</p></doc>")).toBe("One")
  })

  it("is read where it declares entities of other files, and by the names that HTML has for characters", async () => {
    const texts = async (body: string): Promise<string> => (await parsed("a.xml", xml(body))).text
    const subset =
      `<!ENTITY % iso PUBLIC "-//ISO" "iso[1].ent"> %iso; <!-- it's [old] --> <!ENTITY far SYSTEM "far.xml"> <!ENTITY co "A]B">`
    expect(await texts(`<!DOCTYPE a SYSTEM "a.dtd" [${subset}]><a><b>The &co; otter (&far;)</b></a>`)).toBe("b: The A]B otter (&far;)")
    expect(await texts(`<!DOCTYPE a SYSTEM "a.dtd"><a><b>L&rsquo;&eacute;t&eacute; &lt; 5</b></a>`)).toBe("b: L’été < 5")
  })

  it("of records is lines of name and text", async () => {
    expect(
      (await parsed(
        "a.xml",
        xml("<list><item><name>Pen</name><price cur='EUR'>1</price></item><item name='Cup'><use id='x' for='tea'/></item></list>")
      )).shown
    )
      .toEqual(["paragraph: name: Pen\nprice: 1", "paragraph: item: Cup\nuse: for=tea"])
  })

  it("of documents is titles, paragraphs, code and tables", async () => {
    const source =
      "<article><title>All</title><section><title>Part <em>one</em></title><p>A <b>bold</b> word</p><programlisting>x\n y</programlisting>" +
      "<table><row><entry>a</entry><entry><p>b</p></entry></row><row><entry>c</entry><entry/></row></table></section></article>"
    expect(await parsed("a.xml", xml(source))).toMatchObject({
      title: "All",
      shown: ["heading 1: All", "heading 1: Part one", "paragraph: A bold word", "code: x\n y", "table: a | b\nc"]
    })
  })

  it("of feeds holds HTML as text", async () => {
    expect(
      (await parsed(
        "a.rss",
        xml("<rss><item><title>T</title><description>&lt;p&gt;One&lt;/p&gt;&lt;p&gt;two&lt;/p&gt;</description></item></rss>")
      )).shown
    )
      .toEqual(["heading 1: T", "paragraph: One", "paragraph: two"])
  })

  it("may be a book, without its pictures", async () => {
    const p = (text: string): string => `<p>${text}</p>`
    const { shown, title } = await parsed(
      "a.fb2",
      xml(
        `<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><description><title-info><book-title>Harbour</book-title></title-info></description>
      <body><title>${p("Harbour")}</title><section><title>${p("One")}</title>${
          p("The <emphasis>boats</emphasis> lay<a href='#n1'>[1]</a>.")
        }<poem><stanza><v>Cold water,</v><v>colder stone.</v></stanza></poem></section></body>
      <body name="notes"><section id="n1">${
          p("Still.")
        }</section></body><binary id="c.png" content-type="image/png">iVBORw0KGgo=</binary></FictionBook>`
      )
    )
    expect(title).toBe("Harbour")
    for (const line of ["paragraph: The boats lay[1].", "paragraph: Cold water,", "paragraph: colder stone.", "paragraph: Still."]) {
      expect(shown).toContain(line)
    }
    expect(shown.filter((line) => line.startsWith("heading")).map((line) => line.replace(/^heading \d: /, ""))).toEqual(["Harbour", "One"])
    expect(shown.join()).not.toContain("iVBOR")
  })

  it("is decoded as it declares, and has the entities that stand for text", async () => {
    expect((await parsed("a.xml", Buffer.from(xml("<a>Gr\xfc\xdfe &lt;1&gt;</a>"), "latin1"))).text).toBe("Grüße <1>")
    const subset = "<!DOCTYPE a [<!-- names --><!ENTITY co \"Acme &#38; Sons\"><!ENTITY far SYSTEM \"file:///etc/passwd\">]>"
    expect((await parsed("a.xml", xml(`${subset}<a>From &co; (&far;)</a>`))).text).toBe("From Acme & Sons (&far;)")
    const nested = `<!DOCTYPE a [<!ENTITY b "Otter"><!ENTITY % p "IGNORE"><!ENTITY c "<app>&b; &later;</app>"><!ENTITY later "x">]>`
    expect((await parsed("a.xml", xml(`${nested}<a>The &c;</a>`))).text).toBe("The Otter &later;")
    const bomb = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join("")
    expect(await refusal("a.xml", xml(`<!DOCTYPE a [<!ENTITY l0 "lol">${bomb}]><a>&l9;</a>`))).toMatchObject({ problem: "corrupt" })
    const long = `<!DOCTYPE a [<!ENTITY b "${"b".repeat(10_000)}">]>`
    expect(await refusal("a.xml", xml(`${long}<a>${"&b;".repeat(1_000)}</a>`))).toMatchObject({ problem: "corrupt" })
    expect(await refusal("a.xml", xml("<a>".repeat(5_000)))).toMatchObject({ problem: "limit" })
  })
})

describe("notebooks", () => {
  it("are their cells, and what they printed", async () => {
    const notebook = {
      nbformat: 4,
      metadata: {},
      cells: [
        { cell_type: "markdown", source: ["# Title\n", "Some *text*"] },
        {
          cell_type: "code",
          source: "print(1)",
          outputs: [
            { output_type: "stream", text: ["1\n"] },
            { output_type: "execute_result", data: { "text/plain": ["42"], "image/png": "AAAA" } },
            { output_type: "error", ename: "ValueError", evalue: "no", traceback: ["long"] }
          ]
        },
        { cell_type: "raw", source: "raw" }
      ]
    }
    expect(await parsed("a.ipynb", JSON.stringify(notebook))).toMatchObject({
      title: "Title",
      shown: ["heading 1: Title", "paragraph: Some text", "code: print(1)", "code: 1", "code: 42", "code: ValueError: no", "paragraph: raw"]
    })
    expect(await refusal("a.ipynb", "{\"cells\": [")).toMatchObject({ problem: "corrupt" })
  })

  it("keep every Markdown cell, and what is shown as HTML or TeX", async () => {
    const shows = (data: unknown) => ({ output_type: "display_data", data })
    const cells = [
      { cell_type: "markdown", source: "# First" },
      { cell_type: "markdown", source: ["Between the *headings*"] },
      {
        cell_type: "code",
        source: "show()",
        outputs: [
          shows({ "text/html": ["<table><tr><th>City</th><th>Fee</th></tr>", "<tr><td>Oslo</td><td>7</td></tr></table>"] }),
          shows({ "text/plain": "<IPython.core.display.HTML object>", "text/html": "<b>Bold words</b>" }),
          shows({ "text/plain": "<Figure size 640x480 with 1 Axes>", "image/png": "AAAA" }),
          shows({ "text/latex": "$x^2$" })
        ]
      },
      { cell_type: "markdown", source: "## Second" }
    ]
    expect(await parsed("a.ipynb", JSON.stringify({ nbformat: 4, metadata: {}, cells }))).toMatchObject({
      title: "First",
      shown: [
        "heading 1: First",
        "paragraph: Between the headings",
        "code: show()",
        "table: City | Fee\nOslo | 7",
        "paragraph: Bold words",
        "code: <Figure size 640x480 with 1 Axes>",
        "code: $x^2$",
        "heading 2: Second"
      ]
    })
    // Format 3.
    const worksheets = [{ cells: [{ cell_type: "code", input: "1", outputs: [{ output_type: "pyout", html: "<p>shown</p>" }] }] }]
    expect((await parsed("a.ipynb", JSON.stringify({ nbformat: 3, worksheets }))).shown).toEqual(["code: 1", "paragraph: shown"])
  })

  it("say which outputs are cut", async () => {
    const outputs = ["x".repeat(5_000), "y".repeat(5_000), "whole"].map((text) => ({ output_type: "stream", text }))
    const { remarks } = await parsed("a.ipynb", JSON.stringify({ nbformat: 4, cells: [{ cell_type: "code", source: "1", outputs }] }))
    expect(remarks).toEqual([{ kind: "cut", text: "the first 4000 characters of each of 2 outputs" }])
  })
})

describe("subtitles", () => {
  it("are what is said, by speaker, without times", async () => {
    const vtt =
      "WEBVTT\n\nNOTE no\n\nid\n00:01.000 --> 00:02.000 align:start\n<v Ann>Hello &amp;\nwelcome</v>\n\n00:02.000 --> 00:03.000\n<v Ann>all.\n\n" +
      "00:03.000 --> 00:04.000\n<v Bo Lee><i>Thanks</i>\n\n01:00:09.000 --> 01:00:10.000\nlater"
    expect((await parsed("a.vtt", vtt)).shown).toEqual([
      "paragraph: Ann: Hello & welcome all.",
      "paragraph: Bo Lee: Thanks",
      "paragraph: later"
    ])
    const srt =
      "1\r\n00:00:01,000 --> 00:00:02,000\r\n{\\an8}One\r\n\r\n2\r\n00:00:02,500 --> 00:00:03,000\r\nOne\r\n\r\n3\r\n00:00:03,000 --> 00:00:04,000\r\ntwo\r\n"
    expect((await parsed("a.srt", srt)).shown).toEqual(["paragraph: One two"])
  })
})
