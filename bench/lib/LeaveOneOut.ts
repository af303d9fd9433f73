/**
 * Cross-validation over collections: of each row (a collection, with something measured by way) what was measured by the way
 * whose scores are the highest in sum over the other rows, the first of equals. In the order of `rows`.
 */
export const leaveOneOut = <A>(rows: ReadonlyArray<ReadonlyArray<A>>, scoreOf: (measured: A) => number): ReadonlyArray<A> =>
  rows.map((row) => {
    const sums = row.map((_, way) => rows.reduce((sum, other) => (other === row ? sum : sum + scoreOf(other[way]!)), 0))
    return row[sums.indexOf(Math.max(...sums))]!
  })
