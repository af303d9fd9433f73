import { describe, expect, it } from "vitest"
import { mailAttachments } from "../../../src/text/parse/Email.ts"
import { parsed, refusal } from "./support/Parsed.ts"

const mail = (...lines: ReadonlyArray<string>): string => lines.join("\r\n")

describe("a message", () => {
  it("has its whole subject where that is folded without a blank", async () => {
    const folded = mail(
      "From: a@b.example",
      "Subject: =?utf-8?Q?Offer_f=C3=BCr?=",
      "=?utf-8?B?IE3DvGxsZXI=?=",
      "To: c@d.example",
      "",
      "=?text?"
    )
    expect(await parsed("a.eml", folded)).toMatchObject({ title: "Offer für Müller", text: expect.stringContaining("To: c@d.example") })
  })

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

const invitation = mail(
  "BEGIN:VCALENDAR",
  "X-WR-CALNAME:Ferries",
  "BEGIN:VTIMEZONE",
  "TZID:Europe/Berlin",
  "BEGIN:STANDARD",
  "DTSTART:19701025T030000",
  "END:STANDARD",
  "END:VTIMEZONE",
  "BEGIN:VEVENT",
  "SUMMARY:Meeting of the ferry",
  "  men\\, in May",
  "DTSTART;TZID=Europe/Berlin:20240502T100000",
  "DTEND;TZID=\"Europe/Berlin\":20240502T113000",
  "RRULE:FREQ=YEARLY",
  "LOCATION:Boat house\\; upper floor",
  "ORGANIZER;CN=\"Lee, Ann\":mailto:a@b.c",
  "ATTENDEE;ROLE=REQ-PARTICIPANT:mailto:d@e.f",
  "ATTENDEE;CN=Bo;RSVP=TRUE:MAILTO:bo@e.f",
  "DESCRIPTION:Bring oars.\\n\\nSee the list: http://x.y/z",
  "BEGIN:VALARM",
  "DESCRIPTION:Never shown",
  "END:VALARM",
  "END:VEVENT",
  "BEGIN:VTODO",
  "SUMMARY:Paint the boat",
  "DUE;VALUE=DATE:20240601",
  "END:VTODO",
  "BEGIN:VEVENT",
  "SUMMARY:Holiday",
  "DTSTART;VALUE=DATE:20240509",
  "DTEND;VALUE=DATE:20240510",
  "END:VEVENT",
  "END:VCALENDAR"
)

describe("a calendar", () => {
  it("is each entry with its time, place, people and description", async () => {
    for (const name of ["a.ics", "a.txt"]) {
      expect(await parsed(name, invitation)).toMatchObject({
        format: "ics",
        title: "Ferries",
        shown: [
          "heading 1: Meeting of the ferry men, in May",
          "paragraph: When: 2024-05-02 10:00 (Europe/Berlin) to 2024-05-02 11:30 (Europe/Berlin)\nRepeats: FREQ=YEARLY\n" +
          "Where: Boat house; upper floor\nOrganizer: Lee, Ann <a@b.c>\nAttendees: d@e.f, Bo <bo@e.f>",
          "paragraph: Bring oars.",
          "paragraph: See the list: http://x.y/z",
          "heading 1: Paint the boat",
          "paragraph: Due: 2024-06-01",
          "heading 1: Holiday",
          "paragraph: When: 2024-05-09"
        ]
      })
    }
    // Cut off in an entry, it is read to there.
    expect((await parsed("a.ics", invitation.slice(0, invitation.indexOf("DTSTART;TZID")))).shown).toEqual([
      "heading 1: Meeting of the ferry men, in May"
    ])
  })

  it("in a message is part of its text, and no attachment where it has no name", async () => {
    const file = mail(
      "From: a@b.c",
      "Subject: Invitation",
      "Content-Type: multipart/alternative; boundary=x",
      "",
      "--x",
      "Content-Type: text/plain",
      "",
      "Please come.",
      "--x",
      "Content-Type: text/calendar; charset=utf-8; method=REQUEST",
      "",
      invitation,
      "--x--"
    )
    expect((await parsed("a.eml", file)).shown.slice(2, 5)).toEqual([
      "paragraph: Please come.",
      "heading 2: Meeting of the ferry men, in May",
      expect.stringContaining("Where: Boat house")
    ])
    expect(await mailAttachments(Buffer.from(file))).toEqual([])
  })
})

describe("what Outlook packs for itself", () => {
  const u32 = (value: number): Buffer => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(value)
    return bytes
  }
  const attribute = (level: number, id: number, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from([level]), u32(id), u32(content.length), content, Buffer.alloc(2)])
  const filled = (content: Buffer): Buffer => Buffer.concat([content, Buffer.alloc(-content.length & 3)])
  /** A value that is a text or bytes. */
  const property = (type: number, key: number, content: Buffer): Buffer =>
    Buffer.concat([u32(key << 16 | type), u32(1), u32(content.length), filled(content)])
  const named = Buffer.concat([
    Buffer.from([3, 0, 1, 0x80]),
    Buffer.alloc(16),
    u32(1),
    u32(6),
    filled(Buffer.from("ab\0", "utf16le")),
    u32(7)
  ])
  const properties = (...list: ReadonlyArray<Buffer>): Buffer => Buffer.concat([u32(list.length), ...list])
  const packed = (body: boolean): Buffer =>
    Buffer.concat([
      Buffer.from([0x78, 0x9f, 0x3e, 0x22, 1, 0]),
      attribute(1, 0x00069007, Buffer.concat([u32(1251), u32(0)])),
      attribute(1, 0x00018004, Buffer.from("cff0e8eee1e5f0fb00", "hex")),
      ...(body
        ? [attribute(
          1,
          0x00069003,
          properties(Buffer.concat([u32(0x00170003), u32(1)]), named, property(0x102, 0x1013, Buffer.from("<p>The <b>packed</b> body</p>")))
        )]
        : []),
      attribute(2, 0x00069002, Buffer.alloc(14)),
      attribute(2, 0x00018010, Buffer.from("LISTOF~1.CSV\0")),
      attribute(2, 0x0006800f, Buffer.from("boat,owner\nTern,Ann\n")),
      attribute(2, 0x00069005, properties(property(0x1f, 0x3707, Buffer.from("list of boats.csv\0", "utf16le"))))
    ])
  const message = (text: string, content: Buffer): string =>
    mail(
      "From: a@b.c",
      "Subject: Boats",
      "Content-Type: multipart/mixed; boundary=x",
      "",
      "--x",
      "Content-Type: text/plain",
      "",
      text,
      "--x",
      "Content-Type: application/ms-tnef; name=winmail.dat",
      "Content-Disposition: attachment; filename=winmail.dat",
      "Content-Transfer-Encoding: base64",
      "",
      content.toString("base64"),
      "--x--"
    )

  it("is unpacked: its files are attachments of the message, its text stands where that has none", async () => {
    const files = ["heading 2: list of boats.csv", "table: boat | owner\nTern | Ann"]
    expect((await parsed("a.eml", message("See the list.", packed(true)))).shown.slice(2)).toEqual(["paragraph: See the list.", ...files])
    expect((await parsed("a.eml", message("", packed(true)))).shown.slice(2)).toEqual(["paragraph: The packed body", ...files])
    expect((await mailAttachments(Buffer.from(message("x", packed(false))))).map(({ name }) => name)).toEqual(["list of boats.csv"])
    expect((await parsed("winmail.dat", packed(true))).shown).toEqual(["heading 1: Приоберы", "paragraph: The packed body", ...files])
  })

  it("has its texts in the code page it names", async () => {
    const file = Buffer.concat([
      Buffer.from([0x78, 0x9f, 0x3e, 0x22, 1, 0]),
      attribute(1, 0x00069007, Buffer.concat([u32(51949), u32(0)])),
      attribute(1, 0x00018004, Buffer.from("bcadbfef00", "hex"))
    ])
    expect((await parsed("winmail.dat", file)).shown).toEqual(["heading 1: 서울"])
  })

  it("and is cut off is named", async () => {
    expect((await parsed("a.eml", message("See the list.", packed(true).subarray(0, -20)))).remarks).toEqual([
      { kind: "attachment", text: "winmail.dat (the data that Outlook packed is cut off)" }
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
