import { Schema, type SchemaAST } from "effect"
import { ServiceError } from "../domain/Errors.ts"

declare const defines: unique symbol

/**
 * A kind of connector, parser, chunker or stage that pipelines may use, marked with `What` it defines. Called with settings, it
 * makes one of that kind.
 */
export interface Definition<What extends string, Written, Made> {
  (settings: Written): Made
  readonly [defines]: What
  /** Key under which a pipeline file writes it. */
  readonly kind: string
}

/** What one pipeline uses: a definition, and the settings it is used with. */
export interface Use<D> {
  readonly definition: D
  /** Settings as a pipeline file writes them. */
  readonly settings: unknown
}

/** By name rather than by identity: the module of a definition may have its own copy of this package. */
const markOf = (what: string): symbol => Symbol.for(`sluice/${what}Definition`)

type WhatOf<D> = D extends Definition<infer What, never, unknown> ? What : never

/** The fields of a definition, besides its call and its mark. */
export type Facts<D> = Omit<D, typeof defines>

/** Marks a function as a definition, with these facts. */
export const marked = <D extends Definition<string, never, unknown>>(
  what: WhatOf<D>,
  call: (settings: never) => unknown,
  facts: Facts<D>
): D => Object.assign(call, { [markOf(what)]: true }, facts) as unknown as D // the mark stands for `defines`, which only types have

/** Kinds are keys of files, and the schemes of addresses. */
const kindForm = /^[a-z][a-z\d-]*$/i

/**
 * Makes a definition whose calls return a {@link Use} of it. `settingsOf` says what a call's argument is written as. Throws a `ServiceError`
 * where the kind is not of the form that kinds have.
 */
export const definitionOf = <D extends Definition<string, never, Use<unknown>>>(
  what: WhatOf<D>,
  facts: Facts<D>,
  settingsOf: (written: unknown) => unknown = (written) => written
): D => {
  const { kind }: { readonly kind: string } = facts
  if (!kindForm.test(kind)) {
    const fix = "write letters, digits and -, starting with a letter"
    throw ServiceError.invalid("kind", `${JSON.stringify(kind)} is no name of a kind`, fix)
  }
  const definition: D = marked<D>(what, (written: never): Use<D> => ({ definition, settings: settingsOf(written) }), facts)
  return definition
}

/** Whether a value is a definition of this, from whichever copy of this package. */
export const isDefinitionOf = <D extends Definition<string, never, unknown>>(what: WhatOf<D>) => (value: unknown): value is D =>
  typeof value === "function" && markOf(what) in value

/** The schema of a definition's settings: its own fields and those that every definition of its sort has, with rules between them. */
export const settingsSchema = <F extends Schema.Struct.Fields>(
  fields: F,
  common: Schema.Struct.Fields,
  description: string,
  rules: ReadonlyArray<SchemaAST.Check<never>> = []
): Schema.Codec<Schema.Struct.Type<F>, unknown> => {
  const struct = Schema.Struct({ ...fields, ...common }).annotate({ description })
  const [first, ...rest] = rules as ReadonlyArray<SchemaAST.Check<unknown>> // of the fields, which are all there
  return (first === undefined ? struct : struct.check(first, ...rest)) as unknown as Schema.Codec<Schema.Struct.Type<F>, unknown>
}
