import { decodeHTMLStrict } from "entities"
import { Parser } from "htmlparser2"
import { ReadFailure } from "./ReadFailure.ts"
import { canonicalPrefixes } from "./XmlNames.ts"

/** An element. Names carry the canonical prefix of their namespace, or the file's own prefix where the namespace is unknown. */
export interface XmlElement {
  readonly name: string
  readonly attributes: XmlAttributes
  readonly children: Array<XmlElement | string>
}

export type XmlAttributes = Readonly<Record<string, string>>

interface XmlHandler {
  readonly open?: (name: string, attributes: XmlAttributes) => void
  readonly close?: (name: string) => void
  /** Receives a stretch of character data; one text may come in several. */
  readonly text?: (text: string) => void
  /** Called now and then; true ends the reading of the document. */
  readonly done?: () => boolean
  /**
   * Expands entities that contain markup or other entities too, to their text, and those that HTML names; accepts external ones. People
   * write such entities by hand, but in the parts of office files they are made to break readers. Default false.
   */
  readonly written?: boolean
}

/** Deepest nesting; deeper documents are made to break readers, not to be read. */
const maxDepth = 1_000

const chunkBytes = 64 * 1024

/**
 * Runs through an XML document of any length in constant memory. Broken markup is read as far as it goes. Of the entities that a document
 * defines, those of plain text are expanded and external ones are left as they are; a document that builds entities of entities is refused
 * as `corrupt`, unless the handler accepts them.
 */
export const scanXml = (bytes: Uint8Array, handler: XmlHandler): void => {
  let scope = rootScope
  const path: Array<{ readonly name: string; readonly outer: Scope }> = []
  const parser = new Parser({
    onopentag(raw, attributes) {
      if (path.length >= maxDepth) throw new ReadFailure("limit", `XML nested deeper than ${maxDepth} elements`)
      const outer = scope
      scope = enter(outer, attributes)
      const name = canonicalName(scope, raw)
      path.push({ name, outer })
      handler.open?.(name, scope.renames ? canonicalAttributes(scope, attributes) : attributes)
    },
    onclosetag() {
      const closed = path.pop()
      if (closed === undefined) return
      scope = closed.outer
      handler.close?.(closed.name)
    },
    ontext(text) {
      handler.text?.(text)
    },
    onprocessinginstruction(name, data) {
      if (name.startsWith("!") && /<?!ENTITY/i.test(data)) {
        throw new ReadFailure("corrupt", "XML that defines its own entities")
      }
    }
  }, { xmlMode: true })
  for (const chunk of expanded(decodeChunks(bytes), handler.written === true)) {
    parser.write(chunk)
    if (handler.done?.() === true) return
  }
  parser.end()
}

/** Most characters that the entities of one document may expand to. */
const maxExpansion = 1024 * 1024

