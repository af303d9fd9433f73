import { Result } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { asEqual, parseMetadataFilter } from "../../domain/MetadataFilter.ts"
import type { RetrievalRequest } from "../../domain/Retrieval.ts"

type Filter = Pick<NonNullable<RetrievalRequest["filter"]>, "metadata" | "metadataFilter">

/** The API's `metadata_filter`: a request's pairs and its expression, joined in one expression. */
export const metadataFilterToWire = ({ metadata = {}, metadataFilter }: Filter): Result.Result<string | undefined, ServiceError> => {
  const pairs = Object.entries(metadata)
  const bad = pairs.find(([key]) => !name.test(key))
  if (bad !== undefined) {
    return Result.fail(ServiceError.invalid("filter.metadata", `a key must be letters, digits and _, not ${JSON.stringify(bad[0])}`))
  }
  const equal = pairs.map(([key, value]) => `${key} == ${JSON.stringify(value)}`)
  if (metadataFilter === undefined) return Result.succeed(equal.length === 0 ? undefined : equal.join(" && "))
  return Result.succeed(equal.length === 0 ? metadataFilter : [...equal, `(${metadataFilter})`].join(" && "))
}

/** Decodes a `metadata_filter`: into pairs where it consists of equalities alone, otherwise into an expression. */
export const metadataFilterFromWire = (filter: string | undefined, field: string): Result.Result<Filter, ServiceError> => {
  if (filter === undefined || filter.trim() === "") return Result.succeed({})
  return Result.map(parseMetadataFilter(filter, field), (parsed) => {
    const metadata = asEqual(parsed)
    return metadata === undefined ? { metadataFilter: filter } : { metadata }
  })
}

/** A name of metadata. Keywords of the filter language are excluded. */
const name = /^(?!(?:AND|OR|NOT|in|true|false)$)[A-Za-z_][\w-]*$/
