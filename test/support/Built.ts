import { join } from "node:path"
import { root } from "./Root.ts"

/** What `npm run bundle` makes. A test that imports this module, directly or not, is run on bundles that are no older than the source. */
export const dist = join(root, "dist")

/** The built command line. */
export const bin = join(dist, "cli/bin.js")
