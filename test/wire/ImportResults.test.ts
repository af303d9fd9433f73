import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ImportedFile } from "../../src/domain/Import.ts"
import { importResultsFromText, importResultsToText, sinkObject } from "../../src/wire/rag/ImportResults.ts"
import { word } from "./Arbitraries.ts"

const file: fc.Arbitrary<ImportedFile> = fc.record({
  uri: word.map((name) => `gs://bucket/${name}`),
  status: fc.constantFrom("imported" as const, "skipped" as const, "failed" as const),
  file: fc.stringMatching(/^[0-9]{1,19}$/),
  message: word
}, { requiredKeys: ["uri", "status"] })

describe("the result of an import", () => {
  it("is read as it was written, whatever the names and messages", () =>
    fc.assert(fc.property(fc.array(file, { maxLength: 5 }), (files) => {
      expect(importResultsFromText(importResultsToText(files, { operation: "7", createTime: "2026-01-01T00:00:00Z" }))).toEqual(files)
    })))

  it("is read under other keys too, and rows that tell nothing are left out", () => {
    const rows = [
      { operationId: "1", fileUri: "gs://b/a.md", importStatus: "SUCCEEDED", ragFileId: "projects/p/locations/l/ragCorpora/1/ragFiles/5" },
      { file: "gs://b/c d.md", state: "FILE_SKIPPED" },
      { source_uri: "gs://b/e.md", status: "ERROR", status_message: "", error: { code: 3, message: "broken" } },
      { file_name: "gs://b/f.md" },
      { status: "SUCCEEDED" },
      [1, 2]
    ]
    expect(importResultsFromText(`${rows.map((row) => JSON.stringify(row)).join("\n")}\nno JSON\n\n`)).toEqual([
      { uri: "gs://b/a.md", status: "imported", file: "5" },
      { uri: "gs://b/c d.md", status: "skipped" },
      { uri: "gs://b/e.md", status: "failed", message: "{\"code\":3,\"message\":\"broken\"}" }
    ])
  })

  it("is an object of its own in a folder", () => {
    expect([sinkObject("gs://b/run.ndjson", "import_results"), sinkObject("gs://b/runs/", "import_results")])
      .toEqual(["gs://b/run.ndjson", "gs://b/runs/import_results.ndjson"])
  })
})
