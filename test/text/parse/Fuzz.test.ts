import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { defaultChunking } from "../../../src/domain/Chunking.ts"
import { TextPool } from "../../../src/text/TextPool.ts"

const runs = Number(process.env["SLUICE_FUZZ_RUNS"] ?? 30)

/** Pieces of each format's own grammar, whole and broken. A document is a hundred of them in any order. */
const grammars: Readonly<Record<string, ReadonlyArray<string>>> = {
  "a.md": [
    ">", "> ", ">     ", "    ", "\t", "- ", "* ", "+ ", "1. ", "10) ", "# ", "###### ", "===", "---", "***", "```", "~~~~", "```js",
    "|", "|-|", "| a | b |", "|:-:|", "`", "``", "*", "**", "_", "~~", "[", "]", "(", ")", "](", "![", "[^1]", "[^1]: ", "[a]: b", "<",
    "<b>", "<!--", "-->", "<div>", "</div>", "<pre>", "<?", "&amp;", "&#x1F600;", "\\", ":::", "!!! note", "$ make", "http://a.b", "<a@b.c>"
  ],
  "a.rst": [
    "====", "----", "~~~~", "..", ".. note::", ".. code-block:: py", "::", "    ", "   ", "- ", "* ", "1. ", "#. ", "(a) ", "`", "``", "**", "*",
    "|", "_", "__", ".. _a:", ".. [1]", "[1]_", ":ref:`", "`a <b>`_", "+---+", "| a |", "+===+", "=== ===", ">>> ", "- a", ".. |x| image::", "\t"
  ],
  "a.adoc": [
    "= ", "== ", "====", "----", "....", "|===", "|a", "a|", "* ", "** ", ". ", ".. ", "a:: ", "NOTE: ", "[source]", "[[id]]", "<<a>>", "link:a[", "]",
    "image::", "include::", "ifdef::a[]", "endif::[]", "+", "`", "*", "_", "#", "++++", "////", "--", "****", "____", "{a}", ":a: b", "\\", "'''"
  ],
  "a.tex": [
    "\\documentclass{a}", "\\begin{document}", "\\end{document}", "\\begin{tabular}{ll}", "\\end{tabular}", "\\begin{verbatim}", "\\end{verbatim}",
    "\\section{", "\\item ", "\\begin{itemize}", "\\end{itemize}", "\\begin{", "\\end{", "{", "}", "$", "$$", "\\[", "\\]", "\\(", "%", "&", "\\\\", "~", "\\",
    "\\def\\a{", "\\newcommand{\\a}[1]{#1}", "\\a", "\\input{a}", "\\textbf{", "\\verb|", "\\'e", "^", "_", "[", "]", "\\cite{a}", "\\footnote{"
  ],
  "a.org": [
    "* ", "** ", "#+TITLE: ", "#+begin_src", "#+end_src", "#+begin_quote", "#+end_quote", ":PROPERTIES:", ":END:", "- ", "+ ", "1. ", "|", "|-", "| a | b",
    "[[", "]]", "[[a][b]]", "=", "~", "*", "/", "_", "#", "# ", "[fn:1]", "<2026-01-01>", ": ", "    ", "TODO ", "::"
  ],
  "a.rtf": [
    "{\\rtf1 ", "{", "}", "\\par ", "\\pard", "\\b ", "\\*", "{\\*\\cs1 ", "\\u8364?", "\\'e9", "\\bin5 ", "\\trowd", "\\cell ", "\\row", "\\intbl", "{\\fonttbl", "{\\f0 A;}",
    "{\\stylesheet", "{\\field{\\*\\fldinst A}", "{\\fldrslt ", "{\\footnote ", "{\\pict ", "\\uc0", "\\ansicpg1251", "\\'", "\\~", "\\-", "\\\\", "\\{", "\\lang1033 ", "\\s1 ", "{\\info{\\title "
  ],
  "a.html": [
    "<p>", "</p>", "<table>", "<tr>", "<td colspan=9999999>", "</table>", "<ul>", "<li>", "<ol start=9>", "</ul>", "<pre>", "</pre>", "<script>", "</script>", "<!--", "-->",
    "<h1>", "</h1>", "<a href='", "'>", "<b", ">", "</", "&amp", "&#0;", "<svg>", "<nav>", "<div hidden>", "<![CDATA[", "]]>", "<style>", "<textarea>", "<title>", "<br/>", "<td>"
  ],
  "a.xml": ["<?xml version='1.0'?>", "<a>", "</a>", "<b c='d'>", "</b>", "<!--", "-->", "<![CDATA[", "]]>", "&amp;", "&x;", "<!DOCTYPE a [", "<!ENTITY x 'y'>", "]>", "<", ">", "'", "\"", "<a/>", "<?p q?>"],
  "a.csv": [",", ";", "\t", "\"", "\"\"", "\n", "a", "1,2,3", "\"a\nb\"", "|", "\"a\",", "'"],
  "a.json": ["{", "}", "[", "]", ",", ":", "\"a\"", "\"", "1", "true", "null", "\\", "\\u0041", "//", "/*", "*/", "'a'", "a:", "-1e9", "NaN"],
  "a.ipynb": ["{\"nbformat\":4,\"cells\":[", "{\"cell_type\":\"markdown\",\"source\":[\"> ", "\"]}", "]", "}", ",", "{\"cell_type\":\"code\",\"source\":\"a\"}", "\"outputs\":[]"],
  "a.eml": [
    "From: a@b.c", "To: ", "Subject: =?utf-8?B?", "?=", "Content-Type: multipart/mixed; boundary=x", "Content-Type: text/html; charset=gb2312", "Content-Transfer-Encoding: base64",
    "Content-Transfer-Encoding: quoted-printable", "--x", "--x--", "\n\n", "=3D", "=", "YWJj", "Content-Disposition: attachment; filename=a", "<p>", "begin 644 a", "> "
  ],
  "a.mbox": ["From a@b.c Thu Jan  1 00:00:00 1970", "From: a@b.c", "Subject: b", "\n\n", ">From ", "From ", "Date: ", "Content-Type: multipart/mixed; boundary=x", "--x"],
  "a.vtt": ["WEBVTT", "00:00.000 --> 00:01.000", "00:00:01,000 --> 00:00:02,000", "NOTE", "STYLE", "<v A>", "<c.b>", "</c>", "1", "\n\n", "-->", "<00:00:00.500>", "&lt;"],
  "a.srt": ["1", "2", "00:00:01,000 --> 00:00:02,000", "-->", "<i>", "{\\an8}", "\n\n", "text"],
  "a.txt": ["a", " ", "\n", "\f", "\t", "\r", "-", "1.", "\u2028", "\ud83d", "=", "\u0301", "\u200d", "🏳️‍🌈"],
  "a.py": ["def a():", "    ", "\"\"\"", "#", "\\", "class B:", "\n\n", "'''", "@", "return"]
}

