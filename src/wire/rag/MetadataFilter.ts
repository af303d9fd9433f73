import { Result } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { Metadata } from "../../domain/RagFile.ts"

/**
 * `metadata_filter`, an expression over a file's metadata. Ours says that every key is equal, `year == "2026" &&
 * author == "ana"`, which is written in CEL and is all that is read; `=` and `AND` of AIP-160 are read too.
 */
export const metadataFilterToWire = (metadata: Metadata): Result.Result<string, ServiceError> => {
  const bad = Object.keys(metadata).find((key) => !name.test(key))
  return bad === undefined
    ? Result.succeed(Object.entries(metadata).map(([key, value]) => `${key} == ${JSON.stringify(value)}`).join(" && "))
    : Result.fail(ServiceError.invalid("filter.metadata", `a key must be letters, digits and _, not ${JSON.stringify(bad)}`))
}

export const metadataFilterFromWire = (
  filter: string | undefined,
  field: string
): Result.Result<Metadata | undefined, ServiceError> => {
  if (filter === undefined || filter.trim() === "") return Result.succeed(undefined)
  const metadata: Record<string, string> = {}
  let rest = filter
  while (true) {
    const found = term.exec(rest)
    const value = found === null ? undefined : unquote(found[2] ?? "")
    if (found === null || value === undefined) {
      return Result.fail(ServiceError.invalid(field, "only equality joined by && is supported: key == \"value\" && other == \"value\""))
    }
    metadata[found[1] ?? ""] = value
    rest = rest.slice(found[0].length)
    if (rest === "") return Result.succeed(metadata)
    const joint = and.exec(rest)
    rest = joint === null ? "!" : rest.slice(joint[0].length)
  }
}

const name = /^[A-Za-z_]\w*$/
const term = /^\s*([A-Za-z_]\w*)\s*==?\s*("(?:[^"\\]|\\.)*"|'[^'\\]*'|[\w.:+-]+)\s*/
const and = /^(?:&&|AND\b)/

const unquote = (value: string): string | undefined => {
  if (!value.startsWith("\"")) return value.startsWith("'") ? value.slice(1, -1) : value
  try {
    return String(JSON.parse(value))
  } catch {
    return undefined
  }
}
