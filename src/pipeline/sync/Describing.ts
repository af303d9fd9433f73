import { Effect, Stream } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import { type DocumentError, ServiceError } from "../../domain/Errors.ts"
import type { DataSchema, FileMetadata, NewFileMetadata } from "../../domain/FileMetadata.ts"
import type { DataSchemaSpec } from "../../domain/MetadataValue.ts"
import { describe, type Described, describing, isRuleId, type MetadataRules, ruleId, schemasOf, unfit } from "../../domain/MetadataRules.ts"
import type { RagFileName } from "../../domain/RagFile.ts"
import { lastSegment } from "../../domain/ResourceNames.ts"
import type { SourceItem } from "../../ports/Connector.ts"
import { Engine } from "../../ports/Engine.ts"
import type { LedgerEntry } from "../../ports/Ledger.ts"
import { pages } from "../../ports/Paging.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { Session, type SyncSpec } from "./Session.ts"
import type { Change } from "./Target.ts"

/** Page size of listings of keys and metadata. */
const pageSize = 100

/** Data schemas that the pipeline's rules need in the corpus, and those of earlier rules that they replace. */
interface SchemaWork {
  readonly make: ReadonlyArray<DataSchemaSpec & { readonly id: string }>
  readonly instead: ReadonlyArray<DataSchema>
}

const typeText = ({ element, type }: Pick<DataSchemaSpec, "element" | "type">): string =>
  element === undefined ? type : `${type} of ${element}`

const schemaWork = Effect.fnUntraced(function*(corpus: CorpusName, rules: MetadataRules) {
  const { metadata } = yield* Engine
  if (metadata === undefined) {
    return yield* new ServiceError({
      code: "UNIMPLEMENTED",
      message: "metadata: this engine keeps no metadata by keys",
      fix: "leave metadata out, or run on another engine"
    })
  }
  const there = new Map(
    (yield* Stream.runCollect(pages((page) => metadata.store.listSchemas(corpus, page), pageSize))).map((schema) => [schema.key, schema])
  )
  const make = schemasOf(rules).filter((wanted) => {
    const found = there.get(wanted.key)
    return found === undefined || typeText(found) !== typeText(wanted) || found.search === "none"
  })
  const instead = make.flatMap(({ key }) => there.get(key) ?? [])
  const foreign = instead.find(({ name }) => !isRuleId(lastSegment(name)))
  if (foreign !== undefined) {
    const field = `metadata.${foreign.key}`
    return yield* new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `${field}: the corpus has this key as ${typeText(foreign)}${
        foreign.search === "none" ? " that is not searched" : ""
      }, and the rule makes ${typeText(rules[foreign.key] ?? foreign)}`,
      fix: `give it that type, take another key, or delete the data schema ${foreign.name}`
    })
  }
  return { make, instead } satisfies SchemaWork
})

/** Lists what a run would change about the keys of a corpus. */
export const schemaChanges = Effect.fn("sync.schemaChanges")(function*(corpus: CorpusName, { metadata }: Pick<SyncSpec, "metadata">) {
  if (metadata === undefined) return []
  const { instead, make } = yield* schemaWork(corpus, metadata)
  return make.map((schema): Change => {
    const before = instead.find(({ key }) => key === schema.key)
    return {
      field: `metadata.${schema.key}`,
      from: before === undefined ? "" : typeText(before),
      to: typeText(schema),
      forcesReplacement: false
    }
  })
})

/** Creates the typed keys of the pipeline's rules in the corpus. Keys of former rules stay. */
export const readySchemas = Effect.fn("sync.readySchemas")(function*(corpus: CorpusName, { metadata: rules }: Pick<SyncSpec, "metadata">) {
  if (rules === undefined) return
  const { instead, make } = yield* schemaWork(corpus, rules)
  const { metadata } = yield* Engine
  if (metadata === undefined || make.length === 0) return
  if (instead.length > 0) yield* metadata.store.deleteSchemas(corpus, instead.map(({ name }) => name))
  yield* metadata.store.createSchemas(corpus, make)
})

/** Fails where an item breaks a strict rule. */
const held = (described: Described): Effect.Effect<Described, DocumentError> =>
  described.fails ? Effect.fail(unfit(described)) : Effect.succeed(described)

/** Reads an item: its bytes, or Markdown made of them, with a name and type to match. */
type Read = Effect.Effect<
  { readonly content: Uint8Array; readonly name?: string; readonly mimeType?: string },
  ServiceError | DocumentError
>

