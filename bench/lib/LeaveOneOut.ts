/**
 * Leave-one-out cross-validation over collections. Each row is a collection with a measurement for each way. Returns for each
 * row, in order, the measurement of the way with the highest sum of scores over the other rows; the first of equal ways.
 */
export const leaveOneOut = <A>(rows: ReadonlyArray<ReadonlyArray<A>>, scoreOf: (measured: A) => number): ReadonlyArray<A> =>
  rows.map((row) => {
    const sums = row.map((_, way) => rows.reduce((sum, other) => (other === row ? sum : sum + scoreOf(other[way]!)), 0))
    return row[sums.indexOf(Math.max(...sums))]!
  })
