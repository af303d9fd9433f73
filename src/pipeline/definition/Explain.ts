import { SchemaAST, type SchemaIssue } from "effect"
import { fixAnnotation, earlyAnnotation } from "../../domain/settings/Rules.ts"
import type { Problem, ValuePath } from "./PipelineInvalid.ts"
import { suggest } from "./Suggest.ts"
import { placesOfKey, placesWithin } from "./PlacesOfKey.ts"

/** A problem and, where a text stands in the place of a number or a boolean and reads as one, that value. */
export interface Finding extends Problem {
  readonly meant?: number | boolean
}

/** Describes in plain words what Schema found wrong with `value`. Never repeats a value: it may be a secret in the wrong place. */
export const explain = (issue: SchemaIssue.Issue, value: unknown): ReadonlyArray<Finding> => visit(issue, [], value, [])

/** `bare` are the names that may stand in the place of an object here. */
const visit = (
  issue: SchemaIssue.Issue,
  path: ValuePath,
  value: unknown,
  bare: ReadonlyArray<string>
): ReadonlyArray<Finding> => {
  switch (issue._tag) {
    case "Pointer": {
      const keys = issue.path.map((key) => typeof key === "number" ? key : String(key))
      return visit(issue.issue, [...path, ...keys], keys.reduce(child, value), bare)
    }
    case "Encoding":
      return visit(issue.issue, path, value, bare)
    case "Composite":
      return [
        ...issue.issues.flatMap((inner) => visit(inner, path, value, bare)),
        ...earlyProblems(issue, path, value)
      ]
    case "Filter": {
      const fix = issue.filter.annotations?.[fixAnnotation]
      const rule = issue.filter.annotations?.message ?? `must be ${issue.filter.annotations?.expected ?? "valid"}`
      return visit(issue.issue, path, value, bare).map((finding) => ({
        ...finding,
        rule: finding.rule === "" ? rule : finding.rule,
        ...(typeof fix === "string" ? { fix } : {})
      }))
    }
    case "InvalidValue":
      return [{ path, rule: issue.annotations?.message ?? "" }]
    case "AnyOf": {
      const names = literals(issue.ast)
      return issue.issues.length === 0
        ? [wrongAlternative(issue.ast, path, value)]
        : issue.issues.flatMap((inner) => visit(inner, path, value, names))
    }
    case "InvalidType":
      return [wrongType(issue.ast, path, value)]
    case "MissingKey":
      return [{ path, rule: "is required", place: "key" }]
    case "UnexpectedKey":
      return [unexpectedKey(issue.ast, path, bare)]
    case "OneOf":
      return [{ path, rule: "fits more than one alternative" }]
    case "Forbidden":
      return [{ path, rule: issue.annotations?.message ?? "is not allowed here" }]
  }
}

const child = (value: unknown, key: string | number): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    // Only read, and only if the key exists.
    ? (value as Record<string | number, unknown>)[key]
    : undefined

/**
 * Schema checks the rules of an object only once its parts are right; some rules can be checked earlier, so that all
 * errors are reported at once.
 */
const earlyProblems = (issue: SchemaIssue.Composite, path: ValuePath, value: unknown): ReadonlyArray<Finding> => {
  const checked = issue.issues.some(({ _tag }) => _tag === "Filter")
  const misspelled = issue.issues.some((inner) => inner._tag === "Pointer" && inner.issue._tag === "UnexpectedKey")
  if (checked || misspelled || typeof value !== "object" || value === null) return []
  return (issue.ast.checks ?? []).flatMap((check) => {
    if (check._tag !== "Filter" || check.annotations?.[earlyAnnotation] !== true) return []
    const broken = check.run(value, issue.ast, {})
    const fix = check.annotations[fixAnnotation]
    return broken === undefined
      ? []
      : visit(broken, path, value, []).map((finding) => typeof fix === "string" ? { ...finding, fix } : finding)
  })
}

const literals = (union: SchemaAST.Union): ReadonlyArray<string> =>
  union.types.flatMap((type) => SchemaAST.isLiteral(type) ? [String(type.literal)] : [])

const keysOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  SchemaAST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : []

const wrongAlternative = (union: SchemaAST.Union, path: ValuePath, value: unknown): Finding => {
  const names = literals(union)
  const objects = union.types.flatMap(keysOf)
  if (isName(value, objects)) return bareName(value, path)
  const alternatives = [...names, ...objects.map((key) => `{ ${key}: ... }`), ...union.types.filter(isScalar).map(expected)]
  const suggestion = typeof value === "string" ? suggest(value, [...names, ...objects]) : undefined
  return {
    path,
    rule: `must be one of ${alternatives.join(", ")}${typeof value === "string" ? "" : `, not ${kindOf(value)}`}`,
    ...(suggestion === undefined ? {} : { suggestion })
  }
}

