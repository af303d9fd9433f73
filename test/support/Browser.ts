import { existsSync } from "node:fs"
import { Effect } from "effect"
import { chromium } from "playwright-core"

/** Path of this machine's browser: the one that CHROMIUM names, or Debian's. */
export const browserPath = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
  .find((path) => path !== undefined && existsSync(path))

if (browserPath === undefined) {
  console.warn("SKIPPED: the inspector's page was not opened in a browser. Install one (apt-get install chromium), or name one in CHROMIUM")
}

/** A browser, which is closed with the scope. */
export const browser = Effect.acquireRelease(
  // The sandbox needs rights that root lacks in a container. The browser opens only the page under test.
  Effect.promise(() => chromium.launch({ executablePath: browserPath ?? "", args: ["--no-sandbox"], timeout: 180_000 })),
  (browser) => Effect.promise(() => browser.close())
)
