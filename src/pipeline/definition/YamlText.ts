import { isAlias, isCollection, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from "yaml"
import { type Environment, substitute } from "./Environment.ts"
import type { Problem, ValuePath } from "./PipelineInvalid.ts"
import { syntaxErrors } from "./SyntaxErrors.ts"

/** A range of the text, in UTF-16 offsets, end excluded. */
export type Range = readonly [start: number, end: number]

/** A problem of the text itself, with its offset. */
interface TextProblem extends Problem {
  readonly offset: number
}

export interface Entry {
  readonly path: ValuePath
  readonly key?: Range
  readonly value: Range
  /** Range of the value's own text: for an alias, of the text it refers to. */
  readonly content: Range
  /** The scalar's text as written; absent for lists and mappings. */
  readonly written?: string
  /** Whether the value was exactly one environment reference. */
  readonly fromEnvironment: boolean
}

/** A YAML or JSON text as a plain value, with the place of each of its parts. */
export interface YamlText {
  readonly text: string
  readonly value: unknown
  readonly problems: ReadonlyArray<TextProblem>
  /** Entries by {@link pathKey}. */
  readonly entries: ReadonlyMap<string, Entry>
  /** Ranges of values that were not read: those of duplicate keys, and of keys that are not text. */
  readonly unread: ReadonlyArray<Range>
  readonly lines: LineCounter
}

export const pathKey = (path: ValuePath): string => JSON.stringify(path)

const maxNodes = 20_000
const maxDepth = 64
const maxProblems = 100

/**
 * Reads `text`, at most a few hundred kilobytes. Environment references are replaced inside text scalars only, after
 * the structure is known, so no variable can change it. Aliases and merge keys (`<<`) work, within bounds; duplicate
 * keys, tags and several documents are problems.
 */
export const readYaml = (text: string, environment: Environment): YamlText => {
  const lines = new LineCounter()
  const entries = new Map<string, Entry>()
  const problems: Array<TextProblem> = []
  const unread: Array<Range> = []
  const anchors = new Map<string, Node>()
  const open = new Set<Node>()
  const veil = makeVeil(text)
  let nodes = 0

  const report = (path: ValuePath, offset: number, rule: string, fix?: string) => {
    if (problems.length < maxProblems) problems.push({ path, offset, rule, fix })
  }

  /** Counts a node; beyond the limits reports that once, after which nothing more is read. */
  const isSpent = (path: ValuePath, offset: number): boolean => {
    if (nodes > maxNodes) return true
    nodes = path.length > maxDepth ? maxNodes + 1 : nodes + 1
    if (nodes <= maxNodes) return false
    report(path, offset, "is too large or too deep once aliases are followed", "use fewer aliases and levels")
    return true
  }

  const skip = (node: unknown) => {
    const range = rangeOf(node)
    if (range !== undefined) unread.push(range)
  }

  const read = (node: unknown, path: ValuePath, key: Range | undefined, at: Range, alias?: Range): unknown => {
    const range = rangeOf(node) ?? at
    if (isSpent(path, range[0])) return undefined
    if (isAlias(node)) {
      const target = anchors.get(node.source)
      if (target === undefined || open.has(target)) {
        report(path, range[0], target === undefined ? "refers to an anchor that is not defined before it" : "refers to itself")
        return undefined
      }
      return read(target, path, key, range, alias ?? range)
    }
    const place = { path, key, value: alias ?? range, content: range }
    if (isScalar(node)) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
      if (typeof node.value !== "string") {
        entries.set(pathKey(path), { ...place, written: node.source ?? "", fromEnvironment: false })
        return node.value
      }
      const written = veil.lift(node.value)
      const { problems, text, whole } = substitute(written, environment)
      entries.set(pathKey(path), { ...place, written, fromEnvironment: whole })
      for (const { fix, rule } of problems) report(path, range[0], rule, fix)
      return text
    }
    entries.set(pathKey(path), { ...place, fromEnvironment: false })
    if (!isCollection(node)) return null
    if (node.anchor !== undefined) anchors.set(node.anchor, node)
    open.add(node)
    const value = isSeq(node)
      ? node.items.map((item, index) => read(item, [...path, index], undefined, range))
      : isMap(node)
      ? Object.fromEntries(readMap(node, path, new Set()))
      : undefined
    open.delete(node)
    return value
  }

  /** The entries of a mapping; those merged by `<<` come last, and only for keys that are not there. */
  const readMap = (map: YAMLMap, path: ValuePath, taken: Set<string>): ReadonlyArray<readonly [string, unknown]> => {
    const own: Array<readonly [string, unknown]> = []
    const merged: Array<unknown> = []
    const here = new Set<string>()
    for (const { key, value } of map.items) {
      const range = rangeOf(key) ?? rangeOf(map) ?? [0, 0]
      if (!isScalar(key)) {
        report(path, range[0], "keys must be plain text")
        skip(key)
        skip(value)
        continue
      }
      const name = veil.lift(key.source ?? String(key.value))
      if (name === "<<" && key.type === "PLAIN") {
        merged.push(value)
        continue
      }
      if (here.has(name)) {
        report([...path, name], range[0], "the key is given twice", "keep one of them")
        skip(value)
        continue
      }
      here.add(name)
      if (taken.has(name)) {
        skip(value)
        continue
      }
      taken.add(name)
      own.push([name, read(value, [...path, name], range, [range[1], range[1]])])
    }
    return [...own, ...merged.flatMap((value) => merge(value, path, taken))]
  }

  const merge = (value: unknown, path: ValuePath, taken: Set<string>): ReadonlyArray<readonly [string, unknown]> => {
    const offset = rangeOf(value)?.[0] ?? 0
    if (isSpent(path, offset)) return []
    const source = isAlias(value) ? anchors.get(value.source) : value
    if (isMap(source) && !open.has(source)) {
      open.add(source)
      const inherited = readMap(source, path, taken)
      open.delete(source)
      return inherited
    }
    if (isSeq(source) && source === value) return source.items.flatMap((item) => merge(item, path, taken))
    report(path, offset, "<< takes a mapping, or a list of mappings, defined before it")
    return []
  }

  let value: unknown
  try {
    const document = parseDocument(veil.text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false, logLevel: "error" })
    value = read(document.contents, [], undefined, [0, 0])
    for (const { fix, offset, rule } of syntaxErrors(document)) report([], offset, rule, fix)
  } catch (error) {
    // The parser recurses; a text nested thousands deep overflows its stack.
    if (!(error instanceof RangeError)) throw error
    report([], 0, "the file is nested too deeply")
  }
  return { text, value, problems, entries, unread, lines }
}

const rangeOf = (node: unknown): Range | undefined => {
  if (!isScalar(node) && !isCollection(node) && !isAlias(node)) return undefined
  return node.range ? [node.range[0], node.range[1]] : undefined
}

const structural = /[{}[\],:#]/g
const veiled = /[\uE000-\uE07F]/g

/**
 * YAML would take the braces of `${VAR}` inside `{ ... }` for its own. During parsing they are replaced by other
 * characters, one for one, so that offsets stay right; a text that uses those characters itself is left unchanged.
 */
const makeVeil = (text: string): { readonly text: string; readonly lift: (part: string) => string } =>
  text.search(veiled) !== -1 ? { text, lift: (part) => part } : {
    text: text.replaceAll(
      /\$\{[^{}\n]*\}/g,
      (reference) => reference.replaceAll(structural, (char) => String.fromCharCode(0xe000 + char.charCodeAt(0)))
    ),
    lift: (part) => part.replaceAll(veiled, (char) => String.fromCharCode(char.charCodeAt(0) - 0xe000))
  }
