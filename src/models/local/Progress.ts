/** A task in progress: some of its texts are done, others wait. */
export interface Progress {
  /** Tokenizes some texts, or runs the next batch; returns the values of all texts after the last one. */
  readonly step: () => Promise<Float32Array | undefined>
}

/** A vector scaled to length 1; the zero vector stays as it is. */
export const unit = (vector: Float32Array): Float32Array => {
  let squares = 0
  for (const value of vector) squares += value * value
  const norm = Math.sqrt(squares)
  if (!Number.isFinite(norm)) throw new Error("it gave numbers that are none")
  return norm === 0 ? vector : vector.map((value) => value / norm)
}
