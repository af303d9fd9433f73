import { describe, expect, it } from "vitest"
import { parsed, timeOf } from "./support/Parsed.ts"

const shownAs = (extension: string) => async (...lines: ReadonlyArray<string>) => (await parsed(`a.${extension}`, lines.join("\n"))).shown

describe("reStructuredText", () => {
  const shown = shownAs("rst")

  it("ranks titles by the order of their styles", async () => {
    expect(await shown("=====", "Title", "=====", "", "Part", "====", "", "Sub", "---", "", "Part 2", "======", "", "-----", "", "text"))
      .toEqual(["heading 1: Title", "heading 2: Part", "heading 3: Sub", "heading 2: Part 2", "paragraph: text"])
  })

  it("puts texts in place of names, wherever they are defined", async () => {
    expect(
      await shown(
        "|Crane| lifts |much|, |else| not.",
        "",
        ".. |crane| image:: a.png",
        ".. |Crane| replace:: The *big*",
        "   crane",
        "",
        ".. |much| replace:: 5 t"
      )
    ).toEqual(["paragraph: The big crane lifts 5 t, else not."])
  })

  it("knows directives, comments and literal blocks", async () => {
    expect(
      await shown(
        ".. code-block:: python",
        "   :linenos:",
        "",
        "   x = 1",
        "",
        ".. note:: Mind",
        "   this.",
        "",
        "   - item",
        "",
        ".. image:: a.png",
        "   :alt: A crane",
        "",
        ".. Image:: b.png",
        "   :alt: A gantry",
        "",
        ".. |icon| image:: c.png",
        "   :alt: An icon",
        "",
        ".. a comment",
        "   of two lines",
        "",
        ".. _target: http://x",
        "",
        "Example::",
        "",
        "    run",
        "      this",
        "",
        "1. Do::",
        "",
        "     it",
        "",
        ".. [1] A note"
      )
    ).toEqual([
      "code: x = 1",
      "paragraph: Mind",
      "paragraph: this.",
      "list: - item",
      "paragraph: A crane",
      "paragraph: A gantry",
      "paragraph: Example:",
      "code: run\n  this",
      "list: 1. Do:",
      "code: it",
      "paragraph: [1] A note"
    ])
  })

  it("reads escaped brackets and targets in the text, and no names of directives", async () => {
    expect(
      await shown(
        ".. class:: narrow run-in",
        "",
        ":compound: `\\<decoration>`_, `the docinfo <d>`_, `a \\* b`",
        "",
        "_`Compound elements` have :math:`\\alpha`.",
        "",
        ".. container:: wide",
        "",
        "   Otters swim."
      )
    ).toEqual([
      "paragraph: compound: <decoration>, the docinfo, a * b",
      "paragraph: Compound elements have \\alpha.",
      "paragraph: Otters swim."
    ])
  })

  it("reads lists, fields and tables", async () => {
    expect(
      await shown(
        ":Author: Me",
        "",
        "- a",
        "",
        "  - b",
        "    c",
        "",
        "#. d",
        "",
        "+---+-----+",
        "| a | b   |",
        "+===+=====+",
        "| 1 | 2   |",
        "|   | two |",
        "+---+-----+",
        "",
        "=====  ===",
        "Name   No",
        "=====  ===",
        "Pen    1",
        "       2",
        "=====  ===",
        "",
        ".. list-table:: T",
        "",
        "   * - x",
        "     - y",
        "   * - z",
        "     - w"
      )
    ).toEqual([
      "paragraph: Author: Me",
      "list: - a\n  - b c\n#. d",
      "table: a | b\n1 | 2 two",
      "table: Name | No\nPen | 1 2",
      "paragraph: T",
      "table: x | y\nz | w"
    ])
  })

  it("reduces inline markup", async () => {
    expect(await shown("*em* **st** ``c`d`` :ref:`text <target>` `site <http://x>`_ word_ :class:`~a.b.C` :pep:`8` [1]_ |sub| a\\*b 2 * 3"))
      .toEqual(["paragraph: em st c`d text site word C PEP 8 [1] sub a*b 2 * 3"])
  })
})

