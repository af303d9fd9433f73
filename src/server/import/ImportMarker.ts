import { createHash } from "node:crypto"
import type { Chunking } from "../../domain/Chunking.ts"
import type { Parsing } from "../../domain/Parsing.ts"
import type { Marker } from "../../domain/RagFile.ts"

/** `source` in the markers of imports. The `source` of a pipeline has a `/`. */
export const importMarker = "import"
/** `source` in the markers of resumable uploads that bring no marker. */
export const uploadMarker = "upload"

export interface ImportedState {
  /** Hash of the content. */
  readonly content: string
  /** Hash of the source's revision, under which the content was read. */
  readonly revision: string
  /** Hash of the chunking and parsing settings. */
  readonly settings: string
}

/** A marker that records what a file was imported from, so that a later import can detect changes. */
export const markerOf = (uri: string, { content, revision, settings }: ImportedState): Marker => ({
  source: importMarker,
  pathHash: hash(uri),
  fingerprint: `${content}.${revision}.${settings}`
})

export const stateOf = ({ fingerprint }: Marker): ImportedState => {
  const [content = "", revision = "", settings = ""] = fingerprint.split(".")
  return { content, revision, settings }
}

/** Hash of the settings that decide the chunks of a content. `seesPages`: the model that reads documents gets images of pages. */
export const settingsHash = ({ overlap, size, strategy }: Chunking, parsing?: Parsing, seesPages = false): string =>
  hash([strategy, size, overlap, ...parserOf(parsing, seesPages)].join(" "))

const parserOf = (parsing: Parsing | undefined, seesPages: boolean): ReadonlyArray<string> =>
  parsing === undefined || parsing._tag === "default"
    ? []
    : parsing._tag === "layout"
    ? ["layout"]
    : ["llm", parsing.model, parsing.prompt ?? "", ...(seesPages ? ["images"] : [])]

export const hash = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex").slice(0, 32)
