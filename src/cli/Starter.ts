/** A first pipeline for a folder: complete, commented, and valid as it is. */
export const starter = (folder: string, path: string): string => {
  const title = folder.replace(/[-_.]+/g, " ").trim() || "Documents"
  const name = folder.toLowerCase().replace(/[^a-z0-9._-]+/g, "-").replace(/^[^a-z0-9]+|-+$/g, "").slice(0, 63) || "documents"
  return `# A Sluice pipeline. What each key means: sluice schema, or hover in an editor that has the schema.

name: ${JSON.stringify(name)}

# Where it runs: embedded is this machine, with no account and no network.
# On Vertex AI: engine: { vertex: { project: \${PROJECT}, location: us-central1 } }
engine: embedded

corpus:
  displayName: ${JSON.stringify(title.charAt(0).toUpperCase() + title.slice(1))}

# Any number of sources, each under a name of your choice.
sources:
  docs:
    local:
      path: ${JSON.stringify(path)}
      # include: ["**/*.md", "**/*.pdf"]   # default: every file that can be read
      # exclude: ["drafts/**"]             # .sluiceignore files work too

# structure keeps headings, tables and code whole and carries the heading path; fixed cuts every \`size\` tokens.
chunking: { strategy: structure, size: 400, overlap: 0 }

import:
  maxDelete: 10%                           # more deletes than this, and than 20, wait for --yes
  # budget: { embeddedTokens: 5M }         # stop there; the next run goes on

# What \`sluice ask\` does, left to right.
stages:
  - retrieve: { topK: 8 }
  - generate: { model: extractive }        # answers in sentences of the corpus; needs no model
`
}
