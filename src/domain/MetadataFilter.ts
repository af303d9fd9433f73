import { Result } from "effect"
import { ServiceError } from "./Errors.ts"
import { asType, type DataSchemaSpec, instantOf, type MetadataValue, number, type ScalarValue, textOf } from "./MetadataValue.ts"
import type { Metadata, RagFile } from "./RagFile.ts"

/**
 * An expression over a file's metadata, in the Common Expression Language or, with words as operators, in AIP-160's:
 * `year >= 2024 && lang in ["de", "en"] && !(draft == true)`, `team = "ops" AND NOT has(retired)`.
 *
 * - Comparisons: `==` (also `=`), `!=`, `<`, `<=`, `>`, `>=`, `in [..]`, `"x" in tags`, `tags:"x"`; `has(key)` is true
 *   where the key is set, and a key alone where its value is true.
 * - A key has the type of its data schema; facts from a source (`title`, `author`, `modifiedTime`) are text, compared as
 *   a number or a date where the other side is one. A list passes if one of its values does.
 * - A comparison with a missing key is false; `!=` is the negation of `==`.
 */
export type MetadataFilter =
  | { readonly _tag: "all" | "any"; readonly of: ReadonlyArray<MetadataFilter> }
  | { readonly _tag: "not"; readonly of: MetadataFilter }
  | { readonly _tag: "has"; readonly key: string }
  | { readonly _tag: "is"; readonly key: string; readonly operator: Order; readonly value: Literal }
  | { readonly _tag: "in"; readonly key: string; readonly values: ReadonlyArray<Literal> }

export type Order = "==" | "<" | "<=" | ">" | ">="

export interface Literal {
  readonly kind: "text" | "number" | "boolean" | "time"
  readonly text: string
}

/** Most UTF-16 units of an expression. */
const longest = 10_000
/** Deepest nesting of parentheses and negations. */
const deepest = 100

const sign = /&&|\|\||==|!=|<=|>=|[=<>!()[\],:]/y
const quoted = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/y
const amount = /[+-]?\.?\d[\w.+:-]*/y
const name = /[\p{L}_][\p{L}\p{N}_.-]*/uy

interface Token {
  readonly kind: "sign" | "text" | "amount" | "name" | "end"
  readonly text: string
  /** Position from 1, for people. */
  readonly at: number
}

/** An expression, for the fix of one that is wrong. */
export const filterExample = "year >= 2024 && lang in [\"de\", \"en\"]"

/** Parses an expression. `field` names it in messages. */
export const parseMetadataFilter = (expression: string, field: string): Result.Result<MetadataFilter, ServiceError> =>
  Result.mapError(parse(expression), ({ message }) => ServiceError.invalid(field, message, `write for example: ${filterExample}`))

/** What is wrong with an expression, without its words; undefined where it can be parsed. */
export const filterMistake = (expression: string): string | undefined =>
  Result.match(parse(expression), { onSuccess: () => undefined, onFailure: ({ place }) => place })

const parse = (expression: string): Result.Result<MetadataFilter, Malformed> => {
  if (expression.length > longest) return Result.fail(new Malformed(`has more than ${longest} characters`))
  try {
    return Result.succeed(new Parser(tokens(expression)).whole())
  } catch (cause) {
    if (cause instanceof Malformed) return Result.fail(cause)
    throw cause
  }
}

class Malformed extends Error {
  /** The message without words of the expression. */
  readonly place: string
  constructor(message: string, place = message) {
    super(message)
    this.place = place
  }
}

const tokens = (expression: string): ReadonlyArray<Token> => {
  const found: Array<Token> = []
  let at = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(expression)?.[0]
  }
  while (true) {
    at += take(/\s*/y)?.length ?? 0
    if (at === expression.length) return [...found, { kind: "end", text: "", at: at + 1 }]
    const kinds = [["sign", sign], ["text", quoted], ["amount", amount], ["name", name]] as const
    const [kind, text] = kinds.map(([kind, pattern]) => [kind, take(pattern)] as const).find(([, text]) => text !== undefined) ?? []
    if (kind === undefined || text === undefined) {
      const place = `cannot be read at character ${at + 1}`
      throw new Malformed(`${place}: ${JSON.stringify(expression.slice(at, at + 20))}`, place)
    }
    found.push({ kind, text: kind === "text" ? unquoted(text) : text, at: at + 1 })
    at += text.length
  }
}

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" }

