import { RagFileName } from "../../../src/domain/RagFile.ts"
import type { Context } from "../../../src/domain/Retrieval.ts"

/** What was found of a page on leave. */
export const contexts: ReadonlyArray<Context> = [{
  chunkId: "leave",
  file: RagFileName.make("corpora/c/ragFiles/leave"),
  sourceUri: "file:///leave.md",
  sourceDisplayName: "leave.md",
  text: "Everyone has 28 working days of paid leave a year.",
  headings: ["Leave"],
  score: 1
}]

/** What that answers. */
export const question = "How many days of paid leave does everyone have?"