describe("AsciiDoc", () => {
  const shown = shownAs("adoc")

  it("reads titles by attributes set below them, and conditional text without the conditions", async () => {
    expect(
      await shown(
        "= Guide to {crane}",
        ":crane: Lift",
        "",
        "Before.",
        "ifdef::yard[]",
        "In the yard.",
        "endif::[]",
        "",
        "ifndef::yard[Elsewhere.]",
        "ifeval::[\"{crane}\" == \"Lift\"]",
        "Always.",
        "endif::[]"
      )
    ).toEqual(["heading 1: Guide to Lift", "paragraph: Before.\nIn the yard.", "paragraph: Elsewhere.\nAlways."])
  })

  it("reads headings, attributes, blocks and lists", async () => {
    const document = await parsed(
      "a.adoc",
      [
        "= Guide to {product}",
        "Ann Lee <a@b.c>",
        ":product: Sluice",
        "",
        "{product} is here. // no",
        "// comment",
        "",
        "[source,ts]",
        "----",
        "const a = 1",
        "----",
        "",
        "== Part",
        ".Caption",
        "====",
        "NOTE: inside",
        "====",
        "",
        "* a",
        "** b",
        ". c",
        "",
        "Term:: means *this*",
        "",
        "ifdef::x[]",
        "image::p.png[Alt text,100]",
        "....",
        "lit",
        "....",
        "////",
        "no",
        "////"
      ].join("\n")
    )
    expect(document).toMatchObject({
      author: "Ann Lee",
      shown: [
        "heading 1: Guide to Sluice",
        "paragraph: Sluice is here. // no",
        "code: const a = 1",
        "heading 2: Part",
        "paragraph: Caption",
        "paragraph: NOTE: inside",
        "list: - a\n  - b\n1. c",
        "paragraph: Term: means this",
        "paragraph: Alt text",
        "code: lit"
      ]
    })
  })

  it("reads tables by their columns", async () => {
    expect(await shown("[cols=\"1,2*\"]", "|===", "|a |b |c", "", "|1", "|2", "|3 more", "|===", "", "|===", "h|x ^.^|y", "a|1 |2", "|==="))
      .toEqual(["table: a | b | c\n1 | 2 | 3 more", "table: x | y\n1 | 2"])
  })

  it("reduces inline markup", async () => {
    expect(
      await shown(
        "*b* _i_ `m` **a**b snake_case_x link:x[text] https://a.b[site] https://c.d xref:x[] <<id,see it>> footnote:[fn] kbd:[Ctrl]"
      )
    )
      .toEqual(["paragraph: b i m ab snake_case_x text site https://c.d x see it  (fn) Ctrl"])
  })
})

describe("Org", () => {
  it("reads headings, blocks, lists and tables, and leaves out drawers and settings", async () => {
    const document = await parsed(
      "a.org",
      [
        "#+TITLE: The title",
        "#+AUTHOR: Me",
        "#+OPTIONS: x",
        "* TODO [#A] One :tag:",
        ":PROPERTIES:",
        ":ID: 1",
        ":END:",
        "Text *bold* =code= [[http://x][link]] a*b*c",
        "** Two",
        "#+begin_src sh",
        "ls",
        "#+end_src",
        "#+BEGIN_QUOTE",
        "quoted",
        "#+END_QUOTE",
        "- a",
        "  - [X] b",
        "- term :: text",
        "",
        "| x | y |",
        "|---+---|",
        "| 1 | 2 |",
        "# comment",
        ": fixed"
      ].join("\n")
    )
    expect(document).toMatchObject({
      title: "The title",
      author: "Me",
      shown: [
        "heading 1: The title",
        "heading 1: TODO One",
        "paragraph: Text bold code link a*b*c",
        "heading 2: Two",
        "code: ls",
        "paragraph: quoted",
        "list: - a\n  - b\n- term: text",
        "table: x | y\n1 | 2",
        "code: fixed"
      ]
    })
  })
})

