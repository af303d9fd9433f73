import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { symlinkSync } from "node:fs"
import { cp } from "node:fs/promises"
import { join } from "node:path"
import { tempFolder, write } from "../support/TempFolder.ts"

const root = join(import.meta.dirname, "../..")

interface Finished {
  readonly code: number
  readonly output: string
}

const run = (cwd: string, command: string, args: ReadonlyArray<string>) =>
  Effect.callback<Finished>((resume) => {
    const child = execFile(command, args, { cwd }, (_, stdout, stderr) =>
      resume(Effect.succeed({ code: child.exitCode ?? -1, output: `${stdout}${stderr}` })))
    return Effect.sync(() => child.kill())
  })

/** A strict TypeScript project beside the package as it ships: what was built, and no source of ours. */
const app = (files: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const cwd = yield* tempFolder
    write(cwd, {
      "package.json": JSON.stringify({ type: "module" }),
      "tsconfig.json": JSON.stringify({
        compilerOptions: {
          strict: true, skipLibCheck: false, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true,
          module: "nodenext", target: "es2023", types: ["node"], noEmit: true
        },
        include: ["*.ts"]
      }),
      "docs/leave.md": "# Leave\n\nFive unused days of annual leave carry over into the next year.\n",
      ...files
    })
    const installed = join(cwd, "node_modules")
    yield* Effect.promise(() => cp(join(root, "dist"), join(installed, "sluice/dist"), { recursive: true }))
    yield* Effect.promise(() => cp(join(root, "package.json"), join(installed, "sluice/package.json")))
    for (const name of ["effect", "@effect/platform-node", "@types"]) {
      write(installed, { [`${name.split("/").slice(0, -1).join("/") || "."}/.keep`]: "" })
      symlinkSync(join(root, "node_modules", name), join(installed, name))
    }
    symlinkSync(join(root, "node_modules"), join(installed, "sluice/node_modules"))
    return cwd
  })

const program = (dataDir: string) => `
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { Embedded, Pipeline } from "sluice"
import { local } from "sluice/connectors"

const handbook = Pipeline.make("handbook", {
  corpus: { displayName: "Handbook" },
  sources: { docs: local("./docs") }
})

Effect.gen(function*() {
  yield* handbook.run
  const { answer } = yield* handbook.ask("How many days of leave carry over?")
  yield* Console.log(answer.text)
}).pipe(
  Effect.provide(Embedded.layer({ dataDir: ${JSON.stringify(dataDir)} })),
  NodeRuntime.runMain
)
`

const failing = `
import { NodeRuntime } from "@effect/platform-node"
import { Effect } from "effect"
import { ServiceError } from "sluice"

NodeRuntime.runMain(Effect.fail(new ServiceError({
  code: "RESOURCE_EXHAUSTED",
  message: "the request breaks 1 rule",
  violations: [{ field: "topK", description: "is from 1 to 100" }],
  fix: "ask for fewer"
})))
`

describe("the packed library in a strict TypeScript project", () => {
  it.live("compiles, runs, and prints why it failed, with our exit code", () =>
    Effect.gen(function*() {
      const cwd = yield* app({ "good.ts": program(".sluice"), "state.ts": program("docs/leave.md"), "failing.ts": failing })
      const [compiled, good, state, failed] = yield* Effect.all([
        run(cwd, join(root, "node_modules/.bin/tsc"), ["-p", "."]),
        run(cwd, process.execPath, ["good.ts"]),
        run(cwd, process.execPath, ["state.ts"]),
        run(cwd, process.execPath, ["failing.ts"])
      ], { concurrency: 2 })
      assert.deepStrictEqual(compiled, { code: 0, output: "" })
      assert.deepStrictEqual(good, { code: 0, output: "Five unused days of annual leave carry over into the next year. [1]\n" })

      assert.strictEqual(state.code, 1)
      assert.match(state.output, /StateError: .*docs\/leave\.md.*\n +fix: \S/)

      assert.strictEqual(failed.code, 6)
      assert.match(failed.output, /ServiceError: the request breaks 1 rule\n +topK: is from 1 to 100\n +fix: ask for fewer\n/)
    }).pipe(Effect.scoped), 30_000)
})
