/**
 * The first of `length` places of which a statement does not hold that holds of all before it and of none after:
 * `length` where it holds of all. Binary search, `holds` is asked some log2 `length` times.
 */
export const partitionPoint = (length: number, holds: (at: number) => boolean): number => {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(middle)) low = middle + 1
    else high = middle
  }
  return low
}
