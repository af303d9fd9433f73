/** 12,345; by hand, because Intl takes 8 ms to load. */
export const count = (n: number): string => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",")

/** 1 file, 2 files */
export const plural = (n: number, word: string, many = `${word}s`): string => `${count(n)} ${n === 1 ? word : many}`

/** 0.42 s, 12 s, 3 min 20 s, 2 h 05 min */
export const seconds = (s: number): string => {
  if (s < 10) return `${s.toFixed(2)} s`
  if (s < 90) return `${Math.round(s)} s`
  const minutes = Math.floor(s / 60)
  if (minutes < 90) return `${minutes} min ${Math.round(s % 60)} s`
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`
}

/** 1.5 MB (powers of ten) */
export const bytes = (n: number): string => {
  const units = ["B", "kB", "MB", "GB", "TB"]
  let at = 0
  let value = n
  while (value >= 1000 && at < units.length - 1) {
    value /= 1000
    at += 1
  }
  return `${at === 0 ? value : value.toFixed(1)} ${units[at]}`
}
