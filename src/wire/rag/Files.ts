import { Option, Result, Schema } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import { DocumentError, ServiceError } from "../../domain/Errors.ts"
import { displayNameBroken } from "../../domain/rag/RagRules.ts"
import { refusalOf } from "../../domain/Rule.ts"
import { FileState, PlainValue, type RagFile, RagFileName, type UploadRequest } from "../../domain/RagFile.ts"
import { chunkingFromWire, chunkingToWire, parsingFromWire, parsingToWire } from "./Chunkings.ts"
import { uploadErrorFromWire, uploadErrorToWire } from "../Errors.ts"
import { describe, undescribe } from "./Marker.ts"
import type * as Wire from "../messages/RagFile.ts"
import { defined, required, text, unserved } from "../Optional.ts"

/** A file as the service returns it. Sluice's marker is the end of its description. */
export const ragFileToWire = (file: RagFile): Wire.RagFile =>
  defined({
    ...sourceToWire(file),
    name: file.name,
    displayName: file.displayName,
    description: describe(file.description, file.marker),
    sizeBytes: file.sizeBytes === undefined ? undefined : String(file.sizeBytes),
    ragFileType: fileTypes[/\.([a-z]+)$/i.exec(file.displayName)?.[1]?.toLowerCase() ?? ""],
    createTime: file.createTime,
    updateTime: file.updateTime,
    userMetadata: file.userMetadata === undefined ? undefined : JSON.stringify(file.userMetadata),
    fileStatus: defined({ state: file.state, errorStatus: file.errorStatus })
  })

export const ragFileFromWire = (wire: Wire.RagFile): Result.Result<RagFile, ServiceError> => {
  if (text(wire.name) === undefined) return Result.fail(ServiceError.internal("the service answered a file without a name"))
  return Result.succeed(defined({
    name: RagFileName.make(wire.name ?? ""),
    displayName: wire.displayName ?? "",
    ...undescribe(wire.description),
    sourceUri: sourceUriOf(wire),
    sizeBytes: wire.sizeBytes === undefined ? undefined : Number(wire.sizeBytes),
    state: FileState.literals.find((state) => state === wire.fileStatus?.state) ?? "STATE_UNSPECIFIED",
    errorStatus: text(wire.fileStatus?.errorStatus),
    userMetadata: userMetadataOf(wire.userMetadata),
    createTime: wire.createTime ?? "",
    updateTime: wire.updateTime ?? ""
  }))
}

/** Decodes custom metadata from JSON; undefined where it is not an object of plain values. */
const userMetadataOf = (json: string | undefined): RagFile["userMetadata"] => {
  if (json === undefined || json === "") return undefined
  try {
    return Option.getOrUndefined(readUserMetadata(JSON.parse(json)))
  } catch {
    return undefined
  }
}

const readUserMetadata = Schema.decodeUnknownOption(Schema.Record(Schema.String, PlainValue))

/** The request of an upload, without the bytes. The API has no fields for address, metadata and permissions. */
export const uploadRequestToWire = (
  request: Pick<UploadRequest, "displayName" | "description" | "marker" | "chunking" | "parsing">
): Result.Result<Wire.UploadRagFileRequest, ServiceError> =>
  Result.map(chunkingToWire(request.chunking), (ragFileTransformationConfig) => ({
    ragFile: defined({ displayName: request.displayName, description: describe(request.description, request.marker) }),
    uploadRagFileConfig: defined({ ragFileTransformationConfig, ragFileParsingConfig: parsingToWire(request.parsing) })
  }))

export const uploadRequestFromWire = (
  corpus: CorpusName,
  wire: Wire.UploadRagFileRequest,
  body: Pick<UploadRequest, "content" | "mimeType">
): Result.Result<UploadRequest, ServiceError> =>
  Result.gen(function*() {
    const config = wire.uploadRagFileConfig ?? {}
    yield* unserved(
      config.ragFileMetadataConfig,
      "upload_rag_file_config.rag_file_metadata_config",
      "write it with ragFiles/*/ragMetadata once the files are there"
    )
    // An upload has no other source; these sources are set for imported files only.
    for (const source of ["slackSource", "jiraSource", "sharePointSources"] as const) {
      const name = source.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      yield* unserved(wire.ragFile?.[source], `rag_file.${name}`, "leave it out: bytes that are uploaded have no other source")
    }
    const displayName = yield* required(wire.ragFile?.displayName, "rag_file.display_name")
    const refused = refusalOf(displayNameBroken("rag_file.display_name", displayName))
    if (refused !== undefined) return yield* Result.fail(refused)
    const described = undescribe(wire.ragFile?.description)
    return defined({
      corpus,
      displayName,
      ...described,
      // Files with a marker come from a pipeline, which uploads the attachments of a mail as separate files: their text must
      // not be here twice.
      opened: described.marker === undefined ? undefined : true,
      ...body,
      chunking: yield* chunkingFromWire(config, "upload_rag_file_config"),
      parsing: yield* parsingFromWire(config.ragFileParsingConfig, "upload_rag_file_config")
    })
  })

/** The response to an upload. For a file that could not be stored the status is 200 too, with the reason in `error`. */
export const uploadResponseToWire = (result: RagFile | ServiceError | DocumentError): Wire.UploadRagFileResponse =>
  result instanceof ServiceError || result instanceof DocumentError
    ? { error: uploadErrorToWire(result) }
    : { ragFile: ragFileToWire(result) }

export const uploadResponseFromWire = (
  wire: Wire.UploadRagFileResponse
): Result.Result<RagFile, ServiceError | DocumentError> =>
  wire.error === undefined ? ragFileFromWire(wire.ragFile ?? {}) : Result.fail(uploadErrorFromWire(wire.error))

/** The two file types of the API, by extension. Other files have no type. */
const fileTypes: Readonly<Record<string, NonNullable<Wire.RagFile["ragFileType"]>>> = { txt: "RAG_FILE_TYPE_TXT", pdf: "RAG_FILE_TYPE_PDF" }

const driveFile = "https://drive.google.com/open?id="
/** A link of Drive to a file or to a Google document. */
const driveLink = /^https:\/\/(?:drive|docs)\.google\.com\/(?:[^?#]*\/)?d\/([A-Za-z0-9_-]+)/

const sourceToWire = ({ displayName, sourceUri: uri }: RagFile): Wire.RagFile => {
  // A plain upload has no other source, even where its name looks like an address.
  if (uri === displayName) return { directUploadSource: {} }
  if (uri.startsWith("gs://")) return { gcsSource: { uris: [uri] } }
  const resourceId = uri.startsWith(driveFile) ? uri.slice(driveFile.length) : driveLink.exec(uri)?.[1]
  if (resourceId !== undefined) {
    return { googleDriveSource: { resourceIds: [{ resourceType: "RESOURCE_TYPE_FILE", resourceId }] } }
  }
  return { directUploadSource: {} }
}

const sourceUriOf = ({ displayName = "", gcsSource, googleDriveSource }: Wire.RagFile): string => {
  const id = googleDriveSource?.resourceIds?.[0]?.resourceId
  return gcsSource?.uris?.[0] ?? (id === undefined ? displayName : `${driveFile}${id}`)
}
