/** A task on its way: some of its texts are through, and others wait. */
export interface Progress {
  /** Reads some texts, or runs the next batch; gives the values of all texts when it was the last. */
  readonly step: () => Promise<Float32Array | undefined>
}

/** A vector brought to the length one; one of zeros stays. */
export const unit = (vector: Float32Array): Float32Array => {
  let squares = 0
  for (const value of vector) squares += value * value
  const norm = Math.sqrt(squares)
  if (!Number.isFinite(norm)) throw new Error("it gave numbers that are none")
  return norm === 0 ? vector : vector.map((value) => value / norm)
}
