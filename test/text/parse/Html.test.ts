import { describe, expect, it } from "vitest"
import { DocumentBuilder } from "../../../src/text/parse/DocumentBuilder.ts"
import { htmlBlocks } from "../../../src/text/parse/Html.ts"
import { parsed, refusal, timeOf } from "./support/Parsed.ts"

const shown = async (body: string) => (await parsed("a.html", `<!DOCTYPE html><body>${body}</body>`)).shown
const filler = `<p>${"Enough text that nothing around it is needed. ".repeat(4).trim()}</p>`
const filled = `paragraph: ${"Enough text that nothing around it is needed. ".repeat(4).trim()}`

describe("blocks", () => {
  it("has what stands in place of an object", async () => {
    const page = "<p>a</p><object data='x.swf'><param name='p' value='v'><p>Map of the fords</p></object><p>b</p>"
    expect((await parsed("a.html", page)).text).toBe("a\n\nMap of the fords\n\nb")
  })

  it("are headings, paragraphs, code and breaks", async () => {
    expect(
      await shown(
        "<h1>One <em>two</em></h1>loose<p>a<br>b&amp;c&nbsp;d&#x21;<br><br>after</p><div>x<div>y</div>z</div>" +
          "<pre>\n  if (a &lt; b)\n\n    c<br>d</pre><pre>next</pre><h7>no heading</h7>"
      )
    ).toEqual([
      "heading 1: One two",
      "paragraph: loose",
      "paragraph: a\nb&c d!",
      "paragraph: after",
      "paragraph: x",
      "paragraph: y",
      "paragraph: z",
      "code:   if (a < b)\n\n    c\nd",
      "code: next",
      "paragraph: no heading"
    ])
  })

  it("survive headings that are never closed, and code with a block a line", async () => {
    const long = "word ".repeat(80).trim()
    expect(await shown(`<h1>One<h2>Two<div>${long}</div></h2><pre><div>a</div><div>  b</div></pre>`))
      .toEqual(["heading 1: One", "heading 2: Two", `paragraph: ${long}`, "code: a\n  b"])
  })

  it("are lists with their nesting and numbers", async () => {
    expect(
      await shown(
        "<ul><li>a<li><p>b</p><p>more</p><ol start=3><li>c<li value=7>d</ol>tail</ul><ul><li>other<pre>x = 1</pre></ul>"
      )
    ).toEqual(["list: - a\n- b more\n  3. c\n  7. d", "paragraph: tail", "list: - other", "code: x = 1"])
  })

  it("are tables, a line a row, where they hold data", async () => {
    expect(
      await shown(
        "<table><caption>Prices</caption><thead><tr><th>Item<th>Price<tbody><tr><td>Pen<td><p>1</p><p>Euro</p><tr><td>Cup<td></table>"
      )
    ).toEqual(["paragraph: Prices", "table: Item | Price\nPen | 1 Euro\nCup"])
  })

  it("come out of tables that are there for layout", async () => {
    expect(
      await shown(
        "<table><tr><td>menu</td><td><h2>Title</h2><p>Text</p><table><tr><td>a</td><td>b</td></tr></table>end</td></tr></table>" +
          "<table><tr><td class=linenos><pre>1\n2</pre></td><td><pre>x\ny</pre></td></tr></table>"
      )
    ).toEqual(["paragraph: menu", "heading 2: Title", "paragraph: Text", "table: a | b", "paragraph: end", "code: x\ny"])
  })

  it("leave out scripts, forms, what is hidden and what generators add", async () => {
    expect(
      await shown(
        "<script>a</script><style>b</style><template>c</template><noscript>d</noscript><p hidden>e</p><p style='display: none'>f</p>" +
          "<p>text<a class=headerlink>¶</a><select><option>g<option>h</select><button>i</button><svg><title>j</title></svg></p>" +
          "<h2><button>Question?</button></h2><img alt='A chart of sales' src=x.png>"
      )
    ).toEqual(["paragraph: text", "heading 2: Question?", "paragraph: A chart of sales"])
  })
})

