import { Context } from "effect"
import { type AnyChunkerDefinition, isChunkerDefinition } from "../ports/Chunker.ts"
import { type AnyParserDefinition, isParserDefinition } from "../ports/Parser.ts"
import { type AnyConnectorDefinition, isConnectorDefinition } from "../ports/Source.ts"
import { type AnyStage, type AnyStageDefinition, isStageDefinition } from "./stages/Stage.ts"

/** Connectors, parsers, chunkers and stages that do not come with Sluice, by the keys under which a file writes them. */
export interface Extensions {
  readonly connectors: Readonly<Record<string, AnyConnectorDefinition>>
  readonly parsers: Readonly<Record<string, AnyParserDefinition>>
  readonly chunkers: Readonly<Record<string, AnyChunkerDefinition>>
  readonly stages: Readonly<Record<string, AnyStageDefinition>>
  /** Stages that code composed, used instead of those of the definition: custom functions are among them. */
  readonly composed?: { readonly toContexts: AnyStage; readonly toAnswer: AnyStage }
}

export const noExtensions: Extensions = { connectors: {}, parsers: {}, chunkers: {}, stages: {} }

/** Extensions of the running pipeline. Default: none. */
export const ExtensionsInUse = Context.Reference<Extensions>("sluice/pipeline/ExtensionsInUse", { defaultValue: () => noExtensions })

/** The definitions among a module's exports, by what they define. */
const definitionsIn = (exports: object) => {
  const values: ReadonlyArray<unknown> = Object.values(exports)
  return {
    connectors: values.filter(isConnectorDefinition),
    parsers: values.filter(isParserDefinition),
    chunkers: values.filter(isChunkerDefinition),
    stages: values.filter(isStageDefinition)
  }
}

/** Collects every definition among a module's exports. */
export const extensionsIn = (exports: object): Extensions => {
  const { chunkers, connectors, parsers, stages } = definitionsIn(exports)
  return { connectors: byKind(connectors), parsers: byKind(parsers), chunkers: byKind(chunkers), stages: byKind(stages) }
}

/** The same definitions, each with its name: one of a name would stand in for another. */
export const namedDefinitionsIn = (exports: object): ReadonlyArray<readonly [name: string, definition: unknown]> =>
  Object.entries(definitionsIn(exports)).flatMap(([what, definitions]) =>
    definitions.map((definition) => [`${what.slice(0, -1)} ${definition.kind}`, definition] as const)
  )

const byKind = <A extends { readonly kind: string }>(definitions: ReadonlyArray<A>): Readonly<Record<string, A>> =>
  Object.fromEntries(definitions.map((definition) => [definition.kind, definition]))

export const mergeExtensions = (all: ReadonlyArray<Extensions>): Extensions => ({
  connectors: Object.assign({}, ...all.map(({ connectors }) => connectors)),
  parsers: Object.assign({}, ...all.map(({ parsers }) => parsers)),
  chunkers: Object.assign({}, ...all.map(({ chunkers }) => chunkers)),
  stages: Object.assign({}, ...all.map(({ stages }) => stages))
})