const isName = (value: unknown, names: ReadonlyArray<string>): value is string => typeof value === "string" && names.includes(value)

const bareName = (name: string, path: ValuePath): Finding => ({
  path,
  rule: `${name} is written with its settings`,
  fix: `write ${name}: { ... }`
})

const isScalar = (ast: SchemaAST.AST): boolean => !SchemaAST.isLiteral(ast) && !SchemaAST.isObjects(ast)

const wrongType = (ast: SchemaAST.AST, path: ValuePath, value: unknown): Finding => {
  if (isName(value, keysOf(ast))) return bareName(value, path)
  const broken = SchemaAST.isString(ast) && isWrittenBare(value) ? brokenAsText(ast, path, String(value)) : undefined
  if (broken !== undefined) return broken
  const meant = meantBy(value, ast)
  return {
    path,
    rule: `must be ${expected(ast)}, not ${kindOf(value)}`,
    ...(meant === undefined ? fixType(ast, value) : { meant, fix: "write it without quotes" })
  }
}

const isWrittenBare = (value: unknown): value is number | boolean => typeof value === "number" || typeof value === "boolean"

/** The first rule that a number or boolean would break as text: quotes alone would not mend it. */
const brokenAsText = (ast: SchemaAST.String, path: ValuePath, text: string): Finding | undefined => {
  for (const check of ast.checks ?? []) {
    if (check._tag !== "Filter" || check.run(text, ast, {}) === undefined) continue
    const { expected = "valid", message = `must be ${expected}`, [fixAnnotation]: fix } = check.annotations ?? {}
    return { path, rule: String(message), ...(typeof fix === "string" ? { fix } : {}) }
  }
  return undefined
}

/** The number or boolean that a text reads as, where one is expected. */
const meantBy = (text: unknown, ast: SchemaAST.AST): number | boolean | undefined => {
  if (typeof text !== "string") return undefined
  if (SchemaAST.isNumber(ast) && /^-?[0-9]+(?:\.[0-9]+)?$/.test(text)) return Number(text)
  return SchemaAST.isBoolean(ast) && (text === "true" || text === "false") ? text === "true" : undefined
}

const fixType = (ast: SchemaAST.AST, value: unknown): { readonly fix?: string } => {
  if (typeof value === "string" && /^\$\w+$/.test(value)) return { fix: "write an environment variable with braces: ${NAME}" }
  if (SchemaAST.isString(ast) && isWrittenBare(value)) return { fix: "put it in quotes" }
  if (SchemaAST.isArrays(ast) && value !== null && !Array.isArray(value)) return { fix: "write it as a list: [ ... ]" }
  if (!SchemaAST.isObjects(ast)) return {}
  return { fix: keysOf(ast).length > 0 ? `its keys are ${keysOf(ast).join(", ")}` : "write each entry under a name: NAME: ..." }
}

const expected = (ast: SchemaAST.AST): string => {
  if (SchemaAST.isObjects(ast)) return "a mapping of keys to values"
  if (SchemaAST.isArrays(ast)) return "a list"
  if (SchemaAST.isString(ast)) return "text"
  if (SchemaAST.isNumber(ast)) return "a number"
  if (SchemaAST.isBoolean(ast)) return "true or false"
  return "another value"
}

const kindOf = (value: unknown): string => {
  if (value === null || value === undefined) return "empty"
  if (Array.isArray(value)) return "a list"
  if (typeof value === "string") return "text"
  if (typeof value === "number") return "a number"
  return typeof value === "boolean" ? "true or false" : "a mapping"
}

const unexpectedKey = (ast: SchemaAST.AST, path: ValuePath, bare: ReadonlyArray<string>): Finding => {
  const key = String(path.at(-1))
  const known = keysOf(ast)
  const record = ast.annotations?.["messageUnexpectedKey"]
  if (typeof record === "string") return { path, rule: record, place: "key" }
  if (bare.includes(key)) {
    return { path, rule: `${key} has no settings`, fix: `write ${key} alone, without braces`, place: "key" }
  }
  const unexpected = { path, rule: "is not a key that belongs here", place: "key" } as const
  const parent = path.slice(0, -1)
  const within = parent.length === 0 ? [] : placesWithin(parent, key)
  const elsewhere = within.length > 0 ? within : placesOfKey(key)
  // A key that occurs in many places does not show which one was meant.
  if (elsewhere.length === 1 || elsewhere.length === 2) return { ...unexpected, fix: `${key} belongs in ${elsewhere.join(" or ")}` }
  const suggestion = suggest(key, known)
  return { ...unexpected, ...(suggestion === undefined ? { fix: `the keys here are ${known.join(", ")}` } : { suggestion }) }
}
