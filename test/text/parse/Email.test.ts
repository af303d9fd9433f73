import { describe, expect, it } from "vitest"
import { parsed, refusal } from "./support/Parsed.ts"

const mail = (...lines: ReadonlyArray<string>): string => lines.join("\r\n")

describe("a message", () => {
  it("has its subject, people, date and decoded text", async () => {
    const document = await parsed(
      "a.eml",
      mail(
        "From: =?utf-8?q?J=C3=B6rg?= <j@a.b>",
        "To: Team: c@d.e, Al <f@g.h>;",
        "Cc: i@j.k",
        "Date: Fri, 16 Dec 2022 17:04:16 -0500",
        "Subject: =?iso-8859-1?q?Gr=FC=DFe?=",
        "Content-Type: text/plain; charset=iso-8859-1",
        "Content-Transfer-Encoding: quoted-printable",
        "",
        "Sch=F6n.",
        "",
        "-- ",
        "J"
      )
    )
    expect(document).toMatchObject({
      title: "Grüße",
      author: "Jörg",
      shown: [
        "heading 1: Grüße",
        "paragraph: From: Jörg <j@a.b>\nTo: Team: c@d.e, Al <f@g.h>\nCc: i@j.k\nDate: Fri, 16 Dec 2022 17:04:16 -0500",
        "paragraph: Schön.",
        "paragraph: --\nJ"
      ]
    })
  })

  it("is read in charsets of seven bits that decoders do not have", async () => {
    const of = (charset: string, subject: string, ...text: ReadonlyArray<string>) =>
      parsed("a.eml", mail("From: a@b.c", `Subject: ${subject}`, `Content-Type: text/plain; charset=${charset}`, "", ...text))
    // The examples of RFC 2152 and RFC 1557.
    const utf7 = await of("UTF-7", "=?utf-7?Q?A+ImIDkQ.?=", "Hi Mom +Jjo-! 1 +- 1 is 2.", "+ZeVnLIqe- a +b c +AAAAA")
    expect([utf7.title, ...utf7.shown.slice(2)]).toEqual(["A≢Α.", "paragraph: Hi Mom ☺! 1 + 1 is 2.\n日本語 a +b c +AAAAA"])
    const korean = await of("iso-2022-kr", "=?iso-2022-kr?B?GyQpQw4+SDNnDw==?=", "\u001b$)C\u000e>H3g\u000f, ok?", "\u000e>H3g\u000f")
    expect([korean.title, ...korean.shown.slice(2)]).toEqual(["안녕", "paragraph: 안녕, ok?\n안녕"])
    expect((await of("us-ascii", "x", "a +Jjo- b")).shown.at(-1)).toBe("paragraph: a +Jjo- b")
  })

  it("sent in parts says so, and the first part is read as the message it begins", async () => {
    const document = await parsed(
      "a.eml",
      mail(
        "From: a@b.c",
        "MIME-Version: 1.0",
        "Content-Type: message/partial; id=\"x@y\"; number=1; total=3",
        "",
        "From: c@d.e",
        "Subject: Long",
        "",
        "The inner text"
      )
    )
    expect(document.shown).toEqual(["paragraph: From: a@b.c", "heading 2: Long", "paragraph: From: c@d.e", "paragraph: The inner text"])
    expect(document.remarks).toEqual([{ kind: "cut", text: "part 1 of 3 of a message: the rest is in other files" }])
  })

  const alternative = (text: string, html: string): string =>
    mail(
      "From: a@b.c",
      "MIME-Version: 1.0",
      "Content-Type: multipart/alternative; boundary=x",
      "",
      "--x",
      "Content-Type: text/plain",
      "",
      text,
      "--x",
      "Content-Type: text/html",
      "",
      html,
      "--x--"
    )

  it("is read as plain text, unless that is a stub", async () => {
    const html = `<p>${"The whole message, in full. ".repeat(10)}</p><ul><li>point</li></ul>`
    expect((await parsed("a.eml", alternative("The whole message, in full, as text. ".repeat(10), html))).shown.at(-1)).toMatch(
      /^paragraph: .*as text\.$/
    )
    expect((await parsed("a.eml", alternative("Your program cannot show this.", html))).shown.at(-1)).toBe("list: - point")
    const other = "Here stands what programs without HTML show instead of the terms."
    expect((await parsed("a.eml", alternative(other, "<p>Delivery takes six weeks from the day of order.</p>"))).shown.at(-1)).toBe(
      "paragraph: Delivery takes six weeks from the day of order."
    )
    const long = "You have a survey waiting about ferries, their owners and how often each of them runs."
    expect((await parsed("a.eml", alternative(long, "<p>hello world</p>"))).shown.slice(-2)).toEqual([
      `paragraph: ${long}`,
      "paragraph: hello world"
    ])
  })

  it("has attached messages and files beneath it; those that cannot be read are named", async () => {
    const { remarks, shown } = await parsed(
      "a.eml",
      mail(
        "From: a@b.c",
        "Subject: Outer",
        "Content-Type: multipart/mixed; boundary=x",
        "",
        "--x",
        "Content-Type: text/plain",
        "",
        "See below.",
        "--x",
        "Content-Type: message/rfc822",
        "",
        "From: d@e.f",
        "Subject: Inner",
        "",
        "Deep text",
        "--x",
        "Content-Type: text/csv; name=\"list.csv\"",
        "Content-Disposition: attachment; filename=\"list.csv\"",
        "",
        "a,b",
        "--x",
        "Content-Type: application/pdf; name=\"r.pdf\"",
        "Content-Disposition: attachment; filename=\"report.pdf\"",
        "Content-Transfer-Encoding: base64",
        "",
        "JVBERi0=",
        "--x--"
      )
    )
    expect(shown).toEqual([
      "heading 1: Outer",
      "paragraph: From: a@b.c",
      "paragraph: See below.",
      "heading 2: Inner",
      "paragraph: From: d@e.f",
      "paragraph: Deep text",
      "heading 2: list.csv",
      "table: a | b",
      "paragraph: Attachment: report.pdf"
    ])
    expect(remarks).toEqual([{ kind: "attachment", text: "report.pdf (the PDF is damaged)" }])
  })

  it("that is cut off says so", async () => {
    const whole = alternative("The whole message, in full, as text.", "<p>The whole message</p>")
    expect((await parsed("a.eml", whole)).remarks).toBeUndefined()
    expect((await parsed("a.eml", whole.slice(0, -6))).remarks).toEqual([{
      kind: "cut",
      text: "the message is cut off: read to where it ends"
    }])
  })

  it("may be in UTF-16, encrypted, or no mail at all", async () => {
    const plain = mail("From: a@b.c", "Subject: Wide", "", "Text")
    expect((await parsed("a.eml", Buffer.from(`\ufeff${plain}`, "utf16le"))).title).toBe("Wide")
    expect(await refusal("a.eml", mail("From: a@b.c", "Content-Type: multipart/encrypted; boundary=x", "", "--x", "", "y", "--x--")))
      .toMatchObject({ problem: "encrypted" })
    expect((await parsed("a.eml", "Just a note\n\nwithout a header")).shown).toEqual([
      "paragraph: Just a note",
      "paragraph: without a header"
    ])
  })
})

describe("a mailbox", () => {
  it("is one message after the other", async () => {
    const { shown } = await parsed(
      "a.mbox",
      [
        "From a@b Mon Jun 01 10:00:00 2009",
        "From: a@b.c",
        "Subject: One",
        "",
        "First",
        ">From here",
        "",
        "From d@e Mon Jun 01 11:00:00 2009",
        "From: d@e.f",
        "Subject: Two",
        "",
        "Second",
        ""
      ].join("\n")
    )
    expect(shown).toEqual([
      "heading 1: One",
      "paragraph: From: a@b.c",
      "paragraph: First\nFrom here",
      "heading 1: Two",
      "paragraph: From: d@e.f",
      "paragraph: Second"
    ])
  })
})
