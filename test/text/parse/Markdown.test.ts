import { describe, expect, it } from "vitest"
import { parsed, timeOf } from "./support/Parsed.ts"

const shown = async (...lines: ReadonlyArray<string>) => (await parsed("a.md", lines.join("\n"))).shown

describe("blocks", () => {
  it("are headings of both kinds", async () => {
    expect(
      await shown(
        "# One #",
        "## Two ## x",
        "Three",
        "===",
        "Four",
        "four",
        "---",
        "#no",
        "",
        "##### Five {#id}",
        "## Six {#le-six .wide}",
        "***"
      )
    )
      .toEqual([
        "heading 1: One",
        "heading 2: Two ## x",
        "heading 1: Three",
        "heading 2: Four four",
        "paragraph: #no",
        "heading 5: Five",
        "heading 2: Six"
      ])
  })

  it("are code, fenced or indented", async () => {
    expect(
      await shown(
        "````md",
        "```",
        "# no heading",
        "````",
        "~~~",
        "x",
        "",
        "y",
        "~~~",
        "",
        "    a",
        "",
        "      b",
        "",
        "text",
        "    lazy",
        "```",
        "open"
      )
    )
      .toEqual(["code: ```\n# no heading", "code: x\n\ny", "code: a\n\n  b", "paragraph: text\nlazy", "code: open"])
  })

  it("are lists with their nesting", async () => {
    expect(await shown("- a", "  b", "- c", "  1. d", "  2) e", "     - f", "* g", "+ [ ] h", "", "text", "2. no list", "", "3. list"))
      .toEqual(["list: - a b\n- c\n  1. d\n  2) e\n    - f\n- g\n- [ ] h", "paragraph: text\n2. no list", "list: 3. list"])
  })

  it("inside list items are text and code of the item", async () => {
    expect(await shown("1. Do", "", "   Then", "", "   ```", "   run", "   ```", "2. Done", "", "Out"))
      .toEqual(["list: 1. Do", "paragraph: Then", "code: run", "list: 2. Done", "paragraph: Out"])
  })

  it("are tables", async () => {
    expect(await shown("| a | *b* |", "|:--|--:|", "| 1 \\| 2 | `x` |", "3 | ", "", "no | table"))
      .toEqual(["table: a | b\n1 | 2 | x\n3", "paragraph: no | table"])
  })

  it("in quotes are read like any other", async () => {
    expect(await shown("> # A", "> b", "lazy", "> - c", ">", "> > deep", "", "> ```", "> code", "> ```", "after"))
      .toEqual(["heading 1: A", "paragraph: b\nlazy", "list: - c", "paragraph: deep", "code: code", "paragraph: after"])
  })

  it("in quotes are code where they are indented", async () => {
    expect(await shown("> Run", ">", ">     $ make", ">       all", "", ">\t\tx")).toEqual([
      "paragraph: Run",
      "code: $ make\n  all",
      "code:   x"
    ])
  })

  it("keep the cells that a row has too many, footnotes, and what is nested too deeply", async () => {
    expect(await shown("| a | b |", "|-|-|", "| 1 | 2 | 3 |", "", "[^n]: note", "", `${"> ".repeat(150)}deep`, "", "[link]: url"))
      .toEqual(["table: a | b\n1 | 2 | 3", "paragraph: [^n]: note", "paragraph: deep"])
  })

  it("in boxes keep their titles", async () => {
    expect(await shown(":::tip Mind this", "text", ":::", "", "!!! note \"Title\"", "    body", "", "> [!NOTE]", "> more"))
      .toEqual(["paragraph: Mind this\ntext", "paragraph: Title", "paragraph: body", "paragraph: more"])
  })

  it("in boxes of MkDocs are no code, though they are indented", async () => {
    expect(
      await shown(
        "!!! warning",
        "",
        "    Do *not* lift.",
        "",
        "    ```sh",
        "    lift --now",
        "    ```",
        "",
        "    1. one",
        "    2. two",
        "",
        "After.",
        "",
        "- item",
        "",
        "    ??? note \"Folded\"",
        "        in an item",
        "",
        "=== \"Docker\"",
        "",
        "    By hand.",
        "",
        "!!! important no box",
        "",
        "    code"
      )
    ).toEqual([
      "paragraph: Do not lift.",
      "code: lift --now",
      "list: 1. one\n2. two",
      "paragraph: After.",
      "list: - item",
      "paragraph: Folded",
      "paragraph: in an item",
      "paragraph: Docker",
      "paragraph: By hand.",
      "paragraph: code"
    ])
  })

  it("in directives nested deeply are plain lines, and the file is read", async () => {
    const blocks = await shown("Before.", "", ...Array.from({ length: 20_000 }, () => "```{note}"), "Deep within.")
    expect(blocks[0]).toBe("paragraph: Before.")
    expect(blocks.at(-1)).toContain("Deep within.")
  })

  it("in directives of MyST are Markdown, without options, roles and what Sphinx shows nothing of", async () => {
    expect(
      await shown(
        "See {ref}`the lift <lift-ref>` and {term}`boom`.",
        "",
        "```{note}",
        "Do *not* lift **alone**.",
        "",
        "- one",
        "```",
        "",
        "````{tab-set}",
        "```{tab-item} Docker",
        ":sync: d",
        "",
        "~~~sh",
        "docker run crane",
        "~~~",
        "```",
        "````",
        "",
        "```{image} a.png",
        ":alt: A crane over the quay",
        "```",
        "",
        "```{toctree}",
        "install",
        "```",
        "",
        ":::{warning} Mind the hook",
        "It swings.",
        ":::",
        "",
        "```{python}",
        "print(1)",
        "```",
        "",
        "- item",
        "",
        "  ```{tip}",
        "  In an item.",
        "  ```",
        "",
        "~~~{admonition} Not closed",
        "The end."
      )
    ).toEqual([
      "paragraph: See the lift and boom.",
      "paragraph: Do not lift alone.",
      "list: - one",
      "paragraph: Docker",
      "code: docker run crane",
      "paragraph: A crane over the quay",
      "paragraph: Mind the hook",
      "paragraph: It swings.",
      "code: print(1)",
      "list: - item",
      "paragraph: In an item.",
      "paragraph: Not closed",
      "paragraph: The end."
    ])
  })

  it("in components of MDX are Markdown however far they are indented, with the texts of attributes", async () => {
    expect(
      await shown(
        "<Card title=\"Quick *start*\" icon=\"rope\" href=\"/x\">",
        "  Lift **now**.",
        "</Card>",
        "",
        "<Steps>",
        "    <Step title='Tie the rope'>",
        "        Twice.",
        "",
        "        ```sh",
        "        tie --twice",
        "          # by hand",
        "        ```",
        "    </Step>",
        "</Steps>",
        "",
        "<ParamField",
        "  body=\"max_load\"",
        "  type=\"integer\"",
        "  required",
        "  onChange={() => { go({ a: 1 }) }}",
        ">",
        "  The most it lifts.",
        "</ParamField>",
        "",
        "1. One",
        "",
        "   <Note>Mind this.</Note>",
        "",
        "2. Two <Tooltip tip=\"no\">here</Tooltip>",
        "",
        "```jsx",
        "<Card title=\"code\">",
        "  <Foo />",
        "</Card>",
        "```",
        "",
        "<Cards>",
        "    <Card title=\"Alone\" href=\"/y\" />",
        "</Cards>",
        "",
        "<Open>",
        "",
        "<TABLE><TR><TD>a</TD><TD>b</TD></TR></TABLE>"
      )
    ).toEqual([
      "paragraph: Quick start\nLift now.",
      "paragraph: Tie the rope\nTwice.",
      "code: tie --twice\n  # by hand",
      "paragraph: max_load (integer, required)",
      "paragraph: The most it lifts.",
      "list: 1. One",
      "paragraph: Mind this.",
      "list: 2. Two here",
      "code: <Card title=\"code\">\n  <Foo />\n</Card>",
      "paragraph: Alone",
      "table: a | b"
    ])
  })

  it("of definitions stand below their terms", async () => {
    expect(
      await shown(
        "Crane",
        ": What *lifts*.",
        "",
        "Rope",
        "",
        ":   What holds,",
        "    and tears.",
        "",
        "    Of hemp.",
        "",
        "#### `LOAD`",
        "",
        ": The most it lifts.",
        "",
        "    Defaults to `5`.",
        "",
        "Time: 12",
        ":no definition"
      )
    ).toEqual([
      "paragraph: Crane\nWhat lifts.",
      "paragraph: Rope\nWhat holds,\nand tears.",
      "paragraph: Of hemp.",
      "heading 4: LOAD",
      "paragraph: The most it lifts.",
      "paragraph: Defaults to 5.",
      "paragraph: Time: 12\n:no definition"
    ])
  })

  it("of templates have no tags, and links whose targets a template makes", async () => {
    expect(
      await shown(
        "{% alert %}",
        "Lift [slowly]({% page \"how to/lift\" %}#x) and [safely]({{< ref \"a b\" >}}).",
        "{% endalert %}",
        "",
        "{{< figure src=\"a.png\" caption=\"A crane at work\" >}}",
        "",
        "{: .wide }",
        "",
        "[[_TOC_]]",
        "",
        "[toc]",
        "",
        "Write `{% raw %}` or {{ name }}."
      )
    ).toEqual(["paragraph: Lift slowly and safely.", "paragraph: A crane at work", "paragraph: Write {% raw %} or {{ name }}."])
  })

  it("in parts of a long text are the same as in one", async () => {
    const section = "## Title\n\nText with a [link](x).\n\n```\n\n# no heading\n```\n\n"
    const count = Math.ceil(5_000_000 / section.length)
    const { blocks } = await parsed("a.md", section.repeat(count))
    expect(blocks.filter(({ kind }) => kind === "heading")).toHaveLength(count)
    expect(blocks.filter(({ kind }) => kind === "code")).toHaveLength(count)
  })

  it("of HTML are read as HTML", async () => {
    expect(
      await shown(
        "<!-- no",
        "",
        "text -->",
        "<table><tr><td>a</td><td>b</td></tr></table>",
        "",
        "<details><summary>S</summary>",
        "",
        "**in**",
        "",
        "</details>",
        "<p align=center><img alt='Logo' src=x></p>"
      )
    )
      .toEqual(["table: a | b", "paragraph: S", "paragraph: in", "paragraph: Logo"])
  })
})

