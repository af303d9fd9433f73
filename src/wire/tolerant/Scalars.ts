import { isJsonObject, type Json, type Kind } from "../Message.ts"

/** The canonical form of a scalar; undefined where the value is not of the kind. */
export const readScalar = (kind: Kind, value: Json): Json | undefined => {
  switch (kind.kind) {
    case "string":
      return typeof value === "string" ? value : undefined
    case "bool":
      return readBool(value)
    case "int32":
      return readInt32(value)
    case "int64":
      return readInt64(value)
    case "float":
    case "double":
      return readNumber(value)
    case "bytes":
      return readBytes(value)
    case "timestamp":
      return readTimestamp(value)
    case "duration":
      return readDuration(value)
    case "enum":
      return readEnum(kind.numbers, value)
    default:
      return undefined
  }
}

/** Reads a boolean, also from a word in any case (rows 4 and 7). */
const readBool = (value: Json): boolean | undefined => {
  if (typeof value === "boolean") return value
  const word = typeof value === "string" ? value.toLowerCase() : value
  return word === "true" || word === "1" ? true : word === "false" || word === "0" ? false : undefined
}

/** Reads a number, also from a string (row 17). */
const readNumber = (value: Json): number | undefined => {
  if (typeof value === "number") return value
  if (typeof value !== "string" || !/^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(value) || value.length > 100) return undefined
  const number = Number(value)
  return Number.isFinite(number) ? number : undefined
}

const readInt32 = (value: Json): number | undefined => {
  const number = readNumber(value)
  return number !== undefined && Number.isInteger(number) && number >= -(2 ** 31) && number < 2 ** 31 ? number : undefined
}

/** Reads an integer into a decimal string, since numbers are exact only up to 53 bits. */
const readInt64 = (value: Json): string | undefined => {
  const digits = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value
  if (typeof digits !== "string" || !/^[-+]?\d{1,19}$/.test(digits)) return undefined
  const integer = BigInt(digits)
  return BigInt.asIntN(64, integer) === integer ? String(integer) : undefined
}

/** Reads base64 of either alphabet, padded or not, into padded standard base64. */
const readBytes = (value: Json): string | undefined => {
  if (typeof value !== "string" || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) return undefined
  const digits = value.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "")
  return digits.length % 4 === 1 ? undefined : digits.padEnd(Math.ceil(digits.length / 4) * 4, "=")
}

const rfc3339 =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(\.\d{1,9})?(Z|[-+](?:[01]\d|2[0-3]):[0-5]\d)$/

/** Reads a timestamp into UTC, with every digit of the fraction. */
const readTimestamp = (value: Json): string | undefined => {
  if (typeof value === "string") {
    const [text, time = "", fraction = "", zone = ""] = rfc3339.exec(value.toUpperCase()) ?? []
    if (text === undefined || zone === "Z") return text
    const utc = new Date(`${time}${zone}`).toISOString().slice(0, -5)
    return /^\d/.test(utc) ? `${utc}${fraction}Z` : undefined
  }
  const parts = secondsAndNanos(value)
  // The proto allows the years 0001 to 9999.
  if (parts === undefined || parts.seconds < -62135596800 || parts.seconds > 253402300799 || parts.nanos < 0) return undefined
  return new Date(parts.seconds * 1000).toISOString().replace(".000Z", `${fraction(parts.nanos)}Z`)
}

/** Reads a duration, also from seconds and nanos (row 30). */
const readDuration = (value: Json): string | undefined => {
  if (typeof value === "string") return /^-?\d{1,12}(?:\.\d{1,9})?s$/.test(value) ? value : undefined
  const parts = secondsAndNanos(value)
  if (parts === undefined || Math.abs(parts.seconds) > 315576000000 || parts.seconds * parts.nanos < 0) return undefined
  const sign = parts.seconds < 0 || parts.nanos < 0 ? "-" : ""
  return `${sign}${Math.abs(parts.seconds)}${fraction(Math.abs(parts.nanos))}s`
}

const secondsAndNanos = (value: Json): { readonly seconds: number; readonly nanos: number } | undefined => {
  if (!isJsonObject(value)) return undefined
  const { nanos: n = 0, seconds: s = 0, ...rest } = value
  const seconds = readNumber(s)
  const nanos = readInt32(n)
  return Object.keys(rest).length > 0 || seconds === undefined || !Number.isSafeInteger(seconds) || nanos === undefined ||
      Math.abs(nanos) > 999_999_999
    ? undefined
    : { seconds, nanos }
}

const fraction = (nanos: number): string => (nanos === 0 ? "" : `.${String(nanos).padStart(9, "0").replace(/(?:0{3})+$/, "")}`)

/** Reads an enum value by name or number. Unknown numbers are accepted, because proto3 enums are open. */
const readEnum = (numbers: Readonly<Record<string, number>>, value: Json): string | undefined => {
  // The documentation's schemas write `object` in lower case; names are in capitals.
  const name = typeof value === "string" ? value.toUpperCase() : ""
  if (Object.hasOwn(numbers, name)) return name
  const number = readInt32(value)
  if (number === undefined) return undefined
  return Object.keys(numbers).find((name) => numbers[name] === number) ?? String(number)
}
