import { percentDecoded } from "../../domain/Percent.ts"

/** Resolves a reference inside a package against the part that contains it: a path without a leading slash. */
export const resolvePart = (source: string, target: string): string => {
  const path = percentDecoded(target.replaceAll("\\", "/").replace(/[?#].*$/s, ""))
  const segments = path.startsWith("/") ? [] : source.split("/").slice(0, -1)
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop()
    else if (segment !== "" && segment !== ".") segments.push(segment)
  }
  return segments.join("/")
}
