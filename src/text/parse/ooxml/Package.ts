import type { ParsedDocument } from "../../../domain/Document.ts"
import type { Limits } from "../../Prepared.ts"
import { oneLine } from "../BlockSink.ts"
import { isCompound } from "../Compound.ts"
import { type Embedded, embeddedInPackage } from "../Embedded.ts"
import { languageCode } from "../LanguageCode.ts"
import { resolvePart } from "../PartPath.ts"
import type { PropertyList } from "../PropertyList.ts"
import { ReadFailure } from "../ReadFailure.ts"
import { eachElement, scanXml, textContent, type XmlElement } from "../Xml.ts"
import { openZip, type Zip } from "../Zip.ts"

/** A relationship of a part, with its target resolved. */
export interface Relationship {
  readonly id: string
  /** Last segment of the type's URI: `styles`, `slide`, `comments`. Strict and transitional files have the same. */
  readonly type: string
  /** Part name without a leading slash. */
  readonly target: string
}

/** An Office Open XML package (ECMA-376 part 2). The case of part names is ignored, as the standard requires. */
export interface OfficePackage {
  readonly part: (name: string) => Uint8Array | undefined
  /** Relationships of a part inside the package, or of the package itself for "". */
  readonly relationships: (part: string) => ReadonlyArray<Relationship>
  /** The first relationship of that type. */
  readonly related: (part: string, type: string) => Relationship | undefined
  /** The content of the part that the first relationship of that type leads to. */
  readonly relatedPart: (part: string, type: string) => Uint8Array | undefined
  /** Name of the part that a relationship leads to. */
  readonly target: (part: string, id: string | undefined) => string | undefined
  /** Name of the main document part. Fails with `corrupt` where there is none. */
  readonly main: string
  readonly facts: Pick<ParsedDocument, "title" | "author" | "language">
  readonly embedded: Embedded
}

/**
 * Opens a package. Its main part is at `wellKnownMain` when no relationship leads to one. `said` receives its core, extended and custom
 * properties.
 */
export const openPackage = (bytes: Uint8Array, limits: Limits, wellKnownMain: string, said?: PropertyList): OfficePackage => {
  refuseCompoundFile(bytes)
  const zip = openZip(bytes, limits)
  const names = new Map(zip.names().map((name) => [name.toLowerCase(), name]))
  const part = (name: string): Uint8Array | undefined => {
    const stored = names.get(name.toLowerCase())
    return stored === undefined ? undefined : zip.read(stored)
  }
  const cache = new Map<string, ReadonlyArray<Relationship>>()
  const relationships = (source: string): ReadonlyArray<Relationship> => {
    let found = cache.get(source)
    if (found === undefined) {
      found = readRelationships(part(relationshipsPart(source)), source)
      cache.set(source, found)
    }
    return found
  }
  const related = (source: string, type: string): Relationship | undefined =>
    relationships(source).find((relationship) => relationship.type === type)
  const main = [related("", "officeDocument")?.target, wellKnownMain]
    .find((name) => name !== undefined && names.has(name.toLowerCase()))
  if (main === undefined) throw notAPackage(zip)
  const properties = related("", "core-properties")?.target ?? "docProps/core.xml"
  const relatedPart = (source: string, type: string): Uint8Array | undefined => part(related(source, type)?.target ?? "")
  const target = (source: string, id: string | undefined): string | undefined =>
    relationships(source).find((relationship) => relationship.id === id)?.target
  if (said !== undefined) {
    addProperties(part(properties), said)
    addProperties(relatedPart("", "extended-properties"), said)
    addProperties(relatedPart("", "custom-properties"), said)
  }
  return {
    part,
    relationships,
    related,
    relatedPart,
    target,
    main,
    facts: coreProperties(part(properties)),
    embedded: embeddedInPackage(zip)
  }
}

/** Reports a protected file as such: Office wraps it in the container of its old binary formats ([MS-OFFCRYPTO] 2.3.4). */
const refuseCompoundFile = (bytes: Uint8Array): void => {
  if (!isCompound(bytes)) return
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (file.includes(Buffer.from("EncryptedPackage", "utf16le"))) {
    throw new ReadFailure("encrypted", "the document is protected by a password")
  }
  throw new ReadFailure("unsupported", "a binary Office file from before 2007")
}

const notAPackage = (zip: Zip): ReadFailure =>
  zip.has("[Content_Types].xml")
    ? new ReadFailure("corrupt", "the package has no main document")
    : new ReadFailure("corrupt", "not an Office Open XML package")

const relationshipsPart = (source: string): string => {
  const slash = source.lastIndexOf("/") + 1
  return `${source.slice(0, slash)}_rels/${source.slice(slash)}.rels`
}

const readRelationships = (bytes: Uint8Array | undefined, source: string): ReadonlyArray<Relationship> => {
  const found: Array<Relationship> = []
  if (bytes === undefined) return found
  scanXml(bytes, {
    open(name, { Id, Type, Target, TargetMode }) {
      if (name !== "rel:Relationship" || TargetMode === "External") return
      if (Id === undefined || Type === undefined || Target === undefined) return
      found.push({ id: Id, type: Type.slice(Type.lastIndexOf("/") + 1), target: resolvePart(source, Target) })
    }
  })
  return found
}

/** Adds simple properties by their names, custom ones by the names their author chose. */
const addProperties = (bytes: Uint8Array | undefined, said: PropertyList): void => {
  if (bytes === undefined) return
  eachElement(bytes, (_, parent) => /(?:^|:)(?:coreProperties|Properties)$/.test(parent ?? ""), (element) => {
    const own = element.attributes["name"]
    // A list of titles or counts is a structure of elements.
    if (own !== undefined || element.children.every((child) => typeof child === "string")) {
      said.addNew(own ?? localName(element), oneLine(textContent(element)))
    }
  })
}

const localName = ({ name }: XmlElement): string => name.slice(name.indexOf(":") + 1)

/** Titles that programs write when nobody gave one. */
const placeholderTitle = /^(?:powerpoint[ -]pr.sentation|pr.sentation powerpoint|slide 1|folie 1|untitled|microsoft word - .*)$/i

const coreProperties = (bytes: Uint8Array | undefined): OfficePackage["facts"] => {
  if (bytes === undefined) return {}
  const properties = new Map<string, string>()
  eachElement(bytes, (name) => name.startsWith("dc:"), (element) => {
    if (!properties.has(element.name)) properties.set(element.name, oneLine(textContent(element)))
  })
  const title = properties.get("dc:title") ?? ""
  const author = properties.get("dc:creator") ?? ""
  const language = languageCode(properties.get("dc:language"))
  return {
    title: title === "" || placeholderTitle.test(title) ? undefined : title,
    author: author === "" ? undefined : author,
    language
  }
}
