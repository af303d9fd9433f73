/** A number with thousands separated, such as 12,345. Formatted by hand, because Intl takes 8 ms to load. */
export const count = (n: number): string => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",")

/** A number with its noun, such as `1 file` and `2 files`. `many` is the plural. */
export const plural = (n: number, word: string, many = `${word}s`): string => `${count(n)} ${n === 1 ? word : many}`
