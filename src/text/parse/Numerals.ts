/** 1, 2, 3 as i, ii, iii; plain digits beyond the usual range of Roman numerals. */
export const roman = (n: number): string => {
  if (n < 1 || n > 3_999) return String(n)
  let rest = n
  let text = ""
  for (const [value, sign] of romanSigns) {
    while (rest >= value) {
      text += sign
      rest -= value
    }
  }
  return text
}

const romanSigns: ReadonlyArray<readonly [number, string]> = [
  [1000, "m"],
  [900, "cm"],
  [500, "d"],
  [400, "cd"],
  [100, "c"],
  [90, "xc"],
  [50, "l"],
  [40, "xl"],
  [10, "x"],
  [9, "ix"],
  [5, "v"],
  [4, "iv"],
  [1, "i"]
]

/** 1 to 26 as a to z, then aa, bb, cc, as word processors count. */
export const letters = (n: number): string =>
  n < 1 || n > 780 ? String(n) : String.fromCharCode(97 + ((n - 1) % 26)).repeat(Math.ceil(n / 26))
