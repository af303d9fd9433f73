import { bool, deprecated, enumeration, int32, int64, list, message, of, oneof, only, type Of, string, timestamp } from "../Message.ts"
import { RagFileChunkingConfig, RagFileParsingConfig, RagFileTransformationConfig } from "./RagFileParsingConfig.ts"
import { Status } from "./Rpc.ts"
import { BigQueryDestination, DirectUploadSource, GcsDestination, RagFileMetadataConfig, sources } from "./Sources.ts"

const FileStatus = message("FileStatus", {
  state: enumeration("FileStatus.State", ["STATE_UNSPECIFIED", "ACTIVE", "ERROR"]),
  errorStatus: string
})

export const RagFile = message("RagFile", {
  ...sources("rag_file_source"),
  directUploadSource: oneof("rag_file_source", of(DirectUploadSource)),
  name: string,
  displayName: string,
  description: string,
  sizeBytes: only("v1beta1", int64),
  ragFileType: only(
    "v1beta1",
    enumeration("RagFile.RagFileType", ["RAG_FILE_TYPE_UNSPECIFIED", "RAG_FILE_TYPE_TXT", "RAG_FILE_TYPE_PDF"])
  ),
  createTime: timestamp,
  updateTime: timestamp,
  fileStatus: of(FileStatus),
  userMetadata: only("v1beta1", string)
})
export type RagFile = Of<typeof RagFile>

export const ListRagFilesRequest = message("ListRagFilesRequest", { pageSize: int32, pageToken: string })
export const ListRagFilesResponse = message("ListRagFilesResponse", { ragFiles: list(of(RagFile)), nextPageToken: string })
export const DeleteRagFileRequest = message("DeleteRagFileRequest", { forceDelete: only("v1beta1", bool) })

const UploadRagFileConfig = message("UploadRagFileConfig", {
  ragFileChunkingConfig: only("v1beta1", deprecated(of(RagFileChunkingConfig))),
  ragFileTransformationConfig: of(RagFileTransformationConfig),
  ragFileMetadataConfig: only("v1beta1", deprecated(of(RagFileMetadataConfig))),
  ragFileParsingConfig: only("v1beta1", of(RagFileParsingConfig))
})

export const UploadRagFileRequest = message("UploadRagFileRequest", {
  ragFile: of(RagFile),
  uploadRagFileConfig: of(UploadRagFileConfig)
})
export type UploadRagFileRequest = Of<typeof UploadRagFileRequest>

export const UploadRagFileResponse = message("UploadRagFileResponse", {
  ragFile: oneof("result", of(RagFile)),
  error: oneof("result", of(Status))
})
export type UploadRagFileResponse = Of<typeof UploadRagFileResponse>

export const ImportRagFilesConfig = message("ImportRagFilesConfig", {
  ...sources("import_source"),
  partialFailureGcsSink: deprecated(oneof("partial_failure_sink", of(GcsDestination))),
  partialFailureBigquerySink: deprecated(oneof("partial_failure_sink", of(BigQueryDestination))),
  importResultGcsSink: oneof("import_result_sink", of(GcsDestination)),
  importResultBigquerySink: oneof("import_result_sink", of(BigQueryDestination)),
  ragFileChunkingConfig: only("v1beta1", deprecated(of(RagFileChunkingConfig))),
  ragFileTransformationConfig: of(RagFileTransformationConfig),
  ragFileParsingConfig: of(RagFileParsingConfig),
  ragFileMetadataConfig: only("v1beta1", deprecated(of(RagFileMetadataConfig))),
  maxEmbeddingRequestsPerMin: int32,
  globalMaxEmbeddingRequestsPerMin: only("v1beta1", int32),
  rebuildAnnIndex: bool
})
export type ImportRagFilesConfig = Of<typeof ImportRagFilesConfig>

export const ImportRagFilesRequest = message("ImportRagFilesRequest", { importRagFilesConfig: of(ImportRagFilesConfig) })
export type ImportRagFilesRequest = Of<typeof ImportRagFilesRequest>

export const ImportRagFilesResponse = message("ImportRagFilesResponse", {
  partialFailuresGcsPath: oneof("partial_failure_sink", string),
  partialFailuresBigqueryTable: oneof("partial_failure_sink", string),
  importedRagFilesCount: int64,
  failedRagFilesCount: int64,
  skippedRagFilesCount: int64
})
