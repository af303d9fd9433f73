import { describe, expect, it } from "vitest"
import { parse } from "../../../src/text/parse/Parse.ts"
import { fileSpans } from "../../../src/text/parse/source/FileSpans.ts"
import { type ByteSpan, defaultLimits } from "../../../src/text/Prepared.ts"

/** The bytes of a file that the `nth` place of a quote in its parsed text comes from. */
const bytesOf = async (name: string, bytes: Uint8Array, quote: string, nth = 0): Promise<Buffer | undefined> => {
  const { span } = await spanOf(name, bytes, quote, nth)
  return span === undefined ? undefined : Buffer.from(bytes.subarray(span.byteStart, span.byteEnd))
}

const spanOf = async (name: string, bytes: Uint8Array, quote: string, nth = 0): Promise<{ readonly span: ByteSpan | undefined }> => {
  const input = { bytes, name, limits: defaultLimits }
  const { text } = await parse(input)
  let at = text.indexOf(quote)
  for (let more = nth; more > 0; more--) at = text.indexOf(quote, at + 1)
  expect(at, `${JSON.stringify(quote)} in ${JSON.stringify(text)}`).toBeGreaterThanOrEqual(0)
  const byteStart = Buffer.byteLength(text.slice(0, at))
  const [span] = await fileSpans(input, [{ quote, byteStart, byteEnd: byteStart + Buffer.byteLength(quote) }])
  return { span }
}

const markdown = `---
title: Über die Pumpe
---

# Über die Pumpe

Der *größte* Druck ist **16 bar** – siehe [Tafel](tafel.md "Tafel der Drücke").

- Öl prüfen
- \`pumpe --an\` eingeben &amp; warten

1. Erst *das Ventil* öffnen.
2. Dann warten.

| Teil | Maß |
| ---- | --- |
| Rohr | 20 mm |

\`\`\`sh
pumpe --aus
\`\`\`

Der [Druck][t] ist Druck \\* Fläche.

[t]: druck.md

{% alert %}
Nie [ohne *Öl*]({% page "vom öl" %}#x) laufen lassen.
{% endalert %}

!!! warning "Heiß"

    Das *Rohr* wird heiß.

Hub
: Weg des *Kolbens*.

<Schritt title="Dichtung prüfen">
  Mit der *Hand*.
</Schritt>
`

