import { Schema, SchemaTransformation } from "effect"
import { isRuleKey, type MetadataRule, patternOf, typed } from "../../domain/MetadataRules.ts"
import { earlyRule, exactlyOne, rule, text, withDefault } from "../../domain/settings/Rules.ts"

const ScalarTypes = Schema.Literals(["integer", "float", "string", "datetime", "boolean"])
const PropertyName = text.check(
  rule<string>((name) => name.length <= 200, { rule: "must have no more than 200 characters" }, { maxLength: 200 })
)

const fields = {
  path: Schema.optionalKey(text.annotate({
    description:
      "A pattern of the file's path within its source, in which {key} stands for the value: teams/{team}/** for the key team. * and ? stand for part of a name, ** for any folders."
  })),
  property: Schema.optionalKey(
    Schema.Union([
      PropertyName,
      Schema.Array(PropertyName).check(rule<ReadonlyArray<string>>((names) => names.length > 0, { rule: "must name a property" }))
    ]).annotate({
      description:
        "The document's own property of this name, or the first it has of several: a key of its front matter, the name of an HTML meta element, a document property. Case does not matter."
    })
  ),
  type: withDefault(
    Schema.Literals(["string", "integer", "float", "boolean", "datetime", "list"]).annotate({
      description: "Type of its values, by which filters compare them.",
      default: "string"
    }),
    "string"
  ),
  element: Schema.optionalKey(ScalarTypes.annotate({ description: "Type of a list's elements. Unset: string." })),
  values: Schema.optionalKey(
    Schema.Array(Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]))
      .check(rule<ReadonlyArray<unknown>>((values) => values.length > 0, { rule: "must have a value" }))
      .annotate({ description: "The values that are allowed." })
  ),
  required: withDefault(
    Schema.Boolean.annotate({ description: "true: a file without a value breaks the rule.", default: false }),
    false
  ),
  strict: withDefault(
    Schema.Boolean.annotate({
      description: "true: a file that breaks the rule fails. Otherwise it is stored without the value, and the report names it.",
      default: false
    }),
    false
  )
}

const Written = Schema.Struct(fields).check(
  exactlyOne(["path", "property"]),
  rule<{ readonly path?: string; readonly type: string }>(({ path, type }) => path === undefined || type !== "list", {
    rule: "a path gives one value, not a list",
    fix: "use a property for a list"
  }),
  rule<{ readonly element?: string; readonly type: string }>(({ element, type }) => element === undefined || type === "list", {
    rule: "element is for lists only",
    fix: "leave it out, or set type: list"
  }),
  Schema.makeFilter(({ element, type, values = [] }) => {
    const wanted = type === "list" ? element ?? "string" : type
    const at = values.findIndex((value) => typed(wanted, String(value)) === undefined)
    return at === -1 || { path: ["values", at], issue: `is not of the type ${wanted}` }
  }, { toJsonSchema: () => [{}, true] as const })
)

/** Decodes to the domain's rule. */
const Rule = Written.pipe(
  Schema.decodeTo(
    Schema.declare((u): u is MetadataRule => typeof u === "object" && u !== null && "required" in u),
    SchemaTransformation.transform<MetadataRule, typeof Written.Type>({
      decode: ({ element, property, type, values, ...others }) => ({
        ...others,
        type,
        ...(property === undefined ? {} : { property: [property].flat().map((name) => name.trim().toLowerCase()) }),
        ...(type === "list" ? { element: element ?? "string" } : {}),
        ...(values === undefined ? {} : { values: values.map(String) })
      }),
      encode: (rule) => rule
    })
  )
)

const keyRule = "a key of metadata must be 1 to 58 of the letters a-z, digits and hyphens, a letter first and no hyphen at the end"
const Key = Schema.String.check(rule<string>(isRuleKey, { rule: keyRule }, { pattern: "^[a-z](?:[a-z0-9-]{0,56}[a-z0-9])?$" }))

const mostKeys = 100

/** Decodes to the domain's `MetadataRules`. */
export const MetadataSettings = Schema.Record(Key, Rule).annotate({
  description: "Metadata of each file, by keys that filters can use. The rule of a key says where its value comes from.",
  messageUnexpectedKey: keyRule
}).check(
  rule<object>((rules) => Object.keys(rules).length <= mostKeys, { rule: `must have no more than ${mostKeys} keys` }),
  earlyRule((rules) =>
    Object.entries(rules).flatMap(([key, written]: [string, unknown]) => {
      const path = typeof written === "object" && written !== null && "path" in written ? written.path : undefined
      return typeof path !== "string" || patternOf(path, key) !== undefined
        ? []
        : [{ path: [key, "path"], issue: `must have {${key}} in it once, and no other name in braces` }]
    })
  )
)
