import { ServiceError } from "./Errors.ts"

const upstream = "start the server with --upstream and a model's address; answers taken from the text given cannot do this"

/** Refuses a request that only a model can fulfil, naming the request's `field`. */
export const needsModel = (field: string, what: string): ServiceError =>
  new ServiceError({
    code: "INVALID_ARGUMENT",
    message: `${field}: ${what} needs a model, and this server has none: ${upstream}`,
    violations: [{ field, description: `${what} needs a model: --upstream` }],
    fix: upstream
  })

/**
 * Renames fields in an error: a chat model names fields of a `ChatRequest`, which the caller of an API does not know.
 * `name` maps a field to the API's.
 */
export const renamed = (error: ServiceError, name: (field: string) => string): ServiceError => {
  const { message, violations } = error
  if (violations === undefined) return error
  return error.with({
    // Each line of a message starts with the field it is about.
    message: violations.reduce((text, { field }) => `\n${text}`.replace(`\n${field}: `, `\n${name(field)}: `).slice(1), message),
    violations: violations.map(({ description, field }) => ({ field: name(field), description }))
  })
}
