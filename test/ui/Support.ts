import { Effect } from "effect"
import { createInterface } from "node:readline"
import { project } from "../cli/Project.ts"
import { command } from "../support/Command.ts"
import { start } from "../support/Sluice.ts"
import { write } from "../support/TempFolder.ts"

const pipeline = `
name: test
corpus: { displayName: Test }
sources: { docs: { local: { path: ./docs } } }
chunking: { strategy: structure, size: 40, overlap: 12 }
stages:
  - retrieve: { topK: 20 }
  - generate: { model: extractive }
`

const rules = Array.from(
  { length: 60 },
  (_, n) => `Rule ${n}: the kettle of kitchen ${n} is boiled at ${n} degrees, as in every year before.`
)

/** A project with files of every state, one of them hostile. */
export const inspectedProject = Effect.tap(
  project({
    "pipeline.yaml": pipeline,
    "docs/rules.md": `# Rules\n\n${rules.join("\n\n")}\n`,
    "docs/broken.pdf": "%PDF-1.4 broken",
    "docs/noise.bin": new Uint8Array([0, 1, 2, 3]),
    "docs/.hidden.md": "# Hidden\n\nNobody reads this.\n",
    "docs/hostile.md": "# <img src=x onerror=\"document.title='owned'\">\n\n`<script>document.title='owned'</script>` prizes of Osaka.\n"
  }),
  (cwd) => Effect.promise(() => command(["run"], { cwd }))
)

const tests = `
tests:
  - question: How many unused days of annual leave carry over into the next year?
    files: [leave.md]
    answer: { contains: [Five] }
  - question: Which kettle sings?
    files: [songs.md]
`

/** The same beside a pipeline with larger chunks, and with tests whose results were saved before and after an edit that breaks one. */
export const comparedProject = Effect.tap(inspectedProject, (cwd) =>
  Effect.promise(async () => {
    write(cwd, {
      "pipeline.yaml": pipeline + tests,
      "other.yaml": pipeline.replace("name: test", "name: other").replace("Test }", "Other }").replace("size: 40", "size: 400")
    })
    await command(["eval", "pipeline.yaml", "--save"], { cwd })
    write(cwd, { "docs/leave.md": "# Leave\n\nNothing of it is carried.\n" })
    await command(["run", "pipeline.yaml"], { cwd })
    await command(["eval", "pipeline.yaml", "--save"], { cwd })
    write(cwd, { "docs/leave.md": "# Leave\n\nFive unused days of annual leave carry over into the next year.\n" })
    await command(["run", "pipeline.yaml"], { cwd })
    await command(["run", "other.yaml"], { cwd })
  }))

/** `sluice ui` of a project, which ends with the scope: its address with the token, and a way to ask its API. */
export const inspector = (cwd: string, args: ReadonlyArray<string> = []) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { child, finished } = start(["ui", "--port", "0", ...args], { cwd })
      const stdout = child.stdout
      if (stdout === null) throw new Error("it has no output")
      const address = await Promise.race([
        new Promise<string>((resolve) => createInterface(stdout).once("line", resolve)),
        finished.then(({ stderr }) => Promise.reject(new Error(stderr)))
      ])
      const [base = "", token = ""] = address.split("/ui/#token=")
      // oxlint-disable-next-line typescript/no-explicit-any -- looked into by the assertions
      const ask = async (path: string): Promise<{ readonly status: number; readonly body: any }> => {
        const response = await fetch(`${base}/ui/api${path}`, { headers: { authorization: `Bearer ${token}` } })
        return { status: response.status, body: await response.json() }
      }
      const { body: [corpus] } = await ask("/corpora")
      return { address, base, token, ask, id: corpus?.id as string, stop: () => child.kill("SIGTERM") && finished }
    }),
    ({ stop }) => Effect.promise(async () => stop())
  )
