import { SaxesParser } from "saxes"
import type { StoredObject } from "../Objects.ts"

/**
 * The objects and the next token of a ListObjectsV2 answer. Throws on what is not one, or is cut short.
 */
export const parseList = (xml: string): { readonly objects: ReadonlyArray<StoredObject>; readonly token?: string } => {
  const objects: Array<StoredObject> = []
  const top: Record<string, string> = {}
  let current: Record<string, string> | undefined
  let text = ""
  let depth = 0
  const parser = new SaxesParser()
  parser.on("error", (error) => {
    throw error
  })
  parser.on("opentag", ({ name }) => {
    depth++
    text = ""
    if (depth === 1 && name !== "ListBucketResult") throw new Error(`${name} is no listing`)
    if (depth === 2 && name === "Contents") current = {}
  })
  parser.on("text", (piece) => {
    text += piece
  })
  parser.on("closetag", ({ name }) => {
    if (depth === 2 && name === "Contents") {
      if (current !== undefined) objects.push(objectOf(current))
      current = undefined
    } else if (depth === 3 && current !== undefined) current[name] = text
    else if (depth === 2) top[name] = text
    depth--
  })
  parser.write(xml).close()
  const token = top["NextContinuationToken"]
  // Keys come escaped where the service understood that we asked for it, and only then.
  const escaped = top["EncodingType"] === "url"
  return {
    objects: escaped ? objects.map((object) => ({ ...object, key: unescape(object.key) })) : objects,
    ...(token === undefined || top["IsTruncated"] !== "true" ? {} : { token })
  }
}

const unescape = (key: string): string => decodeURIComponent(key.replaceAll("+", " "))

const objectOf = (fields: Readonly<Record<string, string>>): StoredObject => {
  const { ETag: etag, Key: key, LastModified: updated, Size: size } = fields
  if (key === undefined || etag === undefined || size === undefined || !/^\d+$/.test(size)) throw new Error("an object without key, etag or size")
  return { key, revision: bareEtag(etag), size: Number(size), ...(updated === undefined ? {} : { updated }) }
}

export const bareEtag = (etag: string): string => etag.replace(/^"(.*)"$/, "$1")

/** The fields of an S3 error body; empty for anything else. */
export const parseError = (xml: string): { readonly code?: string; readonly message?: string; readonly region?: string } => {
  const field = (name: string): string | undefined => new RegExp(`<${name}>([^<]{1,500})</${name}>`).exec(xml)?.[1]
  const [code, message, region] = [field("Code"), field("Message"), field("Region")]
  return {
    ...(code === undefined ? {} : { code }),
    ...(message === undefined ? {} : { message }),
    ...(region === undefined ? {} : { region })
  }
}
