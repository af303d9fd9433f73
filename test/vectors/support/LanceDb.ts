import { createRequire } from "node:module"
import { join } from "node:path"
import { root } from "../../support/Root.ts"

const install = "npm install --prefix node_modules/.lancedb --ignore-scripts @lancedb/lancedb@0.39.0"

/** Where the package is for the tests: too large to be installed for everybody. Undefined where it is not. */
export const lanceDbFolder = ((): string | undefined => {
  const folder = join(root, "node_modules", ".lancedb")
  try {
    createRequire(join(folder, "package.json")).resolve("@lancedb/lancedb")
    return folder
  } catch {
    // oxlint-disable-next-line no-console -- Tests that did not run are to be seen.
    console.warn(`LanceDB's tests are SKIPPED: it is not installed; ${install}`)
    return undefined
  }
})()
