/**
 * Binary search: the first of `length` positions for which `holds` is false, where it is true for all before and false for all after;
 * `length` where it is true for all. Calls `holds` about log2 `length` times.
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
