import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"

/**
 * Path of a data file that is too large to be code: beside the built library (the command line is in a folder below it), or, when run from
 * source, in the package that it comes from.
 */
export const assetPath = (name: string, source: string): string => {
  const here = import.meta.url
  if (here.endsWith(".ts")) return createRequire(here).resolve(source)
  return fileURLToPath(new URL(here.includes("/dist/cli/") ? `../${name}` : `./${name}`, here))
}
