import { hash } from "node:crypto"
import type { Chunking, Cutting } from "../../domain/Chunking.ts"
import type { MetadataRules } from "../../domain/MetadataRules.ts"
import type { Parsing } from "../../domain/Parsing.ts"
import type { SourceItem } from "../../ports/Connector.ts"
import type { Engine } from "../../ports/Engine.ts"

/**
 * Determines whether a stored file is current. It has three parts, each a hash: the bytes; the facts that can change
 * without them (name, address, metadata, permissions); and the settings they were stored with (parser, chunking,
 * embedder). Printed as `{content}.{facts}.{settings}`.
 */
export interface Fingerprint {
  readonly content: string
  readonly facts: string
  readonly settings: string
}

/** 128 bits: no two documents of a corpus collide by chance. */
const digest = (data: string | Uint8Array): string => hash("sha256", data, "hex").slice(0, 32)

export const contentHash = (content: Uint8Array): string => digest(content)

/** Stands for the content of files that the engine fetches itself: their bytes are not seen here. */
export const revisionHash = (revision: string): string => digest(`revision ${revision}`)

export const pathHash = (path: string): string => digest(path)

const sorted = (record: Readonly<Record<string, string>>) => Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))

/** Modification times carry no meaning: a checkout changes those of all files. */
const meaningful = ({ modifiedTime: _, ...metadata }: Readonly<Record<string, string>> = {}) => metadata

/**
 * Hash of the facts that the engine keeps: others need not be updated. Where rules make metadata, the second half is the
 * hash of the rules: new rules change nothing else of a file.
 *
 * @param rules {@link rulesHash}
 */
export const factsHash = (item: SourceItem, engine: Pick<Engine["Service"], "immutableFiles">, rules: string | undefined): string => {
  const facts = digest(JSON.stringify(
    engine.immutableFiles === true ? [item.displayName] : [
      item.displayName,
      item.uri,
      sorted(meaningful(item.metadata)),
      item.permissions === undefined ? null : [item.permissions.public, item.permissions.principals.toSorted()]
    ]
  ))
  return rules === undefined ? facts : facts.slice(0, half) + rules
}

const half = 16

/** Hash of the rules for metadata. */
export const rulesHash = (rules: MetadataRules): string =>
  digest(JSON.stringify(Object.entries(rules).sort(([a], [b]) => (a < b ? -1 : 1)))).slice(0, half)

/** Whether two files are equal apart from metadata made by rules. */
export const sameButRules = (a: Fingerprint, b: Fingerprint): boolean =>
  a.content === b.content && a.settings === b.settings && sameFacts(a.facts, b.facts)

/** Whether facts are equal, apart from rules. */
export const sameFacts = (a: string, b: string): boolean => a.slice(0, half) === b.slice(0, half)

/** Whether the rules are equal. */
export const sameRules = (a: Fingerprint, b: Fingerprint): boolean => a.facts.slice(half) === b.facts.slice(half)

/** The fingerprint of a stored file whose metadata is unknown. */
export const undescribed = (fingerprint: string): string => {
  const { content, facts, settings } = parse(fingerprint)
  return format({ content, facts: facts.slice(0, half).padEnd(2 * half, "0"), settings })
}

export const settingsHash = (
  engineSignature: string,
  settings: {
    readonly chunking: Chunking
    readonly cutting?: Cutting | undefined
    readonly parsing: Parsing
    readonly embeddingModel: string | undefined
  }
): string => {
  const { chunking, cutting, embeddingModel, parsing } = settings
  // A rate is not part of what gets stored.
  const parser = parsing._tag === "default"
    ? [parsing._tag]
    : parsing._tag === "layout"
    ? [parsing._tag, parsing.processor]
    : [parsing._tag, parsing.model, parsing.prompt ?? null]
  return digest(JSON.stringify([
    engineSignature,
    [cutting?.signature ?? chunking.strategy, chunking.size, chunking.overlap],
    parser,
    embeddingModel ?? null
  ]))
}

/** Hash of the settings of a file that a custom parser reads. */
export const parsedSettings = (settings: string, parser: string): string => digest(`${settings} ${parser}`)

export const format = (f: Fingerprint): string => `${f.content}.${f.facts}.${f.settings}`

/** Fingerprint of an item that was not read. */
export const none = format({ content: "", facts: "", settings: "" })

export const parse = (text: string): Fingerprint => {
  const [content = "", facts = "", settings = ""] = text.split(".")
  return { content, facts, settings }
}
