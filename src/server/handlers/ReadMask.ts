import { Effect } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { fieldMask } from "../../wire/FieldMask.ts"
import type { Message } from "../../wire/Message.ts"

/** Keeps of each resource in a list the fields of the mask, such as `name,state`; all fields where the mask is empty. */
export const readMask = <A extends object>(
  { fields }: Message<A>,
  mask: string | undefined
): Effect.Effect<(resource: A) => Partial<A>, ServiceError> => {
  const wanted = fieldMask(mask)
  if (wanted.length === 0 || wanted.includes("*")) return Effect.succeed((resource) => resource)
  const strange = wanted.find((field) => !Object.hasOwn(fields, field))
  if (strange !== undefined) return Effect.fail(ServiceError.invalid("read_mask", `${strange.slice(0, 100)} is no field by itself`))
  return Effect.succeed((resource) =>
    Object.fromEntries(Object.entries(resource).filter(([field]) => wanted.includes(field))) as Partial<A>
  )
}
