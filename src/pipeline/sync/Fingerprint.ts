import { hash } from "node:crypto"
import type { Chunking, Cutting } from "../../domain/Chunking.ts"
import type { MetadataRules } from "../../domain/MetadataRules.ts"
import type { Parsing } from "../../domain/Parsing.ts"
import type { SourceItem } from "../../ports/Connector.ts"
import type { Engine } from "../../ports/Engine.ts"

/**
 * What decides whether a stored file is current, in three parts, each a hash: the bytes; the facts that can change
 * without them (name, address, metadata, permissions); and the settings they were stored under (parser, chunking,
 * embedder). Printed `{content}.{facts}.{settings}`.
 */
export interface Fingerprint {
  readonly content: string
  readonly facts: string
  readonly settings: string
}

/** 128 bits: no two of a corpus's documents meet by chance. */
const digest = (data: string | Uint8Array): string => hash("sha256", data, "hex").slice(0, 32)

export const contentHash = (content: Uint8Array): string => digest(content)

/** Stands for the content of what the engine fetches by itself: its bytes never come by here. */
export const revisionHash = (revision: string): string => digest(`revision ${revision}`)

export const pathHash = (path: string): string => digest(path)

const sorted = (record: Readonly<Record<string, string>>) => Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))

/** Times move without meaning anything: a checkout touches every file. */
const meaningful = ({ modifiedTime: _, ...metadata }: Readonly<Record<string, string>> = {}) => metadata

/**
 * Of the facts that the engine keeps: those it does not keep need not be brought up to date. Where rules make metadata, the
 * second half is theirs: new rules change nothing else of a file.
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

/** Of what makes metadata of a file. */
export const rulesHash = (rules: MetadataRules): string =>
  digest(JSON.stringify(Object.entries(rules).sort(([a], [b]) => (a < b ? -1 : 1)))).slice(0, half)

/** Whether files differ in what their rules make of them, at most. */
export const sameButRules = (a: Fingerprint, b: Fingerprint): boolean =>
  a.content === b.content && a.settings === b.settings && sameFacts(a.facts, b.facts)

/** Whether facts are the same, whatever the rules. */
export const sameFacts = (a: string, b: string): boolean => a.slice(0, half) === b.slice(0, half)

/** Whether the rules were the same. */
export const sameRules = (a: Fingerprint, b: Fingerprint): boolean => a.facts.slice(half) === b.facts.slice(half)

/** Of a file that is stored, and of which nobody knows what metadata it has. */
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

/** The same of a file that a parser of the pipeline's own reads. */
export const parsedSettings = (settings: string, parser: string): string => digest(`${settings} ${parser}`)

export const format = (f: Fingerprint): string => `${f.content}.${f.facts}.${f.settings}`

/** Of what was not read. */
export const none = format({ content: "", facts: "", settings: "" })

export const parse = (text: string): Fingerprint => {
  const [content = "", facts = "", settings = ""] = text.split(".")
  return { content, facts, settings }
}
