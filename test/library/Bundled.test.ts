import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { build as esbuild } from "esbuild"
import { copyFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { app, run } from "../support/PackedApp.ts"
import { root } from "../support/Root.ts"

const source = `
import { local } from "sluice/connectors"
import { Embedded, open, Pipeline } from "sluice/promise"
import { question } from "./question.ts"

const handbook = Pipeline.make("handbook", { corpus: { displayName: "Handbook" }, sources: { docs: local("./docs") } })
const app = await open(handbook, Embedded.layer({ dataDir: ".sluice" }))
const { totals } = await app.run()
console.log(totals.added, totals.failed)
const { answer } = await app.ask(question)
console.log(answer.citations[0]?.sourceDisplayName)
await app.close()
`

/** As docs/library.md says. */
const bundlers = {
  esbuild: (entry: string, outfile: string) =>
    esbuild({
      entryPoints: [entry],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      external: ["sluice", "sluice/*", "effect", "effect/*"],
      logLevel: "silent"
    }),
  Rolldown: async (input: string, file: string) => {
    const bundle = await rolldown({ input, platform: "node", external: [/^sluice(\/|$)/, /^effect(\/|$)/] })
    await bundle.write({ file, format: "esm" })
    await bundle.close()
  }
}

describe("an app that is bundled", () => {
  for (const [name, bundle] of Object.entries(bundlers)) {
    it.live(`by ${name}: runs a pipeline whose parser processes and worker are found`, () =>
      Effect.gen(function*() {
        const { cwd } = yield* app({
          "app.ts": source,
          "question.ts": "export const question = \"How many unused days of leave carry over?\"\n"
        })
        // Read in a process of its own.
        copyFileSync(join(root, "examples/handbook/people/benefits.odt"), join(cwd, "docs/benefits.odt"))
        mkdirSync(join(cwd, "out"))
        yield* Effect.promise<unknown>(() => bundle(join(cwd, "app.ts"), join(cwd, "out/app.mjs")))
        assert.deepStrictEqual(yield* run(cwd, process.execPath, ["out/app.mjs"]), { code: 0, output: "2 0\nleave.md\n" })
      }).pipe(Effect.scoped))
  }
})
