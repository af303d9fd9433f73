export { count, plural } from "../../domain/Numbers.ts"

/** A duration, such as 0.42 s, 12 s, 3 min 20 s, 2 h 05 min. */
export const seconds = (s: number): string => {
  if (s < 10) return `${s.toFixed(2)} s`
  if (s < 90) return `${Math.round(s)} s`
  const minutes = Math.floor(s / 60)
  if (minutes < 90) return `${minutes} min ${Math.round(s % 60)} s`
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`
}

/** A size in powers of ten, such as 1.5 MB. */
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
