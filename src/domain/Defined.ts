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

/** The value without the undefined properties of plain objects in it, however deep. What is of a class stays as it is. */
export const definedThroughout = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(definedThroughout)
  if (typeof value !== "object" || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const left = defined(value)
  for (const [key, inner] of Object.entries(left)) {
    Object.defineProperty(left, key, { value: definedThroughout(inner), configurable: true, enumerable: true, writable: true })
  }
  return left
}

/** Whether the object has no property, or only undefined ones. */
export const isEmpty = (object: object): boolean => Object.values(object).every((value) => value === undefined)