describe("a quote of parsed text, in the bytes of the file", () => {
  const quotes: ReadonlyArray<readonly [quote: string, written: string]> = [
    ["Über die Pumpe", "Über die Pumpe"],
    ["Der größte Druck ist 16 bar – siehe Tafel.", "Der *größte* Druck ist **16 bar** – siehe [Tafel](tafel.md \"Tafel der Drücke\")."],
    ["größte Druck ist 16 bar", "größte* Druck ist **16 bar"],
    ["- Öl prüfen", "- Öl prüfen"],
    ["- pumpe --an eingeben & warten", "- `pumpe --an` eingeben &amp; warten"],
    ["1. Erst das Ventil öffnen.\n2. Dann warten.", "1. Erst *das Ventil* öffnen.\n2. Dann warten."],
    ["Rohr | 20 mm", "Rohr | 20 mm"],
    ["pumpe --aus", "pumpe --aus"],
    ["Der Druck ist Druck * Fläche.", "Der [Druck][t] ist Druck \\* Fläche."],
    ["Nie ohne Öl laufen lassen.", "Nie [ohne *Öl*]({% page \"vom öl\" %}#x) laufen lassen."],
    ["Heiß", "Heiß"],
    ["Das Rohr wird heiß.", "Das *Rohr* wird heiß."],
    ["Hub\nWeg des Kolbens", "Hub\n: Weg des *Kolbens"],
    ["Dichtung prüfen", "Dichtung prüfen"],
    ["Mit der Hand.", "Mit der *Hand*."]
  ]

  it("is found in Markdown through its marks, its front matter and characters of several bytes", async () => {
    for (const [quote, written] of quotes) {
      expect((await bytesOf("a.md", Buffer.from(markdown), quote))?.toString()).toBe(written)
    }
  })

  it("is found behind a byte order mark and with line ends of two bytes", async () => {
    const bytes = Buffer.from(`\ufeff${markdown.replaceAll("\n", "\r\n")}`)
    for (const [quote, written] of quotes) {
      expect((await bytesOf("a.md", bytes, quote))?.toString()).toBe(written.replaceAll("\n", "\r\n"))
    }
  })

  it("is its own place where the same words stand in several", async () => {
    const bytes = Buffer.from("# A\n\nRun *it* now.\n\n# B\n\nRun **it** now.\n\n# C\n\nRun it now.\n")
    expect((await bytesOf("a.md", bytes, "Run it now.", 1))?.toString()).toBe("Run **it** now.")
    expect((await spanOf("a.md", bytes, "Run it now.", 2)).span?.byteStart).toBe(bytes.lastIndexOf("Run"))
  })

  it("is found in HTML through nested tags and entities, past scripts and menus", async () => {
    const page = `<!doctype html><html><head><title>Caf&eacute; rules</title><script>var a = "Open at eight"</script></head><body>
<nav><a href="#x">Open at eight</a></nav><h1>Caf&eacute; rules</h1>
<p>Open at <b>ei<i>gh</i>t</b>&nbsp;&ndash; or <a href="/later?a=1&amp;b=2">later</a>.</p>
<ul><li>Größe &lt; 3&nbsp;m<li>No <em>dogs</em></ul>
<table><tr><th>Day</th><th>Hours</th></tr><tr><td>Mon<td>8&ndash;9</tr></table>
<pre>npm  run\n  open</pre></body></html>`
    const bytes = Buffer.from(page)
    const html: ReadonlyArray<readonly [string, string]> = [
      ["Open at eight – or later.", "Open at <b>ei<i>gh</i>t</b>&nbsp;&ndash; or <a href=\"/later?a=1&amp;b=2\">later</a>."],
      ["- Größe < 3 m", "Größe &lt; 3&nbsp;m"],
      ["Mon | 8–9", "Mon<td>8&ndash;9"],
      ["npm  run\n  open", "npm  run\n  open"],
      ["Café rules", "Caf&eacute; rules"]
    ]
    for (const [quote, written] of html) expect((await bytesOf("a.html", bytes, quote))?.toString()).toBe(written)
  })

  it("is found in plain text of one and of two bytes a character", async () => {
    const text = "Erste Zeile.\r\n\r\nDie größte Höhe ist 3 m.\r\nMehr nicht.\r\n"
    const quote = "Die größte Höhe ist 3 m."
    expect((await bytesOf("a.txt", Buffer.from(text), quote))?.toString()).toBe(quote)
    expect((await bytesOf("a.txt", Buffer.from(text, "latin1"), quote))?.toString("latin1")).toBe(quote)
    expect((await bytesOf("a.txt", Buffer.from(`\ufeff${text}`, "utf16le"), quote))?.toString("utf16le")).toBe(quote)
  })

  it("is nowhere once the file says something else there, nor where bytes are no text", async () => {
    const bytes = Buffer.from("One two three.\n")
    const quote = { quote: "One two three.", byteStart: 0, byteEnd: 14 }
    const spans = (content: string, name: string): ReturnType<typeof fileSpans> =>
      fileSpans({ bytes: Buffer.from(content), name, limits: defaultLimits }, [quote])
    expect(await fileSpans({ bytes, name: "a.txt", limits: defaultLimits }, [quote])).toEqual([{ byteStart: 0, byteEnd: 14 }])
    expect(await spans("One two four.\n", "a.txt")).toEqual([undefined])
    expect(await spans("Zero. One two three.\n", "a.txt")).toEqual([undefined])
    expect(await spans("{\"a\": \"One two three.\"}", "a.json")).toEqual([undefined])
  })

  it("is found in a long page of sentences that differ in a number", async () => {
    const line = "The valve of pump number N is opened by hand &amp; closed by <b>motor</b>.\n\n"
    const lines = Array.from({ length: 3_000 }, (_, at) => line.replace("N", String(at % 50)))
    const bytes = Buffer.from(lines.join(""))
    const { span } = await spanOf("a.md", bytes, "The valve of pump number 7 is opened by hand & closed by motor.", 20)
    const at = lines.slice(0, 20 * 50 + 7).join("").length
    expect(span).toEqual({ byteStart: at, byteEnd: at + lines[7]!.trimEnd().length })
  })

  it("is the row that is quoted, in a table whose rows have the same words again and again, some of them left out", async () => {
    let seed = 7
    const one = (...words: ReadonlyArray<string>): string => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return words[seed % words.length]!
    }
    const rows = Array.from({ length: 300 }, () => [
      one("Pump", "Valve", "Motor"),
      one("north hall", "south hall"),
      one("open", "closed"),
      one("floor 1", "floor 2", "floor 3"),
      one("ok", "worn", "broken")
    ])
    // Those of line numbers are in the file, and not in the text.
    const html = `<h1>Parts</h1><table><tr><th>Part</th><th>Place</th><th>State</th><th>Floor</th><th>Look</th></tr>${
      rows.map((cells) => `<tr class="${one("gutter", "a", "b")}">${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("\n")
    }</table>`
    const input = { bytes: Buffer.from(html), name: "a.html", limits: defaultLimits }
    const { text } = await parse(input)
    let at = 0
    const quotes = text.split("\n").flatMap((quote) => {
      const byteStart = at
      at += quote.length + 1
      return quote.includes(" | ") ? [{ quote, byteStart, byteEnd: byteStart + quote.length }] : []
    })
    const spans = await fileSpans(input, quotes)
    const said = spans.map((span) =>
      span === undefined ? undefined : html.slice(span.byteStart, span.byteEnd).replace(/<[^>]*>/g, " ").replace(/\s+/g, " ").trim()
    )
    expect(quotes.length).toBeGreaterThan(150)
    expect(said.filter((row) => row !== undefined).length).toBe(quotes.length)
    expect(said).toEqual(quotes.map(({ quote }) => quote.replaceAll(" | ", " ")))
  })
})
