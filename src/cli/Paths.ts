import { relative } from "node:path"

/** A path as a person would write it here: relative where it is below this folder. */
export const fromHere = (path: string): string => {
  const short = relative(process.cwd(), path)
  return short === "" || short.startsWith("..") ? path : short
}