describe("forms", () => {
  it("are read with what is entered and chosen; prompts, passwords, buttons and what is not chosen left out", async () => {
    expect(
      await shown(
        "<form><p>Name <input value='Ann Lee'> <input type=email value='a@b.c'><input type=password value=secret><input type=hidden value=t>" +
          "<input type=submit value=Send><input placeholder='Your town'></p>" +
          "<p>Colour <select><option>red<option selected>green<option>blue</select></p>" +
          "<p><input type=checkbox checked> Tea <input type=radio> Milk</p>" +
          "<p>Remarks <textarea>Two lines,\n&lt;both&gt; kept</textarea> end</p></form><input type=checkbox> Menu" +
          "<map><area alt='The north wing'></map>"
      )
    ).toEqual([
      "paragraph: Name Ann Lee a@b.c",
      "paragraph: Colour green",
      "paragraph: ☒ Tea ☐ Milk",
      "paragraph: Remarks Two lines,\n<both> kept end",
      "paragraph: Menu The north wing"
    ])
    expect(await shown("<table><tr><th>Town<td><textarea>Old\nYork</textarea></table>")).toEqual(["table: Town | Old York"])
  })

  it("and templates are read where they are the content of an element", async () => {
    expect(await shown("<div><template shadowrootmode=open><p>Seen</p></template></div><template><p>Not seen</p></template>")).toEqual([
      "paragraph: Seen"
    ])
  })
})

describe("pages within a page", () => {
  it("are read in their place where the page holds them, to a depth, and not where they are hidden", async () => {
    const within = (inner: string): string =>
      `<iframe srcdoc="${inner.replaceAll("&", "&amp;").replaceAll("\"", "&quot;")}">no frames</iframe>`
    expect(
      await shown(`<p>before</p>${within(`<p>inside &amp; out${within("<b>deeper</b>")}`)}<p>after</p><div hidden>${within("gone")}</div>`)
    )
      .toEqual(["paragraph: before", "paragraph: inside & out", "paragraph: deeper", "paragraph: after"])
    const deep = Array.from({ length: 8 }, (_, i) => i).reduce((inner, i) => `${i} ${within(inner)}`, "end")
    expect((await shown(`${deep}<p>after</p>`)).join(" ")).toBe(
      "paragraph: 7 paragraph: 6 paragraph: 5 paragraph: 4 paragraph: 3 paragraph: after"
    )
  })
})

describe("definitions", () => {
  it("are a block with the terms that they define, indented below them, in lists within lists too", async () => {
    expect(
      await shown(
        "<dl><dt><code>-I index</code><br><code>--index=index</code></dt><dd><p>Restore this index.</p><p>May be repeated.</p></dd>" +
          "<dt>-j</dt><dt>--jobs</dt><dd>Steps at once.<dl><dt>auto<dd>As many as processors.</dl></dd><dt>alone</dl><p>after</p>"
      )
    ).toEqual([
      "paragraph: -I index\n--index=index\n    Restore this index.",
      "paragraph:     May be repeated.",
      "paragraph: -j\n--jobs\n    Steps at once.",
      "paragraph:     auto\n        As many as processors.",
      "paragraph: alone",
      "paragraph: after"
    ])
  })

  it("that begin with a list stand below their term", async () => {
    expect(await shown("<dl><dt>Sizes<dd><ul><li>small</ul></dl><ul><li><dl><dt>in<dd>an item</dl></ul>"))
      .toEqual(["paragraph: Sizes", "list: - small", "list: - in an item"])
  })
})

describe("boxes beside the text", () => {
  it("have a title that heads nothing after them", async () => {
    expect(
      await shown(
        "<h2>Options</h2><div class='note'><h3 class='title'>Note</h3><p>Mind the gap.</p></div><p>after</p><div role=note><h4>Tip</h4></div>"
      )
    ).toEqual(["heading 2: Options", "paragraph: Note", "paragraph: Mind the gap.", "paragraph: after", "paragraph: Tip"])
  })
})