const unquoted = (text: string): string =>
  text.slice(1, -1).replaceAll(
    /\\(?:u([0-9a-fA-F]{4})|(.))/gs,
    (_, code: string | undefined, character = "") =>
      code === undefined ? escapes[character] ?? character : String.fromCharCode(Number.parseInt(code, 16))
  )

class Parser {
  readonly #tokens: ReadonlyArray<Token>
  #next = 0
  #depth = 0
  /** Operators that join the parts of the current level. */
  #words = new Set<string>()

  constructor(tokens: ReadonlyArray<Token>) {
    this.#tokens = tokens
  }

  whole(): MetadataFilter {
    const filter = this.#level()
    if (this.#token.kind !== "end") this.#fail("an operator")
    return filter
  }

  get #token(): Token {
    // There is an end token, and nothing is read beyond it.
    return this.#tokens[this.#next] as Token
  }

  /** Parses a whole expression, or the content of a pair of parentheses. */
  #level(): MetadataFilter {
    const words = this.#words
    this.#words = new Set()
    const filter = this.#joined("any", "||", "OR", () => this.#joined("all", "&&", "AND", () => this.#one()))
    this.#words = words
    return filter
  }

  #joined(tag: "all" | "any", sign: string, word: string, part: () => MetadataFilter): MetadataFilter {
    const first = part()
    const more: Array<MetadataFilter> = []
    while (this.#isSign(sign) || this.#isWord(word)) {
      this.#words.add(this.#take().text)
      // The operator || binds less tightly than &&, as usual; in AIP-160, OR binds more tightly than AND.
      if (this.#words.has("AND") && this.#words.has("OR")) {
        throw new Malformed("mixes AND and OR: put parentheses around what belongs together")
      }
      more.push(part())
    }
    return more.length === 0 ? first : { _tag: tag, of: [first, ...more] }
  }

  #one(): MetadataFilter {
    if (++this.#depth > deepest) throw new Malformed(`has more than ${deepest} parentheses within one another`)
    try {
      if (this.#isSign("!") || this.#isWord("NOT")) {
        this.#take()
        return { _tag: "not", of: this.#one() }
      }
      if (this.#isSign("(")) {
        this.#take()
        const within = this.#level()
        this.#expect(")")
        return within
      }
      return this.#comparison()
    } finally {
      this.#depth--
    }
  }

  #comparison(): MetadataFilter {
    const { kind, text } = this.#token
    if (kind === "name" && !isConstant(text) && !this.#isCall("timestamp")) {
      if (this.#isCall("has")) return this.#has()
      this.#take()
      if (this.#isSign("(")) {
        throw new Malformed(`calls ${text}, and the functions are has and timestamp`, "calls a function that is neither has nor timestamp")
      }
      return this.#after(text)
    }
    const value = this.#literal()
    if (this.#isWord("in")) {
      this.#take()
      return { _tag: "is", key: this.#key(), operator: "==", value }
    }
    const operator = this.#operator()
    return compared(this.#key(), turned[operator] ?? operator, value)
  }

  /** Parses the part after a key. */
  #after(key: string): MetadataFilter {
    if (this.#isWord("in")) {
      this.#take()
      return { _tag: "in", key, values: this.#list() }
    }
    if (this.#isSign(":")) {
      this.#take()
      return { _tag: "is", key, operator: "==", value: this.#literal() }
    }
    if (!orders.some((order) => this.#isSign(order))) return { _tag: "is", key, operator: "==", value: { kind: "boolean", text: "true" } }
    return compared(key, this.#operator(), this.#literal())
  }

  #has(): MetadataFilter {
    this.#take()
    this.#expect("(")
    const key = this.#key()
    this.#expect(")")
    return { _tag: "has", key }
  }

  #list(): ReadonlyArray<Literal> {
    this.#expect("[")
    const values: Array<Literal> = []
    while (!this.#isSign("]")) {
      values.push(this.#literal())
      if (!this.#isSign(",")) break
      this.#take()
    }
    this.#expect("]")
    return values
  }

  #literal(): Literal {
    const { kind, text } = this.#token
    if (kind === "text") {
      this.#take()
      return { kind: "text", text }
    }
    if (kind === "amount") {
      this.#take()
      const plainNumber = text.replace(/(?<=^[+-]?\d+)u$/, "")
      return number(plainNumber) === undefined ? { kind: "text", text } : { kind: "number", text: plainNumber }
    }
    if (kind !== "name") this.#fail("a value")
    const calls = this.#isCall("timestamp")
    this.#take()
    if (isConstant(text)) return { kind: "boolean", text }
    if (!calls) return { kind: "text", text }
    this.#take()
    const { at, text: time } = this.#take()
    if (instantOf(time) === undefined) throw new Malformed(`has no date at character ${at}`)
    this.#expect(")")
    return { kind: "time", text: time }
  }

  #key(): string {
    if (this.#token.kind !== "name") this.#fail("a key")
    return this.#take().text
  }

  #operator(): string {
    if (!orders.some((order) => this.#isSign(order))) this.#fail("an operator")
    return this.#take().text
  }

  #isSign(text: string): boolean {
    return this.#token.kind === "sign" && this.#token.text === text
  }

  #isWord(text: string): boolean {
    return this.#token.kind === "name" && this.#token.text === text
  }

  #isCall(name: string): boolean {
    const next = this.#tokens[this.#next + 1]
    return this.#isWord(name) && next?.kind === "sign" && next.text === "("
  }

  #take(): Token {
    const token = this.#token
    if (token.kind !== "end") this.#next++
    return token
  }

  #expect(text: string): void {
    if (!this.#isSign(text)) this.#fail(text)
    this.#take()
  }

  #fail(wanted: string): never {
    const { at, kind, text } = this.#token
    if (kind === "end") throw new Malformed(`ends where ${wanted} should come`)
    throw new Malformed(
      `has ${JSON.stringify(text)} at character ${at} where ${wanted} should come`,
      `has something else at character ${at} where ${wanted} should come`
    )
  }
}

/** Operators with their sides swapped. */
const turned: Readonly<Record<string, string>> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" }
const orders = ["==", "=", "!=", "<=", ">=", "<", ">"]

const isConstant = (text: string): boolean => text === "true" || text === "false"

const compared = (key: string, operator: string, value: Literal): MetadataFilter => {
  if (operator === "!=") return { _tag: "not", of: { _tag: "is", key, operator: "==", value } }
  return { _tag: "is", key, operator: operator === "=" ? "==" : operator as Order, value }
}

/** The expression that every key equals its value. */
export const equalTo = (metadata: Metadata): MetadataFilter => ({
  _tag: "all",
  of: Object.entries(metadata).map(([key, text]) => ({ _tag: "is", key, operator: "==", value: { kind: "text", text } }))
})

/** The pairs of a filter that only compares keys for equality with texts; undefined for other filters. */
export const asEqual = (filter: MetadataFilter): Metadata | undefined => {
  const parts = filter._tag === "all" ? filter.of : [filter]
  const pairs = parts.flatMap((part) =>
    part._tag === "is" && part.operator === "==" && part.value.kind === "text" ? [[part.key, part.value.text] as const] : []
  )
  return pairs.length === parts.length && new Set(pairs.map(([key]) => key)).size === pairs.length ? Object.fromEntries(pairs) : undefined
}

/** The keys that a filter uses. */
export const keysOf = (filter: MetadataFilter): ReadonlyArray<string> => {
  switch (filter._tag) {
    case "all":
    case "any":
      return filter.of.flatMap(keysOf)
    case "not":
      return keysOf(filter.of)
    default:
      return [filter.key]
  }
}

/** The error of a filter that a corpus's data schemas do not allow; keys without a schema are facts from sources. */
export const badMetadataFilter = (
  filter: MetadataFilter,
  schemas: ReadonlyMap<string, DataSchemaSpec>,
  field: string
): ServiceError | undefined => {
  switch (filter._tag) {
    case "all":
    case "any": {
      for (const part of filter.of) {
        const bad = badMetadataFilter(part, schemas, field)
        if (bad !== undefined) return bad
      }
      return undefined
    }
    case "not":
      return badMetadataFilter(filter.of, schemas, field)
    default: {
      const schema = schemas.get(filter.key)
      if (schema === undefined) return undefined
      if (schema.search === "none") {
        return ServiceError.invalid(field, `the data schema of ${filter.key} says that it is not searched (NO_SEARCH)`)
      }
      const type = schema.type === "list" ? schema.element ?? "string" : schema.type
      const values = filter._tag === "is" ? [filter.value] : filter._tag === "in" ? filter.values : []
      const other = values.find(({ text }) => (type === "integer" ? number(text) : asType(type, text)) === undefined)
      return other === undefined
        ? undefined
        : ServiceError.invalid(field, `compares ${filter.key}, whose type is ${type}, with ${JSON.stringify(other.text)}, which is none`)
    }
  }
}

/** Returns a file's value of a key: its metadata, or the text from its source. */
export type Facts = (key: string) => MetadataValue | string | undefined

/** A file's values: metadata that people wrote takes precedence over facts from its source. */
export const factsOf = ({ metadata = {}, userMetadata = {} }: Pick<RagFile, "metadata" | "userMetadata">): Facts => (key) => {
  const written = Object.hasOwn(userMetadata, key) ? userMetadata[key] : undefined
  if (written === undefined) return Object.hasOwn(metadata, key) ? metadata[key] : undefined
  // A text is compared as the type of the other side.
  return typeof written === "object" ? { _tag: "list", values: written.map(scalarOf) } : String(written)
}

const scalarOf = (value: string | number | boolean): ScalarValue =>
  typeof value === "string"
    ? { _tag: "string", value }
    : typeof value === "number"
    ? { _tag: "float", value }
    : { _tag: "boolean", value }

/** Whether a file passes a filter. */
export const passes = (filter: MetadataFilter, facts: Facts): boolean => {
  switch (filter._tag) {
    case "all":
      return filter.of.every((part) => passes(part, facts))
    case "any":
      return filter.of.some((part) => passes(part, facts))
    case "not":
      return !passes(filter.of, facts)
    case "has":
      return facts(filter.key) !== undefined
    case "is":
      return holds(facts(filter.key), filter.operator, filter.value)
    case "in": {
      const fact = facts(filter.key)
      return filter.values.some((value) => holds(fact, "==", value))
    }
  }
}

const holds = (fact: MetadataValue | string | undefined, operator: Order, literal: Literal): boolean => {
  if (fact === undefined) return false
  if (typeof fact === "string") return inOrder(comparedText(fact, literal), operator)
  if (fact._tag === "list") return fact.values.some((value) => inOrder(comparedValue(value, literal), operator))
  return inOrder(comparedValue(fact, literal), operator)
}

const inOrder = (order: number | undefined, operator: Order): boolean => {
  if (order === undefined) return false
  switch (operator) {
    case "==":
      return order === 0
    case "<":
      return order < 0
    case "<=":
      return order <= 0
    case ">":
      return order > 0
    case ">=":
      return order >= 0
  }
}

/** Compares two values: below, at or above 0; undefined where they are not comparable. */
const comparedValue = (value: ScalarValue, { text }: Literal): number | undefined => {
  switch (value._tag) {
    case "integer":
      // Whole numbers are compared exactly, others as floating point.
      return /^[+-]?\d+$/.test(text) ? order(BigInt(value.value), BigInt(text)) : order(BigInt(value.value), number(text))
    case "float":
      return order(value.value, number(text))
    case "datetime":
      return order(instantOf(value.value), instantOf(text))
    case "boolean":
      return isConstant(text) ? order(Number(value.value), Number(text === "true")) : undefined
    case "string":
      return order(textOf(value), text)
  }
}

/** Compares an untyped text as the type of the other side. */
const comparedText = (fact: string, { kind, text }: Literal): number | undefined => {
  switch (kind) {
    case "number":
      return order(number(fact), number(text))
    case "time":
      return order(instantOf(fact), instantOf(text))
    default:
      return order(fact, text)
  }
}

const order = <A extends number | bigint | string>(a: A | undefined, b: A | number | undefined): number | undefined => {
  if (a === undefined || b === undefined) return undefined
  return a < b ? -1 : a > b ? 1 : 0
}
