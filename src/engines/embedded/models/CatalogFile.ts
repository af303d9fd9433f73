import { type Effect, Result, Schema, SchemaIssue } from "effect"
import { LineCounter, parseDocument } from "yaml"
import { ServiceError } from "../../../domain/Errors.ts"
import { CatalogModel, versionedName } from "../../../domain/models/ModelCatalog.ts"
import { containerRules, resourceRules } from "../../../domain/models/ResourceRules.ts"
import { SecretVersion } from "../../../domain/Secret.ts"

const Address = Schema.String.check(
  Schema.makeFilter((text) => isAddress(text) || "must be an http or https address, without credentials in it")
)

export const isAddress = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
}

/** Address of a model server, with the secret version of its API key, if it needs one. */
const Upstream = Schema.Union([Address, Schema.Struct({ url: Address, apiKey: SecretVersion })])
export type Upstream = typeof Upstream.Type

const CatalogEntry = Schema.Struct({
  ...CatalogModel.fields,
  /** Whether the model has a licence that must be accepted before it is deployed. */
  eula: Schema.optional(Schema.Boolean),
  /** Whether it is a model of the hub that needs an access token. */
  gated: Schema.optional(Schema.Boolean),
  /** Whether it is a model of the hub whose deployment was verified. */
  verified: Schema.optional(Schema.Boolean),
  fastTryout: Schema.optional(Schema.Boolean),
  /** Server that answers predictions of the model's endpoints, unless an endpoint has its own. */
  upstream: Schema.optional(Upstream)
})
export type CatalogEntry = typeof CatalogEntry.Type

const Catalog = Schema.Struct({
  models: Schema.Array(CatalogEntry),
  /** Capacities of specific reservations. A reservation that is not listed has none. */
  reservations: Schema.optional(Schema.Array(Schema.Struct({
    name: Schema.NonEmptyString,
    /** Most replicas in the reservation. */
    replicas: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
  }))),
  /** Addresses of model servers by an endpoint's id or display name. */
  endpoints: Schema.optional(Schema.Record(Schema.String, Upstream))
})
export type Catalog = typeof Catalog.Type

/** The current catalog, whose file may change while an engine runs. */
export type CurrentCatalog = Effect.Effect<Catalog, ServiceError>

const decode = Schema.decodeUnknownResult(Catalog, { errors: "all", onExcessProperty: "error" })
const format = SchemaIssue.makeFormatterStandardSchemaV1()

type Path = ReadonlyArray<string | number>
interface Problem {
  readonly path: Path
  readonly rule: string
}

/** Reads a catalog of models, in YAML or JSON. All faults are reported together, each with `file:line:column`. */
export const readCatalog = (text: string, file: string): Result.Result<Catalog, ServiceError> => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const refused = (problems: ReadonlyArray<string>) =>
    Result.fail(
      new ServiceError({
        code: "INVALID_ARGUMENT",
        message: [`${file} is not a valid catalog of models`, ...problems].join("\n"),
        fix: "mend it, or leave it out for the catalog that comes with Sluice"
      })
    )
  const at = (offset: number): string => {
    const { col, line } = lines.linePos(offset)
    return `${file}:${line}:${col}`
  }
  if (document.errors.length > 0) {
    return refused(document.errors.map(({ message, pos }) => `${at(pos[0])}  ${message.split("\n")[0]?.replace(/ at line .*$/, "") ?? ""}`))
  }
  const placeOf = (path: Path): number => {
    // For something that is missing, the nearest enclosing thing that exists.
    for (let length = path.length; length >= 0; length--) {
      const node: unknown = document.getIn(path.slice(0, length), true)
      const range = typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range) ? node.range : undefined
      if (range !== undefined) return Number(range[0])
    }
    return 0
  }
  const shown = (path: Path): string => path.map((key, i) => typeof key === "number" ? `[${key}]` : i === 0 ? key : `.${key}`).join("")
  const describe = (problems: ReadonlyArray<Problem>) =>
    refused(
      problems
        .map(({ path, rule }) => ({ offset: placeOf(path), text: `${shown(path)}: ${rule}` }))
        .toSorted((a, b) => a.offset - b.offset)
        .map(({ offset, text }) => `${at(offset)}  ${text}`)
    )

  const decoded = decode(document.toJS() as unknown)
  if (Result.isFailure(decoded)) {
    return describe(
      format(decoded.failure.issue).issues.map(({ message, path = [] }) => ({
        path: path.map((key) => typeof key === "object" ? key.key : key).map((key) => typeof key === "number" ? key : String(key)),
        rule: message
      }))
    )
  }
  const problems = rulesOf(decoded.success)
  return problems.length === 0 ? Result.succeed(decoded.success) : describe(problems)
}

/** Reports the rules that a deployment would break, before anybody deploys. */
const rulesOf = ({ models }: Catalog): ReadonlyArray<Problem> => {
  const seen = new Set<string>()
  return models.flatMap((model, m) => {
    const name = versionedName(model)
    const double = seen.has(name)
    seen.add(name)
    return [
      ...(double ? [{ path: ["models", m], rule: `${name} is there twice` }] : []),
      ...model.deploy.flatMap(({ container, resources }, d) =>
        [
          ...(container === undefined ? [] : containerRules(container, "container")),
          ...(resources === undefined ? [] : resourceRules(resources, "resources"))
        ].map(({ description, field }) => ({
          path: ["models", m, "deploy", d, field.split(".")[0] ?? ""],
          rule: `${field}: ${description}`
        }))
      )
    ]
  })
}