describe("inline markup", () => {
  it.each([
    ["**bold *both*** and _em_ ~~gone~~", "bold both and em gone"],
    ["snake_case_name 2 * 3 * 4 a*b*c", "snake_case_name 2 * 3 * 4 abc"],
    ["`code *x*` `` a`b `` `open", "code *x* a`b `open"],
    ["[text](http://x.y/(a) \"t\") ![img](<a b>) [ [in] ](x)!", "text img  [in] !"],
    ["[full][r] [r][] [r] [none] [a][none] [x] done", "full r r [none] [a][none] [x] done"],
    ["<http://a.b> <a@b.c> <b>tag</b> 1 < 2 > 1", "http://a.b a@b.c tag 1 < 2 > 1"],
    ["&amp;&lt;&eacute;&#33;&nope; \\*no\\* a\\b", "&<é!&nope; *no* a\\b"],
    ["one\\", "one\\"]
  ])("%s", async (source, text) => {
    expect(await shown(source, "", "[R]: http://x")).toEqual([`paragraph: ${text}`])
  })
})

describe("front matter", () => {
  it("gives title, author and language, and a heading where the text has none", async () => {
    const front = "---\r\ntitle: \"A: b\"\r\nauthor: 'It''s me'\r\nlang: de-DE\r\ntags: [x]\r\ndescription: About it. # no\r\n---\r\n"
    expect(await parsed("a.md", `${front}Text`)).toMatchObject({
      title: "A: b",
      author: "It's me",
      language: "de",
      shown: ["heading 1: A: b", "paragraph: About it.", "paragraph: Text"]
    })
    expect((await parsed("a.md", `${front}# Own\nText`)).shown[0]).toBe("paragraph: About it.")
  })

  it("is told from a rule", async () => {
    expect(await shown("---", "", "Text", "", "---", "More")).toEqual(["paragraph: Text", "paragraph: More"])
  })
})

describe("hostile text takes linear time", () => {
  const n = 30_000
  it.each([
    ["asterisks", "*a ".repeat(n)],
    ["mixed emphasis", "**a *b _c ".repeat(n)],
    ["backticks", Array.from({ length: 1_000 }, (_, i) => `${"`".repeat((i % 300) + 1)}a`).join(" ")],
    ["open brackets", "[".repeat(n)],
    ["links", "[a](".repeat(n)],
    ["link titles", "[a](b \"".repeat(n)],
    ["tags", "<a ".repeat(n)],
    ["blanks", `a${" ".repeat(n * 5)}b`],
    ["heading marks", `# ${" #".repeat(n)} a`],
    ["quote marks", `${"> ".repeat(n)}a`],
    ["nested items", Array.from({ length: 1_000 }, (_, i) => `${" ".repeat(i * 2)}- a`).join("\n")],
    ["tables", `${"| a ".repeat(n)}\n${"|-".repeat(n)}`],
    ["comments", `${"<!--".repeat(n)}-->x`]
  ])("%s", async (_, source) => {
    expect(await timeOf("a.md", `text\n\n${source}\n\ntext`)).toBeLessThan(3_000)
  })
})
