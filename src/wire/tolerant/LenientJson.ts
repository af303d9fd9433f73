import { Result } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { Json } from "../Message.ts"

/** A value while it is being parsed; duplicate keys add to it. */
type Value = null | boolean | number | string | Array<Value> | { [key: string]: Value }

export interface Limits {
  /** Most UTF-16 code units of the text. A generation request may have 20 MB of media in base64. */
  readonly characters: number
  /** Most nested objects and lists. Protobuf's limit is 100. */
  readonly depth: number
  /** Most values in all: a megabyte of `[],` would take many times that in memory. */
  readonly values: number
}

const defaults: Limits = { characters: 64 << 20, depth: 100, values: 500_000 }

/**
 * Parses JSON as leniently as Google's front end, and the Python literals that its SDK sends in uploads: single quotes, bare
 * keys, trailing commas, `True`, `None`, `\x41`. Duplicate keys are merged: objects merge, lists are joined, otherwise the last
 * value wins. It never throws.
 */
export const readJson = (text: string, limits: Limits = defaults): Result.Result<Json, ServiceError> => {
  if (text.length > limits.characters) return Result.fail(invalidPayload("The payload is too large."))
  const reader = new Reader(text, limits)
  try {
    return Result.succeed(reader.document())
  } catch (error) {
    // Anything but the parser's own exception is a bug, and must surface as one.
    if (!(error instanceof Stop)) throw error
    return Result.fail(invalidPayload(`${error.message} at ${where(text, error.offset)}`))
  }
}

/** The error of a payload that cannot be parsed, in the service's words. */
export const invalidPayload = (reason: string): ServiceError => {
  const message = `Invalid JSON payload received. ${reason}`
  return new ServiceError({ code: "INVALID_ARGUMENT", message, violations: [{ field: "", description: message }] })
}

/** Exception that unwinds the recursion. It never leaves this file. */
class Stop extends Error {
  readonly offset: number
  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

const space = /[\s\uFEFF]*/y
const word = /[A-Za-z_$@][\w$@.-]*/y
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y
const plain = { "\"": /[^"\\]*/y, "'": /[^'\\]*/y } as const
const literals: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null, True: true, False: false, None: null }
const escapes: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", "\n": "" }
const hexDigits: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

class Reader {
  readonly #text: string
  readonly #limits: Limits
  #at = 0
  #values = 0

  constructor(text: string, limits: Limits) {
    this.#text = text
    this.#limits = limits
  }

  document(): Value {
    const value = this.#value(0)
    this.#skipSpace()
    if (this.#at < this.#text.length) throw this.#stop("Unexpected data after the value")
    return value
  }

  #value(depth: number): Value {
    if (++this.#values > this.#limits.values) throw this.#stop("Too many values")
    this.#skipSpace()
    const next = this.#text[this.#at]
    if (next === "{" || next === "[") {
      if (depth >= this.#limits.depth) throw this.#stop("Message too deep. Max recursion depth reached")
      return next === "{" ? this.#object(depth + 1) : this.#list(depth + 1)
    }
    if (next === "\"" || next === "'") return this.#string(next)
    const digits = this.#take(number)
    if (digits !== "") return this.#number(digits)
    const start = this.#at
    const literal = literals[this.#take(word)]
    if (literal !== undefined) return literal
    this.#at = start
    throw this.#stop(next === undefined ? "Unexpected end of string. Expected a value" : "Expected a value")
  }

  #number(digits: string): number {
    const value = Number(digits)
    if (!Number.isFinite(value) || /[\w.]/.test(this.#text[this.#at] ?? "")) throw this.#stop("Unable to parse number")
    return value
  }

  #object(depth: number): Value {
    const object: { [key: string]: Value } = {}
    this.#at++
    while (true) {
      if (this.#ends("}")) return object
      const key = this.#key()
      if (!this.#ends(":")) throw this.#stop("Expected : between key:value pair")
      set(object, key, this.#value(depth))
      if (this.#ends("}")) return object
      if (!this.#ends(",")) throw this.#stop("Expected , or } after key:value pair")
    }
  }

  #list(depth: number): Value {
    const list: Array<Value> = []
    this.#at++
    while (true) {
      if (this.#ends("]")) return list
      list.push(this.#value(depth))
      if (this.#ends("]")) return list
      if (!this.#ends(",")) throw this.#stop("Expected , or ] after array value")
    }
  }

  #key(): string {
    this.#skipSpace()
    const next = this.#text[this.#at]
    if (next === "\"" || next === "'") return this.#string(next)
    const key = this.#take(word)
    if (key === "") throw this.#stop("Expected an object key or }")
    return key
  }

  #string(quote: "\"" | "'"): string {
    const start = this.#at++
    let out = ""
    while (true) {
      out += this.#take(plain[quote])
      const next = this.#text[this.#at]
      if (next === undefined) {
        this.#at = start
        throw this.#stop("Closing quote expected in string")
      }
      this.#at++
      // A lone surrogate cannot be encoded as UTF-8.
      if (next === quote) return out.toWellFormed()
      out += this.#escape()
    }
  }

  #escape(): string {
    const kind = this.#text[this.#at++] ?? ""
    const digits = hexDigits[kind]
    if (digits === undefined) return escapes[kind] ?? kind
    const hex = this.#text.slice(this.#at, this.#at + digits)
    const code = new RegExp(`^[0-9A-Fa-f]{${digits}}$`).test(hex) ? Number.parseInt(hex, 16) : Number.NaN
    if (!(code <= 0x10ffff)) throw this.#stop("Invalid escape sequence")
    this.#at += digits
    return kind === "u" ? String.fromCharCode(code) : String.fromCodePoint(code)
  }

  #ends(character: string): boolean {
    this.#skipSpace()
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #skipSpace(): void {
    const next = this.#text.charCodeAt(this.#at)
    // Fast path: printable ASCII contains no further space.
    if (next <= 0x20 || next >= 0x7f || Number.isNaN(next)) this.#take(space)
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ""
    this.#at += found.length
    return found
  }

  #stop(message: string): Stop {
    return new Stop(message, this.#at)
  }
}

const set = (object: { [key: string]: Value }, key: string, value: Value): void => {
  const old = Object.hasOwn(object, key) ? object[key] : undefined
  if (isObject(old) && isObject(value)) {
    for (const [inner, each] of Object.entries(value)) set(old, inner, each)
  } else if (Array.isArray(old) && Array.isArray(value)) {
    for (const each of value) old.push(each)
  } else if (key === "__proto__") {
    // `defineProperty` so that `__proto__` is a key like any other.
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  } else object[key] = value
}

const isObject = (value: Value | undefined): value is { [key: string]: Value } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Line and column of an offset, from 1. The text is not quoted, because it may contain a secret. */
const where = (text: string, offset: number): string => {
  const before = text.slice(0, offset)
  return `line ${before.split("\n").length}, column ${offset - before.lastIndexOf("\n")}.`
}
