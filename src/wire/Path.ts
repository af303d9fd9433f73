import { Result } from "effect"
import { ServiceError } from "../domain/Errors.ts"

/**
 * A path template as in the protos' HTTP bindings, where `{name=…}` stands for a resource name. In it `*` is one segment
 * without `/` and `:`, and `/**` any number of further segments. The segment after `projects/` may contain a `:`, as ids of
 * domain-scoped projects do (`example.com:project`).
 */
export interface Path {
  readonly template: string
  readonly params: ReadonlyArray<{ readonly name: string; readonly form: string; readonly pattern: RegExp }>
  readonly pattern: RegExp
}

/** Names of a template's parameters. */
export type ParamsOf<T extends string> = T extends `${string}{${infer Name}=${string}}${infer Rest}` ? Name | ParamsOf<Rest> : never

const segment = "[^/:]+"

const escape = (text: string): string => text.replaceAll(/[.+?^$()[\]\\|]/g, "\\$&")

const wildcards: Readonly<Record<string, string>> = {
  "projects/*": "projects/[^/]+",
  "/**": `(?:/${segment})*`,
  "*": segment
}

const source = (form: string): string => escape(form).replaceAll(/projects\/\*|\/\*\*|\*/g, (wildcard) => wildcards[wildcard] ?? "")

export const compile = (template: string): Path => {
  const params = [...template.matchAll(/\{(\w+)=([^}]+)\}/g)].map(([, name = "", form = ""]) => ({ name, form, source: source(form) }))
  const pattern = params.reduce(
    (text, { form, name, source }) => text.replace(`{${name}=${escape(form)}}`, `(${source})`),
    escape(template)
  )
  return {
    template,
    params: params.map(({ form, name, source }) => ({ name, form, pattern: new RegExp(`^${source}$`) })),
    pattern: new RegExp(`^${pattern}$`)
  }
}

/** The path of the first template whose parameters fit the values, with each segment percent-encoded. */
export const build = (
  paths: ReadonlyArray<Path>,
  values: Readonly<Record<string, string>>
): Result.Result<string, ServiceError> => {
  for (const path of paths) {
    if (path.params.every(({ name, pattern }) => fits(pattern, values[name] ?? ""))) {
      return Result.succeed(
        path.params.reduce((text, { form, name }) => text.replace(`{${name}=${form}}`, () => encode(values[name] ?? "")), path.template)
      )
    }
  }
  const wanted = paths[0]?.params.find(({ name, pattern }) => !fits(pattern, values[name] ?? ""))
  return Result.fail(ServiceError.invalid(wanted?.name ?? "name", `must have the form ${wanted?.form ?? ""}`))
}

/** Decodes the parameters of a raw path; undefined where the path does not match the template. */
export const parse = (path: Path, raw: string): Record<string, string> | undefined => {
  const found = path.pattern.exec(raw)
  if (found === null) return undefined
  const values: Record<string, string> = {}
  for (const [i, { name, pattern }] of path.params.entries()) {
    const value = decode(found[i + 1] ?? "")
    if (value === undefined || !fits(pattern, value)) return undefined
    values[name] = value
  }
  return values
}

const fits = (pattern: RegExp, name: string): boolean =>
  // Control characters and dot segments would turn the path into another one.
  pattern.test(name) && !/[\p{Cc}?#]|(?:^|\/)\.\.?(?:\/|$)/u.test(name)

const encode = (name: string): string => name.split("/").map(encodeURIComponent).join("/")

const decode = (raw: string): string | undefined => {
  try {
    const segments = raw.split("/").map(decodeURIComponent)
    // An encoded slash would be part of an id, and ids contain none.
    return segments.some((segment) => segment.includes("/")) ? undefined : segments.join("/")
  } catch {
    return undefined
  }
}
