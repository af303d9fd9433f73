import type { Blob, FileData, Part } from "./Generation.ts"
import { type Broken, isSet, violationUnless } from "../Rule.ts"

export const dataMembers = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult"
] as const

export const partRules = (part: Part, at: string): ReadonlyArray<Broken> => {
  const { fileData, functionCall, functionResponse, inlineData, videoMetadata } = part
  const given = dataMembers.filter((name) => part[name] !== undefined)
  return [
    ...violationUnless(given.length > 0, at, `must have one of ${dataMembers.join(", ")}`),
    ...violationUnless(given.length < 2, at, `has ${given.join(" and ")}; a part has exactly one`, "put each into a part of its own"),
    ...textRules(part.text, `${at}.text`),
    ...(inlineData === undefined ? [] : blobRules(inlineData, `${at}.inlineData`)),
    ...(fileData === undefined ? [] : fileRules(fileData, `${at}.fileData`)),
    ...(functionCall === undefined ? [] : isSet(functionCall.name, `${at}.functionCall.name`)),
    ...(functionResponse === undefined ? [] : isSet(functionResponse.name, `${at}.functionResponse.name`)),
    ...(videoMetadata === undefined ? [] : videoRules(part, videoMetadata, `${at}.videoMetadata`))
  ]
}

/** A string with half a character in it has no UTF-8. */
export const textRules = (text: string | undefined, at: string): ReadonlyArray<Broken> =>
  violationUnless(text === undefined || text.isWellFormed(), at, "must be text in UTF-8")

/** 20 MB. */
const mostInlineBytes = 20 * 1024 * 1024

const inlineTypes = new Set([
  "application/pdf",
  "audio/mpeg",
  "audio/mp3",
  "audio/wav",
  "image/png",
  "image/jpeg",
  "image/webp",
  "text/plain",
  "video/mov",
  "video/mpeg",
  "video/mp4",
  "video/mpg",
  "video/avi",
  "video/wmv",
  "video/mpegps",
  "video/flv"
])

const blobRules = ({ data = "", mimeType = "" }: Blob, at: string): ReadonlyArray<Broken> => {
  const bytes = Math.floor((data.replace(/=+$/, "").length * 3) / 4)
  const fits = bytes <= mostInlineBytes
  return [
    ...isSet(mimeType, `${at}.mimeType`),
    ...violationUnless(
      mimeType === "" || inlineTypes.has(mimeType),
      `${at}.mimeType`,
      `${mimeType.slice(0, 100)} is not taken: one of ${[...inlineTypes].join(", ")}`
    ),
    ...isSet(data, `${at}.data`),
    ...violationUnless(
      fits,
      `${at}.data`,
      `has ${bytes} bytes; inline data have at most ${mostInlineBytes}`,
      "put it into object storage and give it as fileData"
    ),
    ...violationUnless(!fits || mimeType !== "text/plain" || isUtf8(data), `${at}.data`, "text must be in UTF-8")
  ]
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const isUtf8 = (base64: string): boolean => {
  try {
    utf8.decode(Buffer.from(base64, "base64"))
    return true
  } catch {
    return false
  }
}

const fileRules = ({ fileUri, mimeType }: FileData, at: string): ReadonlyArray<Broken> => [
  ...isSet(mimeType, `${at}.mimeType`),
  ...isSet(fileUri, `${at}.fileUri`),
  ...violationUnless(
    fileUri === undefined || fileUri === "" || /^(?:gs:\/\/[^/]+\/.|https?:\/\/[^/])/.test(fileUri),
    `${at}.fileUri`,
    "must be gs://bucket/object or an http address"
  )
]

export const isVideoSite = (uri: string | undefined): boolean => /^https?:\/\/(?:(?:www|m)\.)?(?:youtube\.com|youtu\.be)\//i.test(uri ?? "")

const videoRules = (
  { fileData, inlineData }: Part,
  { endOffset, startOffset }: NonNullable<Part["videoMetadata"]>,
  at: string
): ReadonlyArray<Broken> => {
  const mimeType = inlineData?.mimeType ?? fileData?.mimeType ?? ""
  const [start, end] = [startOffset, endOffset].map(secondsOf)
  return [
    ...violationUnless(
      mimeType.startsWith("video/") || isVideoSite(fileData?.fileUri),
      at,
      "goes only with a video in inlineData or fileData"
    ),
    ...violationUnless(!Number.isNaN(start), `${at}.startOffset`, "must be seconds, as 10.5s"),
    ...violationUnless(!Number.isNaN(end), `${at}.endOffset`, "must be seconds, as 10.5s"),
    ...violationUnless(!((start ?? 0) >= (end ?? Infinity)), `${at}.endOffset`, "must come after startOffset")
  ]
}

/** NaN for what is no duration from now on. */
const secondsOf = (duration: string | undefined): number | undefined =>
  duration === undefined ? undefined : Number(/^(\d+(?:\.\d{1,9})?)s$/.exec(duration)?.[1])