/** Comments and quoted values may contain brackets; where a quote has no end, the first bracket counts. */
const internalSubset =
  /<!DOCTYPE[^[>]{0,2000}\[((?:<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<(?!!--|\?)|"[^"]*"|'[^']*'|[^\]"'<])*)\]\s*>|<!DOCTYPE[^[>]{0,2000}\[([^\]]*)\]\s*>/

/** The text of an entity that HTML names, which the DTDs of many vocabularies define alike; `undefined` where it is part of markup. */
const htmlEntity = (name: string): string | undefined => {
  const text = decodeHTMLStrict(`&${name};`)
  return text === `&${name};` || /[<&>"']/.test(text) ? undefined : text
}

/** Chunks of a document, with its own plain-text entities expanded. */
function* expanded(chunks: Iterable<string>, written: boolean): Generator<string> {
  let entities: ReadonlyMap<string, string> | undefined
  let left = maxExpansion
  let held = ""
  for (const chunk of chunks) {
    if (entities === undefined) {
      const subset = internalSubset.exec(chunk)
      entities = subset === null ? noEntities : entitiesOf(subset[1] ?? subset[2] ?? "", written)
      if (subset !== null && (written || entities.size > 0)) {
        held = chunk.slice(0, subset.index)
        yield held
        held = chunk.slice(subset.index + subset[0].length)
      } else held = chunk
    } else held += chunk
    if (entities.size === 0 && !written) {
      yield held
      held = ""
      continue
    }
    // A name may continue in the next chunk.
    const cut = /&[^;&<\s]{0,100}$/.exec(held)?.index ?? held.length
    yield held.slice(0, cut).replace(/&([^;&<\s#]{1,100});/g, (whole, name: string) => {
      const text = entities?.get(name) ?? (written ? htmlEntity(name) : undefined)
      left -= text?.length ?? 0
      if (left < 0) throw endless
      return text ?? whole
    })
    held = held.slice(cut)
  }
  if (held !== "") yield held
}

const endless = new ReadFailure("corrupt", "XML whose entities expand without end")
const noEntities: ReadonlyMap<string, string> = new Map()

/** The entities that stand for text; those with markup or other entities inside count only where `written` takes them for their text. */
const entitiesOf = (subset: string, written: boolean): ReadonlyMap<string, string> => {
  const entities = new Map<string, string>()
  const declaration = /<!ENTITY\s+(%\s+)?([^\s"'%]{1,100})\s+(?:"([^"]*)"|'([^']*)'|(SYSTEM|PUBLIC)\s[^>]*)\s*>/g
  for (const [, parameter, name = "", quoted, single, external] of subset.replace(/<!--[\s\S]*?-->/g, "").matchAll(declaration)) {
    const value = quoted ?? single ?? ""
    if (parameter !== undefined || external !== undefined) continue
    if (!written && /&(?!#)|%|</.test(value)) throw new ReadFailure("corrupt", "XML that builds entities of entities")
    // Only entities declared before this one are expanded, so none contains itself.
    const text = value.replace(/<[^<>]*>/g, "").replace(/&([^;&<\s#]{1,100});/g, (whole, inner: string) => entities.get(inner) ?? whole)
    if (text.length > maxExpansion) throw endless
    // The first of two declarations counts.
    if (!entities.has(name)) entities.set(name, text)
  }
  return entities
}

/**
 * Calls `visit` with each outermost element for which `wanted` is true, as a tree that can be dropped afterwards, so that a long document
 * is never in memory as a whole.
 */
export const eachElement = (
  bytes: Uint8Array,
  wanted: (name: string, parent: string, attributes: XmlAttributes) => boolean,
  visit: (element: XmlElement) => void,
  done?: () => boolean
): void => {
  const outside: Array<string> = []
  const inside: Array<XmlElement> = []
  scanXml(bytes, {
    open(name, attributes) {
      const parent = inside.at(-1)
      if (parent === undefined && !wanted(name, outside.at(-1) ?? "", attributes)) {
        outside.push(name)
        return
      }
      const element: XmlElement = { name, attributes, children: [] }
      parent?.children.push(element)
      inside.push(element)
    },
    close() {
      const element = inside.pop()
      if (element === undefined) outside.pop()
      else if (inside.length === 0) visit(element)
    },
    text(text) {
      inside.at(-1)?.children.push(text)
    },
    done
  })
}

/** The whole document as a tree: for small parts only. */
export const parseXml = (bytes: Uint8Array): XmlElement => {
  let root: XmlElement | undefined
  eachElement(bytes, () => true, (element) => {
    root ??= element
  })
  if (root === undefined) throw new ReadFailure("corrupt", "an XML part has no content")
  return root
}

/** Child elements; with `name`, only those of that name. */
export const childElements = (element: XmlElement | undefined, name?: string): ReadonlyArray<XmlElement> =>
  (element?.children ?? []).filter((child): child is XmlElement => typeof child !== "string" && (name === undefined || child.name === name))

/** The element reached by following the first child of each name. */
export const childAt = (element: XmlElement | undefined, ...path: ReadonlyArray<string>): XmlElement | undefined => {
  let at = element
  for (const name of path) {
    at = at?.children.find((child): child is XmlElement => typeof child !== "string" && child.name === name)
  }
  return at
}

/** All elements of that name below an element, in document order, except for those inside another match. */
export const descendants = (element: XmlElement, name: string): ReadonlyArray<XmlElement> =>
  childElements(element).flatMap((child) => child.name === name ? [child] : descendants(child, name))

/** Whether an attribute is true by XML Schema's `boolean`. */
export const isTrue = (value: string | undefined): boolean => value === "1" || value === "true"

/** Whether an attribute is false by XML Schema's `boolean`; an absent one is neither true nor false. */
export const isFalse = (value: string | undefined): boolean => value === "0" || value === "false"

/** All character data below an element. */
export const textContent = (element: XmlElement | undefined): string =>
  (element?.children ?? []).map((child) => typeof child === "string" ? child : textContent(child)).join("")

/** Decodes by byte order mark, then by the XML declaration, else as UTF-8. */
export const decodeXml = (bytes: Uint8Array): string => Array.from(decodeChunks(bytes)).join("")

function* decodeChunks(bytes: Uint8Array): Generator<string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const encoding = xmlEncoding(buffer)
  if (encoding !== "utf-8") {
    yield decoderFor(encoding).decode(buffer)
    return
  }
  let start = buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf ? 3 : 0
  while (start < buffer.length) {
    let end = Math.min(buffer.length, start + chunkBytes)
    while (end < buffer.length && end > start + 1 && ((buffer[end] ?? 0) & 0xc0) === 0x80) end--
    yield buffer.toString("utf8", start, end)
    start = end
  }
}

/** The charset that a mark or the declaration names, in lower case. */
export const xmlEncoding = (buffer: Buffer): string => {
  if (buffer[0] === 0xff && buffer[1] === 0xfe) return "utf-16le"
  if (buffer[0] === 0xfe && buffer[1] === 0xff) return "utf-16be"
  if (buffer[0] === 0x3c && buffer[1] === 0) return "utf-16le"
  if (buffer[0] === 0 && buffer[1] === 0x3c) return "utf-16be"
  const declared = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)["']/.exec(buffer.toString("latin1", 0, 300))
  const name = declared?.[1]?.toLowerCase()
  return name === undefined || name === "utf8" || name.startsWith("utf-16") ? "utf-8" : name
}

const decoderFor = (encoding: string): InstanceType<typeof TextDecoder> => {
  try {
    return new TextDecoder(encoding)
  } catch {
    return new TextDecoder()
  }
}

interface Scope {
  /** Canonical prefix by the file's prefix; the default namespace is under "". */
  readonly prefixes: ReadonlyMap<string, string>
  /** Whether any prefix of the file differs from the canonical one. */
  readonly renames: boolean
  readonly names: Map<string, string>
}

const rootScope: Scope = { prefixes: new Map(), renames: false, names: new Map() }

const enter = (outer: Scope, attributes: XmlAttributes): Scope => {
  let prefixes: Map<string, string> | undefined
  for (const key in attributes) {
    if (!key.startsWith("xmlns")) continue
    const prefix = key === "xmlns" ? "" : key.slice(6)
    const canonical = canonicalPrefixes.get(attributes[key] ?? "") ?? prefix
    if ((outer.prefixes.get(prefix) ?? prefix) === canonical) continue
    prefixes ??= new Map(outer.prefixes)
    prefixes.set(prefix, canonical)
  }
  if (prefixes === undefined) return outer
  const renames = Array.from(prefixes).some(([prefix, canonical]) => prefix !== "" && prefix !== canonical)
  return { prefixes, renames, names: new Map() }
}

const canonicalName = (scope: Scope, raw: string): string => {
  if (scope.prefixes.size === 0) return raw
  let name = scope.names.get(raw)
  if (name === undefined) {
    const colon = raw.indexOf(":")
    const prefix = scope.prefixes.get(colon < 0 ? "" : raw.slice(0, colon))
    const local = raw.slice(colon + 1)
    if (prefix === undefined) name = raw
    else name = prefix === "" ? local : `${prefix}:${local}`
    scope.names.set(raw, name)
  }
  return name
}

const canonicalAttributes = (scope: Scope, attributes: XmlAttributes): XmlAttributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [key.includes(":") ? canonicalName(scope, key) : key, value])
  )
