import type { Listed } from "../../src/ports/Connector.ts"
import type { File } from "./Answers.ts"
import type { ChannelFacts } from "./Directory.ts"
import { timeOf } from "./Timestamps.ts"

/** An attached file as an item of its own; nothing when it is gone. */
export const listedFile = (
  file: File,
  channel: ChannelFacts,
  author: string | undefined,
  owns: (url: string) => boolean
): Listed | undefined => {
  if (file.mode === "tombstone") return undefined
  const path = `${channel.id}/files/${file.id}-${nameOf(file).replace(/[/\\\u0000-\u001f]/g, "_")}`
  if (file.mode === "hidden_by_limit") {
    return { _tag: "skipped", path, reason: "limit", detail: "hidden by the limits of the workspace's plan" }
  }
  if (file.is_external === true || file.mode === "external") {
    return { _tag: "skipped", path, reason: "unsupported", detail: "kept outside Slack" }
  }
  const url = addressOf(file)
  // Files of other workspaces are known by their id alone until they are asked for.
  if (file.file_access !== "check_file_info" && (url === undefined || !owns(url))) {
    return { _tag: "skipped", path, reason: "unsupported", detail: url === undefined ? "has no address" : "kept outside Slack" }
  }
  const created = (file.created ?? file.timestamp ?? 0) * 1_000_000
  const modified = (file.updated ?? 0) * 1_000_000
  const mimeType = isCanvas(file) ? "text/html" : file.mimetype ?? ""
  return {
    _tag: "item",
    item: {
      path,
      uri: file.permalink ?? url ?? "",
      displayName: nameOf(file),
      revision: revisionOf(file),
      ...(typeof file.size === "number" && !isCanvas(file) ? { size: file.size } : {}),
      ...(mimeType === "" ? {} : { mimeType }),
      metadata: {
        title: file.title ?? nameOf(file),
        channel: channel.name,
        channelId: channel.id,
        fileId: file.id,
        ...(author === undefined ? {} : { author }),
        ...(created === 0 ? {} : { createdTime: timeOf(created), modifiedTime: timeOf(Math.max(created, modified)) }),
        ...(typeof file.permalink === "string" ? { url: file.permalink } : {})
      },
      permissions: channel.permissions
    }
  }
}

/** Files are not edited, only canvases and snippets are. */
const revisionOf = ({ created, id, size, timestamp, updated }: File): string =>
  [id, size ?? 0, updated ?? timestamp ?? created ?? 0].join("-")

export const addressOf = ({ url_private, url_private_download }: File): string | undefined =>
  url_private_download ?? url_private ?? undefined

/** Canvases download as HTML. */
export const isCanvas = ({ filetype }: File): boolean => filetype === "quip" || filetype === "canvas"

const nameOf = (file: File): string => {
  const name = [file.name, file.title].find((each) => typeof each === "string" && each.trim() !== "") ?? file.id
  return (isCanvas(file) && !/\.html?$/i.test(name) ? `${name}.html` : name).normalize("NFC")
}
