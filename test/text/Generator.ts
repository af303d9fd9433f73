/** Random choices that a seed repeats. */
export interface Generator {
  /** An integer from 0 to `limit` - 1. */
  readonly below: (limit: number) => number
  readonly pick: <A>(items: ReadonlyArray<A>) => A
}

/** Mulberry32. */
export const generator = (seed: number): Generator => {
  let state = seed * 0x9e3779b9
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
  return { below, pick: (items) => items[below(items.length)]! }
}
