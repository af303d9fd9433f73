import type { RagFile } from "../../../../src/domain/RagFile.ts"

/** What `WriterProcess.ts ingest` brings a corpus to. Some texts are in several files, and in several versions. */
export const ingested = Array.from({ length: 40 }, (_, i) => ({
  displayName: `f${i}`,
  target: i % 3,
  text: (version: number): string =>
    [
      `common words of every file`,
      `words of group${i % 5}`,
      ...Array.from({ length: 1 + (i % 4) }, (_, part) => `file${i} version${version} part${part} ${"filler ".repeat(i * 3)}`)
    ].join("\n\n")
}))

/** The version a stored file is of. */
export const versionOf = (file: RagFile): number => Number(file.metadata?.["version"])
