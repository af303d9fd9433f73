import { Predicate, Result, Schema } from "effect"

/** What of a list could be read, and what the rest is called. */
export interface Each<A> {
  readonly good: ReadonlyArray<A>
  readonly odd: ReadonlyArray<string>
}

/** Reads each of a list by itself: one in a shape that nobody knows costs only itself. */
export const eachOf = <A>(schema: Schema.Decoder<A>): (list: ReadonlyArray<unknown>) => Each<A> => {
  const decode = Schema.decodeUnknownResult(schema)
  return (list) => {
    const good: Array<A> = []
    const odd: Array<string> = []
    for (const one of list) {
      const decoded = decode(one)
      if (Result.isSuccess(decoded)) good.push(decoded.success)
      else odd.push(nameOf(one))
    }
    return { good, odd }
  }
}

const nameOf = (one: unknown): string => {
  const texts = ["name", "fileId", "id"].map((key) => Predicate.isObject(one) ? Reflect.get(one, key) : undefined)
  return texts.find((text): text is string => typeof text === "string" && text !== "")?.slice(0, 200) ?? "an entry"
}
