import { childAt, childElements, parseXml } from "../Xml.ts"

/** Shows the stored value of a number cell. */
export type CellFormat = (raw: string) => string

/**
 * The formats of a workbook's cell styles, by index. Dates and times are shown as ISO 8601, percentages as a person sees them, and other
 * numbers as they are, without decoration and the noise of binary fractions.
 */
export const readCellFormats = (styles: Uint8Array | undefined, date1904: boolean): ReadonlyArray<CellFormat> => {
  if (styles === undefined) return []
  const root = parseXml(styles)
  const codes = new Map(
    childElements(childAt(root, "x:numFmts"), "x:numFmt").map(({ attributes }) => [
      Number(attributes["numFmtId"]),
      attributes["formatCode"] ?? ""
    ])
  )
  return childElements(childAt(root, "x:cellXfs"), "x:xf").map(({ attributes }) => {
    const id = Number(attributes["numFmtId"] ?? 0)
    return formatOf(codes.get(id) ?? builtInCode(id), date1904)
  })
}

/** The code of a built-in format, which is not stored, by id (ECMA-376 18.8.30); 27 to 36 and 50 to 58 are dates of East Asian locales. */
const builtInCode = (id: number): string => {
  if (id === 9) return "0%"
  if (id === 10) return "0.00%"
  if (id >= 14 && id <= 17) return "yyyy-mm-dd"
  if (id >= 18 && id <= 21 || id >= 32 && id <= 35) return "h:mm:ss"
  if (id === 22) return "yyyy-mm-dd h:mm"
  if (id >= 45 && id <= 47) return "[h]:mm:ss"
  return id >= 27 && id <= 58 && !(id >= 37 && id <= 49) ? "yyyy-mm-dd" : "General"
}

/** Shows fifteen significant digits, like Excel, but whole numbers as stored: they may be identifiers. */
export const plainNumber: CellFormat = (raw) => {
  if (/^-?(?:\d{1,20}|\d{1,7}\.\d{1,7})$/.test(raw)) return raw
  const number = Number(raw)
  return raw.trim() === "" || !Number.isFinite(number) ? raw : String(Number(number.toPrecision(15)))
}

/** The format of a code such as `yyyy-mm-dd` or `0.0%`. */
export const formatOf = (code: string, date1904: boolean): CellFormat => {
  // The first section is for positive numbers; literals, colours, currencies and padding do not affect the kind.
  const section = code.replace(/"[^"]*"|\\.|_.|\*./g, "").split(";")[0] ?? ""
  const elapsed = /\[[hms]+\]/i.test(section)
  const bare = section.replace(/\[[^\]]*\]/g, "").toLowerCase()
  if (/general|standard|@/.test(bare)) return plainNumber
  const date = /[yd]|m(?![^s]*s)/.test(bare.replace(/am\/pm|a\/p/g, "").replace(/h+[^ydhs]*m+|m+[^ydhm]*s+/g, "h"))
  const time = /[hs]/.test(bare)
  if (elapsed) return onNumbers(duration)
  if (date || time) return onNumbers((serial) => dateTime(serial, date, time, date1904))
  if (bare.includes("%")) {
    const decimals = /\.([0#?]+)/.exec(bare)?.[1]?.length ?? 0
    return onNumbers((number) => `${(number * 100).toFixed(Math.min(20, decimals))}%`)
  }
  return plainNumber
}

const onNumbers = (show: (number: number) => string | undefined): CellFormat => (raw) => {
  const number = raw.trim() === "" ? Number.NaN : Number(raw)
  return (Number.isFinite(number) ? show(number) : undefined) ?? plainNumber(raw)
}

const dayMs = 86_400_000
/** Serial number 0. Days count from 1899-12-30; because of Excel's nonexistent 29 February 1900 the first two months are one off. */
const epoch = Date.UTC(1899, 11, 30)
const days1904 = 1_462
/** Serial number of 9999-12-31. */
const lastSerial = 2_958_466

const dateTime = (value: number, date: boolean, time: boolean, date1904: boolean): string | undefined => {
  const serial = value + (date1904 ? days1904 : 0)
  if (serial < 0 || serial >= lastSerial) return undefined
  const shift = serial < 60 && !date1904 ? 1 : 0
  const moment = new Date(epoch + Math.round((serial + shift) * 86_400) * 1000)
  const iso = moment.toISOString()
  const midnight = moment.getTime() % dayMs === 0
  const clock = iso.slice(11, iso.slice(17, 19) === "00" ? 16 : 19)
  if (!date || serial < 1 && time) return clock
  return time && !midnight ? `${iso.slice(0, 10)} ${clock}` : iso.slice(0, 10)
}

/** Elapsed time, `36:15:00`. */
const duration = (days: number): string => {
  const seconds = Math.round(Math.abs(days) * 86_400)
  const two = (n: number): string => String(n).padStart(2, "0")
  return `${days < 0 ? "-" : ""}${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
}
