type Defined<A> =
  & { readonly [K in keyof A as undefined extends A[K] ? never : K]: A[K] }
  & { readonly [K in keyof A as undefined extends A[K] ? K : never]?: Exclude<A[K], undefined> }

/** The object without its undefined properties: in the domain and in messages what is not there is absent. */
export const defined = <A extends object>(object: A): Defined<A> =>
  // The properties left are those the type says.
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<A>

/** Whether nothing is said in it: no property, or only undefined ones. */
export const isEmpty = (object: object): boolean => Object.values(object).every((value) => value === undefined)
