import { ServiceError } from "./Errors.ts"

const upstream = "start the server with --upstream and a model's address; answers taken from the text given cannot do this"

/** Refuses what only a model can do, in terms of the request: `field` as the request has it. */
export const needsModel = (field: string, what: string): ServiceError =>
  new ServiceError({
    code: "INVALID_ARGUMENT",
    message: `${field}: ${what} needs a model, and this server has none: ${upstream}`,
    violations: [{ field, description: `${what} needs a model: --upstream` }],
    fix: upstream
  })

/**
 * The same error in the words of an API: a chat model names fields of a `ChatRequest`, and whoever asked has never seen
 * one. `name` gives the field for a field.
 */
export const renamed = (error: ServiceError, name: (field: string) => string): ServiceError => {
  const { message, violations } = error
  if (violations === undefined) return error
  return error.with({
    // Each line of a message begins with the field that it is about.
    message: violations.reduce((text, { field }) => `\n${text}`.replace(`\n${field}: `, `\n${name(field)}: `).slice(1), message),
    violations: violations.map(({ description, field }) => ({ field: name(field), description }))
  })
}
