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

/** Collects every definition among a module's exports. */
export const extensionsIn = (exports: object): Extensions => {
  const values = Object.values(exports)
  return {
    connectors: Object.fromEntries(values.filter(isConnectorDefinition).map((definition) => [definition.kind, definition])),
    parsers: Object.fromEntries(values.filter(isParserDefinition).map((definition) => [definition.kind, definition])),
    chunkers: Object.fromEntries(values.filter(isChunkerDefinition).map((definition) => [definition.kind, definition])),
    stages: Object.fromEntries(values.filter(isStageDefinition).map((definition) => [definition.kind, definition]))
  }
}

/** The same definitions, each with its name: one of a name would stand in for another. */
export const definitionsIn = (exports: object): ReadonlyArray<readonly [name: string, definition: unknown]> =>
  Object.values(exports).flatMap((value: unknown) => [
    ...(isConnectorDefinition(value) ? [[`connector ${value.kind}`, value] as const] : []),
    ...(isParserDefinition(value) ? [[`parser ${value.kind}`, value] as const] : []),
    ...(isChunkerDefinition(value) ? [[`chunker ${value.kind}`, value] as const] : []),
    ...(isStageDefinition(value) ? [[`stage ${value.kind}`, value] as const] : [])
  ])

export const mergeExtensions = (all: ReadonlyArray<Extensions>): Extensions => ({
  connectors: Object.assign({}, ...all.map(({ connectors }) => connectors)),
  parsers: Object.assign({}, ...all.map(({ parsers }) => parsers)),
  chunkers: Object.assign({}, ...all.map(({ chunkers }) => chunkers)),
  stages: Object.assign({}, ...all.map(({ stages }) => stages))
})