describe("navigation, page footers and sidebars", () => {
  it("are told by the classes that generators give them", async () => {
    expect(await shown(`<div class="navheader"><table><tr><td>Prev<td>Next</table></div>${filler}<ul class="docnav a"><li>Home</ul>`))
      .toEqual([filled])
  })

  it("are tables and list items too, and links in a line, but not the text before them", async () => {
    const table = `<table class="navigation"><tr><td>Up</td><td>Next</td></tr></table>`
    expect(
      await shown(`<a class="skip-link" href="#a">Skip to content</a>${table}${filler}<ul><li>Otters<ul class="pagination"><li>2</ul></ul>`)
    )
      .toEqual([filled, "list: - Otters"])
  })

  it("are lines with a link to the next page or the one before, wherever they stand again", async () => {
    const line = (rel: string) =>
      `<p>Next: <a ${rel} href="b.html">Herons</a>, Up: <a href="index.html">Birds</a> [<a href="c.html">Contents</a>]</p>`
    expect(await shown(`<div><a rel="next" href="b.html"></a></div><p>Otters</p>${filler}`)).toEqual(["paragraph: Otters", filled])
    expect(await shown(`${line("rel=\"next\"")}${filler}<p>Next: Herons</p>${line("")}`)).toEqual([filled, "paragraph: Next: Herons"])
  })

  it("are footers by class or id, outside of an article", async () => {
    expect(
      await shown(
        `${filler}<article><div class="footer">By me</div></article><div class="footer">Made with X</div><div id="footer">2026</div>`
      )
    )
      .toEqual([filled, "paragraph: By me"])
  })

  it("are left out, but not those inside an article", async () => {
    expect(
      await shown(
        `<nav>home</nav><header><h1>Page</h1></header><main>${filler}<aside>Note well</aside><section><footer>By me</footer></section></main>` +
          "<aside>ads</aside><div role=navigation>more</div><footer>imprint</footer>"
      )
    ).toEqual(["heading 1: Page", filled, "paragraph: Note well", "paragraph: By me"])
  })

  it("are kept where there is next to nothing else", async () => {
    expect(await shown("<nav><a>All</a> <a>there is</a></nav><footer>Contact us</footer>"))
      .toEqual(["paragraph: All there is", "paragraph: Contact us"])
  })
})

describe("a page", () => {
  it("has a title, an author and a language; a title that no heading shows is text", async () => {
    const head = "<html lang=de-AT><title>Der  Titel</title><meta name=author content='A. Lee'>"
    expect(await parsed("a.html", `${head}<p>Text`)).toMatchObject({
      title: "Der Titel",
      author: "A. Lee",
      language: "de",
      shown: ["heading 1: Der Titel", "paragraph: Text"]
    })
    expect((await parsed("a.html", `${head}<h1>Titel</h1>x`)).shown).toEqual(["heading 1: Titel", "paragraph: x"])
    expect((await parsed("a.html", `${head}<h1>Anderes</h1>x`)).shown[0]).toBe("paragraph: Der Titel")
  })

  it("is decoded as it declares", async () => {
    const page = (charset: string) => Buffer.from(`<meta charset="${charset}"><p>\xe4\xf6\xfc \xcf\xf0\xe8`, "latin1")
    expect((await parsed("a.html", page("iso-8859-1"))).text).toBe("äöü Ïðè")
    expect((await parsed("a.html", page("windows-1251"))).text).toBe("дць При")
  })

  it("in XHTML may close any element at once", async () => {
    const builder = new DocumentBuilder(1_000)
    const facts = htmlBlocks(
      `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x"/></head><body><p/>Text<![CDATA[ & more]]></body></html>`,
      builder
    )
    expect(facts).toEqual({})
    expect(builder.build({ format: "html" }).text).toBe("Text & more")
  })

  it("without text is refused", async () => {
    expect(await refusal("a.html", "<html><body><img src=x></body></html>")).toMatchObject({ problem: "empty" })
  })
})

describe("hostile markup takes linear time", () => {
  const n = 30_000
  it.each([
    ["nested elements", "<div>".repeat(n)],
    ["nested lists", "<ul><li>a".repeat(n)],
    ["nested tables", "<table><tr><td>a".repeat(n)],
    ["stray end tags under deep nesting", "<div>".repeat(n) + "</p></b>".repeat(n)],
    ["items under unclosed inline elements", "<b>".repeat(n) + "<li>x".repeat(n)],
    ["end tags held back by a cell", "<table><tr><td>" + "<b>".repeat(n) + "</div>".repeat(n)],
    ["line breaks", "<p>" + "a<br>".repeat(n)],
    ["attributes", "<p a=".repeat(n)]
  ])("%s", async (_, body) => {
    expect(await timeOf("a.html", `<html><p>text</p>${body}<p>end</p>`)).toBeLessThan(3_000)
  })
})
