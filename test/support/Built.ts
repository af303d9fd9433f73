import { join } from "node:path"
import { root } from "./Root.ts"

/** Folder of the bundles. Tests that import this module, directly or not, run on bundles that are no older than the source. */
export const dist = join(root, "dist")

/** The built command line. */
export const bin = join(dist, "cli/bin.js")
