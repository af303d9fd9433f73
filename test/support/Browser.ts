import { existsSync } from "node:fs"
import { Effect } from "effect"
import { chromium } from "playwright-core"

/** The browser of this machine: Debian's, or what CHROMIUM names. */
export const browserPath = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
  .find((path) => path !== undefined && existsSync(path))

if (browserPath === undefined) {
  console.warn("SKIPPED: the inspector's page was not opened in a browser. Install one (apt-get install chromium), or name one in CHROMIUM")
}

/** A browser, which goes with the scope. */
export const browser = Effect.acquireRelease(
  // Its sandbox needs rights that root of a container has not; it opens our own page and nothing else.
  Effect.promise(() => chromium.launch({ executablePath: browserPath ?? "", args: ["--no-sandbox"], timeout: 180_000 })),
  (browser) => Effect.promise(() => browser.close())
)
