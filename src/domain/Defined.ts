type Defined<A> =
  & { readonly [K in keyof A as undefined extends A[K] ? never : K]: A[K] }
  & { readonly [K in keyof A as undefined extends A[K] ? K : never]?: Exclude<A[K], undefined> }

/** The object without its undefined properties: in the domain and in messages, missing values are absent. */
export const defined = <A extends object>(object: A): Defined<A> => {
  const left: Record<string, unknown> = {}
  // Called for each context of each answer: building entries of the properties would take four times as long.
  for (const key of Object.keys(object)) {
    const value: unknown = Reflect.get(object, key)
    if (value === undefined) continue
    if (key === "__proto__") Object.defineProperty(left, key, { value, configurable: true, enumerable: true, writable: true })
    else left[key] = value
  }
  // The remaining properties are those of the type.
  return left as Defined<A>
}

/** Whether the object has no property, or only undefined ones. */
export const isEmpty = (object: object): boolean => Object.values(object).every((value) => value === undefined)
