import { assert, describe, it } from "@effect/vitest"
import type { Properties } from "../../../src/domain/Properties.ts"
import { parse } from "../../../src/text/parse/Parse.ts"
import { addPdfProperties } from "../../../src/text/parse/pdf/Facts.ts"
import { PropertyList } from "../../../src/text/parse/PropertyList.ts"
import { defaultLimits } from "../../../src/text/Prepared.ts"
import { para, relsXml, wordFile } from "./support/Office.ts"
import { writePdf } from "./support/PdfWriter.ts"
import { zipOf } from "./support/ZipWriter.ts"

const read = async (name: string, content: string | Uint8Array) => {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content
  const { properties, remarks } = await parse({ bytes, name, limits: defaultLimits, properties: true })
  return { properties, remarks }
}

const said = async (name: string, text: string | Uint8Array): Promise<Properties | undefined> => (await read(name, text)).properties

describe("what a document says of itself", () => {
  it("is its front matter in YAML, as it is written", async () => {
    const text = `---
title: "On call: who"
Year: 2025
version: 1.10
draft: no
empty:
due: 2026-03-01 08:30:00
tags: [pager, "night, shift", 7]
aliases:
  - one
  - two
owner: &who
  name: Ann
  team: ops
by: *who
summary: >
  folded
  text
---
# Text
`
    assert.deepStrictEqual(await said("a.md", text), {
      title: "On call: who",
      year: "2025",
      version: "1.10",
      draft: "no",
      due: "2026-03-01 08:30:00",
      tags: ["pager", "night, shift", "7"],
      aliases: ["one", "two"],
      "owner.name": "Ann",
      "owner.team": "ops",
      "by.name": "Ann",
      "by.team": "ops",
      summary: "folded text"
    })
  })

  it("is its front matter in TOML", async () => {
    const text =
      "+++\ntitle = \"Leave\"\ndate = 2026-03-01\nat = 2026-03-01T08:30:00Z\ntags = [\"a\", \"b\"]\n[extra]\nteam = \"hr\"\n+++\nText\n"
    assert.deepStrictEqual(await said("a.md", text), {
      title: "Leave",
      date: "2026-03-01",
      at: "2026-03-01T08:30:00.000Z",
      tags: ["a", "b"],
      "extra.team": "hr"
    })
  })

  it("is what meta elements say, a list where one is there twice", async () => {
    const text = `<html><head><title>T</title><meta charset="utf-8"><meta name="DC.Status" content=" draft ">
<meta property="article:tag" content="a"><meta property="article:tag" content="b"><meta name="empty" content=""></head><body><p>Text</p></body></html>`
    assert.deepStrictEqual(await said("a.html", text), { "dc.status": "draft", "article:tag": ["a", "b"] })
  })

  it("is what an Office document's properties say, one's own by their names", async () => {
    const core = `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
      xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"><dc:subject>On call</dc:subject>
      <cp:keywords>pager, night</cp:keywords><cp:contentStatus>Final</cp:contentStatus>
      <dcterms:created>2026-03-01T08:30:00Z</dcterms:created></cp:coreProperties>`
    const app = `<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"
      xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes"><Company>Acme</Company>
      <TitlesOfParts><vt:vector><vt:lpstr>x</vt:lpstr></vt:vector></TitlesOfParts></Properties>`
    const custom = `<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"
      xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes">
      <property fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="2" name="Team"><vt:lpwstr>ops</vt:lpwstr></property>
      <property fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="3" name="Year"><vt:i4>2025</vt:i4></property></Properties>`
    const rels = relsXml([
      ["r1", "officeDocument", "word/document.xml"],
      ["r2", "extended-properties", "docProps/app.xml"],
      ["r3", "custom-properties", "docProps/custom.xml"]
    ])
    const file = wordFile(para("Text"), [], {
      "_rels/.rels": rels,
      "docProps/core.xml": core,
      "docProps/app.xml": app,
      "docProps/custom.xml": custom
    })
    assert.deepStrictEqual(await said("a.docx", file), {
      subject: "On call",
      keywords: "pager, night",
      contentstatus: "Final",
      created: "2026-03-01T08:30:00Z",
      company: "Acme",
      team: "ops",
      year: "2025"
    })
  })

  it("is what an OpenDocument file's meta says", async () => {
    const ns = ["office", "text", "meta"].map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`).join(" ")
    const meta = `<office:document-meta ${ns} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta><dc:subject>On call</dc:subject>
      <meta:keyword>pager</meta:keyword><meta:keyword>night</meta:keyword><meta:creation-date>2026-03-01T08:30:00</meta:creation-date>
      <meta:user-defined meta:name="Team">ops</meta:user-defined></office:meta></office:document-meta>`
    const file = zipOf({
      mimetype: "application/vnd.oasis.opendocument.text",
      "content.xml":
        `<office:document-content ${ns}><office:body><office:text><text:p>Text</text:p></office:text></office:body></office:document-content>`,
      "meta.xml": meta
    })
    assert.deepStrictEqual(await said("a.odt", file), {
      subject: "On call",
      keyword: ["pager", "night"],
      "creation-date": "2026-03-01T08:30:00",
      team: "ops"
    })
  })

  it("is a mail's headers, decoded, and its date", async () => {
    const mail = "From: Ann <ann@x.com>\r\nTo: bob@x.com\r\nSubject: =?utf-8?q?B=C3=BCro?=\r\nDate: Sun, 1 Mar 2026 08:30:00 +0100\r\n" +
      "X-Team: =?utf-8?q?B=C3=BCro?=\r\n\r\nText\r\n"
    assert.deepStrictEqual(await said("a.eml", mail), {
      from: "Ann <ann@x.com>",
      to: "bob@x.com",
      subject: "Büro",
      date: "2026-03-01T07:30:00.000Z",
      "x-team": "Büro"
    })
  })

  it("is what a PDF's XMP says, and its information dictionary besides", async () => {
    assert.include(await said("a.pdf", writePdf([["# Heading", "Text"]], { title: "Pager", author: "Ann" })), {
      title: "Pager",
      author: "Ann"
    })
    const info =
      "5 0 obj\n<< /Title (old) /CreationDate (D:20260301083000+01'00') /Team (ops \\(night\\)) /Year (2025) >>\nendobj\ntrailer << /Info 5 0 R >>"
    const xmp = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description rdf:about="" xmlns:dc="d" xmp:CreatorTool="Word &amp; co">
      <dc:title><rdf:Alt><rdf:li xml:lang="x-default">New</rdf:li><rdf:li xml:lang="de">Neu</rdf:li></rdf:Alt></dc:title>
      <dc:subject><rdf:Bag><rdf:li>pager</rdf:li><rdf:li>night</rdf:li></rdf:Bag></dc:subject><pdf:Keywords>a, b</pdf:Keywords>
      </rdf:Description></rdf:RDF></x:xmpmeta>`
    const properties = new PropertyList()
    addPdfProperties(Buffer.from(info), xmp, properties)
    assert.deepStrictEqual(properties.properties, {
      creatortool: "Word & co",
      title: "New",
      subject: ["pager", "night"],
      keywords: "a, b",
      creationdate: "2026-03-01T08:30:00+01:00",
      team: "ops (night)",
      year: "2025"
    })
  })

  it("is told to be broken where it cannot be read", async () => {
    const yaml = await read("a.md", "---\ntitle: fine\nbad: [a, b\n---\n# Text\n")
    assert.deepStrictEqual(yaml.remarks, [{ kind: "properties", text: "its front matter is not YAML" }])
    // What is made of the rest of it would be a guess.
    assert.notProperty(yaml.properties ?? {}, "bad")
    const toml = await read("a.md", "+++\ntitle = \"x\"\nbad = [\n+++\n# Text\n")
    assert.deepStrictEqual(toml.remarks, [{ kind: "properties", text: "its front matter is not TOML" }])
  })

  it("is bounded, whatever aliases stand for", async () => {
    const levels = Array.from({ length: 12 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array.from({ length: 9 }, () => `*l${i}`).join(", ")}]`)
    const bomb = await read("a.md", `---\ntitle: x\nl0: &l0 [x]\n${levels.join("\n")}\n---\n# Text\n`)
    assert.isBelow(JSON.stringify(bomb.properties).length, 100_000)
    const maps = Array.from(
      { length: 12 },
      (_, i) => `m${i + 1}: &m${i + 1} {${Array.from({ length: 9 }, (_, j) => `k${j}: *m${i}`).join(", ")}}`
    )
    const nested = await read("a.md", `---\ntitle: x\nm0: &m0 {x: y}\n${maps.join("\n")}\n---\n# Text\n`)
    assert.isBelow(JSON.stringify(nested.properties).length, 100_000)
    assert.isNotEmpty(nested.remarks ?? [])
  })

  it("is not looked for where nobody asks", async () => {
    const document = await parse({ bytes: new TextEncoder().encode("---\ntitle: x\n---\n# Text\n"), name: "a.md", limits: defaultLimits })
    assert.isUndefined(document.properties)
  })
})