/** Metadata that the rules make of an item, from its content. Without rules: nothing, which replaces what earlier rules made. */
export const describeWhole = Effect.fn("sync.describe")(function*(item: SourceItem, read: Read) {
  const { metadata } = yield* Engine
  const { spec } = yield* Session
  const { describe, properties: names } = describing(spec.metadata ?? {}, item.path)
  const { displayName, mimeType, path } = item
  const name = /\.[A-Za-z0-9]{1,8}$/.test(displayName) ? displayName : path
  if (metadata === undefined || names.length === 0) return yield* held(describe({}))
  return yield* Effect.flatMap(read, (file) => metadata.properties({ name, mimeType, ...file }, names)).pipe(
    Effect.map(describe),
    Effect.catchTag("DocumentError", ({ message }) => {
      // The engine may be able to read what cannot be read here.
      const described = describe({})
      const fails = Object.values(spec.metadata ?? {}).some(({ property, strict }) => strict && property !== undefined)
      return Effect.succeed<Described>({ ...described, broken: [`what it says of itself cannot be read: ${message}`], fails })
    }),
    Effect.flatMap(held)
  )
})

/** New metadata of a file whose content is unchanged; undefined where the metadata is unchanged too. */
export const describeAgain = Effect.fnUntraced(function*(
  item: SourceItem,
  before: LedgerEntry | undefined,
  now: LedgerEntry,
  read: Read
) {
  const { metadata } = yield* Engine
  const { spec } = yield* Session
  if (metadata === undefined) return undefined
  const rules = spec.metadata
  const sameRules = rules !== undefined && before !== undefined &&
    Fingerprint.sameRules(Fingerprint.parse(before.fingerprint), Fingerprint.parse(now.fingerprint))
  if (!sameRules) return yield* describeWhole(item, read)
  return before.path === now.path ? undefined : yield* held(describe(rules, item.path, undefined))
})

/** Metadata of a file that people wrote, not rules. */
export const writtenByPeople = Effect.fnUntraced(function*(file: RagFileName | undefined) {
  const { metadata } = yield* Engine
  const { spec } = yield* Session
  if (metadata === undefined || spec.metadata === undefined || file === undefined) return []
  const all = yield* listMetadata(file).pipe(Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.succeed([])))
  return all.filter(({ name }) => !isRuleId(lastSegment(name)))
})

const listMetadata = Effect.fnUntraced(function*(file: RagFileName) {
  const { metadata } = yield* Engine
  return metadata === undefined ? [] : yield* Stream.runCollect(pages((page) => metadata.store.list(file, page), pageSize))
})

/** Metadata that rules make of a file which the engine has fetched itself; see {@link cannotDescribe}. */
export const describeByPath = ({ metadata }: Pick<SyncSpec, "metadata">, path: string): Described | undefined =>
  metadata === undefined ? undefined : describe(metadata, path, {})

/**
 * Writes the metadata of a file, where the engine does not write it with the file. Values that are already right are not
 * written again, so repeating this is harmless.
 *
 * @param kept metadata that people wrote of the version that this file replaced
 */
export const writeDescribed = Effect.fn("sync.writeDescribed")(function*(
  file: RagFileName,
  { keys, values, whole }: Described,
  kept: ReadonlyArray<FileMetadata> = [],
  fresh = false
) {
  const { metadata } = yield* Engine
  if (metadata === undefined) return
  const { store } = metadata
  const there = fresh ? [] : yield* listMetadata(file)
  const byKey = new Map(there.map((one) => [one.key, one]))
  const wanted = new Map(values.map((spec) => [spec.key, spec]))
  const gone = there.filter((one) => !wanted.has(one.key) && (keys.includes(one.key) || (whole && isRuleId(lastSegment(one.name)))))
  if (gone.length > 0) yield* store.delete(file, gone.map(({ name }) => name))
  const make: Array<NewFileMetadata> = []
  for (const spec of values) {
    const found = byKey.get(spec.key)
    if (found === undefined) make.push({ ...spec, id: ruleId(spec.key) })
    else if (JSON.stringify(found.value) !== JSON.stringify(spec.value)) yield* store.update(found.name, spec)
  }
  for (const { key, value } of kept) if (!keys.includes(key) && !byKey.has(key)) make.push({ key, value })
  if (make.length > 0) yield* store.create(file, make)
})

/** The rules that a file breaks, which is stored all the same. */
export const unfitText = (described: Described | undefined): string | undefined =>
  described === undefined || described.broken.length === 0 ? undefined : described.broken.join("; ")

/** Why the rules cannot be applied to a source whose files the engine fetches itself: no bytes and no paths are known here. */
export const cannotDescribe = (
  { metadata: rules = {} }: Pick<SyncSpec, "metadata">,
  listed: boolean
): ServiceError | undefined => {
  const keys = Object.entries(rules).filter(([, { property, strict }]) => !listed || property !== undefined || strict).map(([key]) => key)
  if (keys.length === 0) return undefined
  return new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `${keys.map((key) => `metadata.${key}`).join(", ")} cannot be made of files that the service ${
      listed ? "fetches" : "lists and fetches"
    } by itself`,
    fix: listed
      ? "of those, only rules by path that are not strict can be made: leave the others or the source out, or the source's staging"
      : "leave metadata or the source out, or give this machine the credentials to list the source"
  })
}
