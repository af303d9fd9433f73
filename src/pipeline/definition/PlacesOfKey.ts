import { SchemaAST } from "effect"
import { Definition } from "./Definition.ts"
import type { ValuePath } from "./PipelineInvalid.ts"

/** Places where a pipeline can have a key of this name, such as `stages[].retrieve`. */
export const placesOfKey = (key: string): ReadonlyArray<string> => {
  known ??= collect(SchemaAST.toEncoded(Definition.ast), "")
  return known.filter(([name, place]) => name === key && place !== "").map(([, place]) => place)
}

/** The nearest places within the value at `path` that can have a key of this name, relative to it, such as `model` for `openai`. */
export const placesWithin = (path: ValuePath, key: string): ReadonlyArray<string> => {
  const here = path.flatMap((part, at) => typeof part === "number" ? [] : [typeof path[at + 1] === "number" ? `${part}[]` : part])
  const within = placesOfKey(key)
    .map((place) => place.split("."))
    .filter((place) => place.length > here.length && here.every((part, at) => place[at] === part || place[at] === id))
    .map((place) => place.slice(here.length))
  const depth = Math.min(...within.map(({ length }) => length))
  return [...new Set(within.filter(({ length }) => length === depth).map((place) => place.join(".")))]
}

/** The key of an entry whose name the file chooses. */
const id = "{id}"

let known: ReadonlyArray<readonly [key: string, place: string]> | undefined

const collect = (ast: SchemaAST.AST, place: string): ReadonlyArray<readonly [key: string, place: string]> => {
  if (SchemaAST.isUnion(ast)) return ast.types.flatMap((type) => collect(type, place))
  if (SchemaAST.isArrays(ast)) return ast.rest.flatMap((item) => collect(item, `${place}[]`))
  if (!SchemaAST.isObjects(ast)) return []
  const inside = (key: string) => place === "" ? key : `${place}.${key}`
  return [
    // Keys that `engines` repeats are better looked up at their own place.
    ...ast.propertySignatures.filter(({ name }) => name !== "engines").flatMap(({ name, type }) => [
      [String(name), place] as const,
      ...collect(type, inside(String(name)))
    ]),
    ...ast.indexSignatures.flatMap(({ type }) => collect(type, inside(id)))
  ]
}
