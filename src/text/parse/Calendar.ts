import { oneLine } from "./BlockSink.ts"
import { decode, unixLines } from "./Decode.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { htmlBlocks } from "./Html.ts"
import type { Reader } from "./Reader.ts"
import { addParagraphs } from "./Text.ts"

/** Reads a calendar (RFC 5545): each event, task and journal entry with its kind, time, place, people and description. */
export const calendar: Reader = ({ bytes, format, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  const title = addCalendar(decode(bytes), builder, 1)
  return builder.build({ format, title })
}

interface Property {
  readonly name: string
  readonly parameters: ReadonlyMap<string, string>
  readonly value: string
}

/** The properties of an entry that are read besides its name and its description, in this order. */
const labels: ReadonlyArray<readonly [label: string, name: string]> = [
  ["Due", "DUE"],
  ["Repeats", "RRULE"],
  ["Also on", "RDATE"],
  ["Not on", "EXDATE"],
  ["Where", "LOCATION"],
  ["Organizer", "ORGANIZER"],
  ["Attendees", "ATTENDEE"],
  ["Contact", "CONTACT"],
  ["Status", "STATUS"],
  ["Categories", "CATEGORIES"],
  ["Link", "URL"],
  ["Attached", "ATTACH"],
  ["Comment", "COMMENT"]
]

const entries = new Set(["VEVENT", "VTODO", "VJOURNAL"])

/**
 * Adds the entries of a calendar under their names. Returns the calendar's own name, or that of its only entry.
 *
 * @param level level of the headings
 */
export const addCalendar = (source: string, builder: DocumentBuilder, level: number): string | undefined => {
  let name: string | undefined
  const titles: Array<string> = []
  let entry: Array<Property> | undefined
  // Alarms inside an entry repeat its properties.
  let within = 0
  for (const { name: key, parameters, value } of propertiesOf(source)) {
    if (key === "BEGIN") {
      if (entry !== undefined) within++
      else if (entries.has(value.toUpperCase())) entry = []
    } else if (key === "END") {
      if (within > 0) within--
      else if (entry !== undefined) {
        titles.push(addEntry(entry, builder, level))
        entry = undefined
      }
    } else if (entry !== undefined && within === 0) entry.push({ name: key, parameters, value })
    else if (key === "X-WR-CALNAME" || key === "NAME") name ??= oneLine(unescaped(value)) || undefined
  }
  // A calendar that is cut off is read to its end.
  if (entry !== undefined) titles.push(addEntry(entry, builder, level))
  return name ?? (titles.length === 1 ? titles[0] || undefined : undefined)
}

const addEntry = (entry: ReadonlyArray<Property>, builder: DocumentBuilder, level: number): string => {
  const all = (name: string): ReadonlyArray<Property> => entry.filter((property) => property.name === name)
  const text = (name: string): string => oneLine(all(name).map(({ value }) => unescaped(value)).join(" "))
  const title = text("SUMMARY")
  builder.add("heading", title, level)
  const lines = labels.flatMap(([label, name]) => {
    const values = all(name).flatMap(shown).filter((value) => value !== "")
    return values.length === 0 ? [] : [`${label}: ${values.join(", ")}`]
  })
  const when = period(all("DTSTART")[0], all("DTEND")[0], all("DURATION")[0])
  builder.add("paragraph", [...(when === "" ? [] : [`When: ${when}`]), ...lines].join("\n"))
  const description = all("DESCRIPTION").map(({ value }) => unescaped(value)).join("\n\n")
  const html = all("X-ALT-DESC").map(({ value }) => unescaped(value)).join("\n")
  // Programs write the description twice.
  if (description.trim() !== "") addParagraphs(description, builder)
  else if (html !== "") htmlBlocks(html, builder)
  return title
}

const shown = ({ name, parameters, value }: Property): ReadonlyArray<string> => {
  switch (name) {
    case "ORGANIZER":
    case "ATTENDEE": {
      const address = value.replace(/^mailto:/i, "")
      const person = oneLine(parameters.get("CN") ?? "")
      return [person === "" || person === address ? address : `${person} <${address}>`]
    }
    case "DUE":
    case "RDATE":
    case "EXDATE":
      return value.split(",").map((one) => timeOf(one, parameters.get("TZID")))
    case "ATTACH":
      // An embedded file is a long run of letters.
      return [parameters.get("VALUE") === "BINARY" ? oneLine(parameters.get("FILENAME") ?? "a file") : oneLine(value)]
    case "URL":
    case "RRULE":
      return [oneLine(value)]
    default:
      return [oneLine(unescaped(value))]
  }
}

/** A time for reading: days without a time, times with their zone, and UTC times marked by `Z`. */
const timeOf = (value: string, zone: string | undefined): string => {
  const found = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z)?)?/.exec(value.trim())
  if (found === null) return oneLine(value)
  const [, year, month, day, hour, minute, second, utc] = found
  const date = `${year}-${month}-${day}`
  if (hour === undefined) return date
  const time = `${date} ${hour}:${minute}${second === "00" ? "" : `:${second}`}`
  return utc !== undefined ? `${time} UTC` : zone === undefined ? time : `${time} (${oneLine(zone)})`
}

const period = (from: Property | undefined, to: Property | undefined, duration: Property | undefined): string => {
  if (from === undefined) return ""
  const start = timeOf(from.value, from.parameters.get("TZID"))
  if (to === undefined) return duration === undefined ? start : `${start} for ${oneLine(duration.value)}`
  const end = timeOf(to.value, to.parameters.get("TZID"))
  // An all-day entry ends on the day after it.
  return /^\d{8}$/.test(from.value) && isNextDay(from.value, to.value) ? start : `${start} to ${end}`
}

const isNextDay = (from: string, to: string): boolean => {
  const day = (date: string): number => Date.UTC(Number(date.slice(0, 4)), Number(date.slice(4, 6)) - 1, Number(date.slice(6, 8)))
  return day(to) - day(from) === 86_400_000
}

/** The properties of a calendar. A line that starts with a blank continues the one before (RFC 5545, 3.1). */
function* propertiesOf(source: string): Generator<Property> {
  for (const line of unixLines(source).replace(/\n[ \t]/g, "").split("\n")) {
    const found = /^([A-Za-z0-9-]+)((?:;[A-Za-z0-9-]+=(?:"[^"]*"|[^";:,]*)(?:,(?:"[^"]*"|[^";:,]*))*)*):(.*)$/s.exec(line)
    if (found === null) continue
    const [, name = "", rest = "", value = ""] = found
    const parameters = new Map(
      Array.from(
        rest.matchAll(/;([A-Za-z0-9-]+)=((?:"[^"]*"|[^";:])*)/g),
        ([, key = "", text = ""]) => [key.toUpperCase(), text.replaceAll("\"", "")] as const
      )
    )
    yield { name: name.toUpperCase(), parameters, value }
  }
}

const unescaped = (value: string): string =>
  value.replace(/\\([\\;,nN])/g, (_, escaped: string) => escaped === "n" || escaped === "N" ? "\n" : escaped)
