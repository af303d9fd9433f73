import { bool, bytes, double, duration, enumeration, list, message, of, oneof, only, type Of, string, struct } from "../Message.ts"

const Blob = message("Blob", { mimeType: string, data: bytes })
const FileData = message("FileData", { mimeType: string, fileUri: string })

const PartialArg = message("PartialArg", {
  nullValue: oneof("delta", enumeration("google.protobuf.NullValue", ["NULL_VALUE"])),
  numberValue: oneof("delta", double),
  stringValue: oneof("delta", string),
  boolValue: oneof("delta", bool),
  jsonPath: string,
  willContinue: bool
})

const FunctionCall = message("FunctionCall", {
  id: only("v1beta1", string),
  name: string,
  args: struct,
  partialArgs: list(of(PartialArg)),
  willContinue: bool
})

const FunctionResponsePart = message("FunctionResponsePart", {
  inlineData: oneof("data", of(message("FunctionResponseBlob", { mimeType: string, data: bytes, displayName: string }))),
  fileData: oneof("data", of(message("FunctionResponseFileData", { mimeType: string, fileUri: string, displayName: string })))
})

const FunctionResponse = message("FunctionResponse", {
  id: only("v1beta1", string),
  name: string,
  response: struct,
  parts: list(of(FunctionResponsePart))
})

const ExecutableCode = message("ExecutableCode", {
  language: enumeration("ExecutableCode.Language", ["LANGUAGE_UNSPECIFIED", "PYTHON"]),
  code: string
})

const CodeExecutionResult = message("CodeExecutionResult", {
  outcome: enumeration("CodeExecutionResult.Outcome", [
    "OUTCOME_UNSPECIFIED",
    "OUTCOME_OK",
    "OUTCOME_FAILED",
    "OUTCOME_DEADLINE_EXCEEDED"
  ]),
  output: string
})

const VideoMetadata = message("VideoMetadata", {
  startOffset: duration,
  endOffset: duration,
  fps: only("v1", double)
})

const MediaResolution = message("Part.MediaResolution", {
  level: oneof(
    "value",
    enumeration("Part.MediaResolution.Level", [
      "MEDIA_RESOLUTION_UNSPECIFIED",
      "MEDIA_RESOLUTION_LOW",
      "MEDIA_RESOLUTION_MEDIUM",
      "MEDIA_RESOLUTION_HIGH",
      "MEDIA_RESOLUTION_ULTRA_HIGH"
    ])
  )
})

export const Part = message("Part", {
  text: oneof("data", string),
  inlineData: oneof("data", of(Blob)),
  fileData: oneof("data", of(FileData)),
  functionCall: oneof("data", of(FunctionCall)),
  functionResponse: oneof("data", of(FunctionResponse)),
  executableCode: oneof("data", of(ExecutableCode)),
  codeExecutionResult: oneof("data", of(CodeExecutionResult)),
  thought: bool,
  thoughtSignature: bytes,
  videoMetadata: oneof("metadata", of(VideoMetadata)),
  mediaResolution: only("v1", of(MediaResolution))
})

export const Content = message("Content", { role: string, parts: list(of(Part)) })
export type Content = Of<typeof Content>
