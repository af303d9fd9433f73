import { Effect } from "effect"
import { join } from "node:path"
import { tempFolder, write } from "../support/TempFolder.ts"

export const pipelineFile = `
name: test
corpus: { displayName: Test }
sources: { docs: { local: { path: ./docs } } }
chunking: { strategy: structure, size: 60, overlap: 0 }
stages:
  - retrieve: { topK: 3 }
  - generate: { model: extractive }
`

const documents = {
  "leave.md": "# Leave\n\nFive unused days of annual leave carry over into the next year.\n",
  "travel/hotels.md": "# Hotels\n\nThe hotel limit in Osaka is 150 euros a night.\n",
  "batteries.txt": "A damaged lithium cell stays in the quarantine cage for fourteen days.\n"
}

/** A folder with a pipeline file and some documents, which goes with the scope. */
export const project = (files: Readonly<Record<string, string | Uint8Array>> = {}) =>
  Effect.map(tempFolder, (cwd) => {
    write(cwd, { "pipeline.yaml": pipelineFile })
    write(join(cwd, "docs"), documents)
    write(cwd, files)
    return cwd
  })