describe("LaTeX", () => {
  it("takes a percent sign for a character in code and after a backslash, and for a comment after a line break", async () => {
    const lines = [
      "\\title{Otters%",
      "  \\\\% comment",
      "  and herons}",
      "\\begin{document}",
      "Of them 5\\% swim% comment",
      "",
      "Write \\verb|%d| here, \\makebox[3cm][c]{otters}.",
      "\\begin{lstlisting}",
      "printf(\"%d\", a % b)",
      "next()",
      "\\end{lstlisting}",
      "\\begin{verbatim}",
      "never closed % comment",
      "\\end{document}"
    ]
    expect((await parsed("a.tex", lines.join("\n"))).shown).toEqual([
      "heading 1: Otters and herons",
      "paragraph: Of them 5% swim",
      "paragraph: Write %d here, otters.",
      "code: printf(\"%d\", a % b)\nnext()",
      "paragraph: never closed"
    ])
  })

  it("reads notes to the title and at the end, titles of theorems, and captions of parts of a figure", async () => {
    const { author, shown, title } = await parsed(
      "a.tex",
      [
        "\\newtheorem{satz}{Satz}\\title{Otters\\thanks{Paid by the \\emph{Ferry} Fund}}\\author{Ann Lee\\thanks{Upper Ford} and Bo}",
        "\\begin{document}\\maketitle",
        "One\\endnote{a late note} and\\marginpar{aside}.",
        "\\begin{satz}[Fermat]",
        "Two.\\end{satz}",
        "\\begin{theorem}[name={Last of all}, label=x]",
        "Three.\\end{theorem}",
        "\\begin{figure}[ht]\\subfloat[Left \\emph{bank}]{\\includegraphics{a}}\\subfloat[Right bank]{\\includegraphics{b}}\\caption{Banks}\\end{figure}",
        "\\end{document}"
      ].join("\n")
    )
    expect({ author, title, shown }).toEqual({
      author: "Ann Lee and Bo",
      title: "Otters",
      shown: [
        "heading 1: Otters",
        "paragraph: Paid by the Ferry Fund",
        "paragraph: Upper Ford",
        "paragraph: One (a late note) and (aside).",
        "paragraph: (Fermat)\nTwo.",
        "paragraph: (Last of all)\nThree.",
        "paragraph: Left bank\n\nRight bank",
        "paragraph: Banks"
      ]
    })
  })

  it("is decoded by the charset that the source names", async () => {
    const read = async (encoding: string, body: string) =>
      (await parsed("a.tex", Buffer.from(`\\usepackage[${encoding}]{inputenc}\n\\begin{document}${body}\\end{document}`, "latin1"))).text
    expect(await read("applemac", "Gr\x9f\xa7e")).toBe("Grüße")
    expect(await read("latin9", "5 \xa4")).toBe("5 €")
    expect(await read("latin2", "\xb1")).toBe("ą")
    expect(await read("cp852", "\xa5")).toBe("ą")
  })

  it("reads sections, lists, tables and code", async () => {
    const document = await parsed(
      "a.tex",
      [
        "\\documentclass{article}",
        "\\title{On \\emph{things}\\thanks{me}}",
        "\\author{J. Doe}",
        "\\begin{document}",
        "\\maketitle",
        "\\begin{abstract}",
        "Short. % no",
        "\\end{abstract}",
        "\\section*{One}\\label{s}",
        "Text here.",
        "",
        "\\subsection[x]{Two}",
        "\\begin{enumerate}",
        "\\item a",
        "\\begin{itemize}\\item b\\end{itemize}",
        "\\item c",
        "\\end{enumerate}",
        "\\begin{verbatim}",
        "x \\y",
        "\\end{verbatim}",
        "\\begin{table}[h]\\begin{tabular}{|l|r|}\\hline a & 50\\% \\\\ \\hline b & 2 \\\\\\end{tabular}\\caption{Both}\\end{table}",
        "\\begin{equation}\\label{e} E = mc^2 \\end{equation}",
        "\\begin{tikzpicture}\\draw (0,0);\\end{tikzpicture}",
        "\\end{document}",
        "after"
      ].join("\n")
    )
    expect(document).toMatchObject({
      title: "On things",
      author: "J. Doe",
      shown: [
        "heading 1: On things",
        "paragraph: me",
        "heading 1: Abstract",
        "paragraph: Short.",
        "heading 1: One",
        "paragraph: Text here.",
        "heading 2: Two",
        "list: 1. a\n  - b\n2. c",
        "code: x \\y",
        "table: a | 50%\nb | 2",
        "paragraph: Both",
        "code: E = mc^2"
      ]
    })
  })

  it.each([
    ["\\textbf{bold \\textit{in}} {\\small x}~y", "bold in x y"],
    ["Gr\\\"u\\ss{}e caf\\'{e} \\c{c}a \\v{s} na\\\"{\\i}ve", "Grüße café ça š naïve"],
    ["``q'' --- 1--2 50\\% \\& \\$5", "\"q\" — 1–2 50% & $5"],
    ["$a_1 \\le b$ and \\(c\\)", "a_1 \\le b and c"],
    ["see~\\cite[p.~1]{a,b} \\ref{x}\\footnote{A \\emph{note}}.", "see [a,b] (A note)."],
    ["\\href{http://x}{here} \\url{http://y} \\verb|a_{b}|", "here http://y a_{b}"],
    ["\\unknown{kept} \\newcommand{\\x}[1]{gone}", "kept"]
  ])("reduces %s", async (source, text) => {
    expect((await parsed("a.tex", `\\begin{document}\n${source}\n\\end{document}`)).text).toBe(text)
  })
})

describe("hostile text takes linear time", () => {
  const n = 20_000
  it.each([
    ["rst", "`a <".repeat(n)],
    ["rst", "**a".repeat(n)],
    ["tex", "\\begin{verbatim}%".repeat(n)],
    ["tex", "\\verb|%".repeat(n)],
    ["rst", ".. note:: x\n".repeat(n)],
    ["rst", Array.from({ length: 200 }, (_, i) => `${" ".repeat(i * 3)}.. note:: x\n`).join("\n")],
    ["adoc", "*a ".repeat(n)],
    ["adoc", "{a}".repeat(n)],
    ["adoc", "link:a[".repeat(n)],
    ["adoc", `|===\n${"|a".repeat(n)}`],
    ["org", "*a ".repeat(n)],
    ["org", "[[a][".repeat(n)],
    ["org", "#+begin_src\n".repeat(n)],
    ["org", "#+begin_quote\n".repeat(n)],
    ["tex", "{".repeat(n)],
    ["tex", "$".repeat(n)],
    ["tex", "\\footnote{".repeat(n)],
    ["tex", "\\begin{itemize}".repeat(n)],
    ["tex", "\\begin{verbatim}".repeat(n)]
  ])("%s %#", async (extension, source) => {
    expect(await timeOf(`a.${extension}`, `text\n\n${source}\n\ntext`)).toBeLessThan(3_000)
  })
})
