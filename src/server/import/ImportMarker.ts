import { createHash } from "node:crypto"
import type { Chunking } from "../../domain/Chunking.ts"
import type { Parsing } from "../../domain/Parsing.ts"
import type { Marker } from "../../domain/RagFile.ts"

/** `source` of the marks that imports leave; those of pipelines have a `/` in theirs. */
export const importMarker = "import"
/** The same of those that resumable uploads leave which bring none of their own. */
export const uploadMarker = "upload"

export interface ImportedState {
  /** Of the content. */
  readonly content: string
  /** Of the source's revision, under which the content was read. */
  readonly revision: string
  /** Of how it was cut. */
  readonly settings: string
}

/** Says of a file what it was imported from, so that a later import can tell whether anything changed. */
export const markerOf = (uri: string, { content, revision, settings }: ImportedState): Marker => ({
  source: importMarker,
  pathHash: hash(uri),
  fingerprint: `${content}.${revision}.${settings}`
})

export const stateOf = ({ fingerprint }: Marker): ImportedState => {
  const [content = "", revision = "", settings = ""] = fingerprint.split(".")
  return { content, revision, settings }
}

/** Of what decides about the chunks of a content. `seesPages`: a model that reads documents is given pictures of pages. */
export const settingsHash = ({ overlap, size, strategy }: Chunking, parsing?: Parsing, seesPages = false): string =>
  hash([strategy, size, overlap, ...parserOf(parsing, seesPages)].join(" "))

const parserOf = (parsing: Parsing | undefined, seesPages: boolean): ReadonlyArray<string> =>
  parsing === undefined || parsing._tag === "default"
    ? []
    : parsing._tag === "layout"
    ? ["layout"]
    : ["llm", parsing.model, parsing.prompt ?? "", ...(seesPages ? ["images"] : [])]

export const hash = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex").slice(0, 32)