/** Deep nesting and long runs, which is where readers become quadratic or overflow the stack. */
const stretched = (piece: string): ReadonlyArray<string> => [piece.repeat(2_000), `${piece} a\n`.repeat(1_000)]

const documents = (pieces: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...fc.sample(
    fc.array(fc.tuple(fc.constantFrom(...pieces), fc.constantFrom("", "", " ", "\n", "\n\n", "word", "\n    ")), { minLength: 1, maxLength: 100 })
      .map((parts) => parts.flat().join("")),
    { numRuns: runs, seed: 12 }
  ),
  ...pieces.flatMap(stretched)
]

layer(TextPool.layer({ size: 1, limits: { timeMs: 4_000 } }))("any text of a format's own pieces is read in time, or refused by name", (it) => {
  it.effect.each(Object.entries(grammars))("%s", ([name, pieces]) =>
    Effect.gen(function*() {
      const { prepare } = yield* TextPool
      const sources = documents(pieces)
      const bad = yield* Effect.forEach(
        sources,
        (source) =>
          prepare({ content: Buffer.from(source), name, chunking: defaultChunking }).pipe(
            Effect.as(undefined),
            Effect.catch((error) =>
              Effect.succeed(
                error._tag === "DocumentError" && ["empty", "corrupt", "limit", "unsupported"].includes(error.problem)
                  ? undefined
                  : `${error.message}: ${JSON.stringify(source.slice(0, 300))}`
              )
            )
          ),
        { concurrency: 100 }
      )
      expect(bad.filter((problem) => problem !== undefined)).toEqual([])
    }), 120_000)
})
