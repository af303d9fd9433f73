import { Result } from "effect"
import { fileURLToPath, pathToFileURL } from "node:url"
import { ServiceError } from "../../src/domain/Errors.ts"
import { isConfidential } from "../../src/domain/HttpAddress.ts"
import { redactUrl } from "../../src/domain/Redact.ts"

/** One of the configured addresses. Paths are made of `text`; it contains no credentials. */
export type Address =
  | {
    readonly scheme: "gs" | "s3"
    readonly text: string
    /** Whether the address means all objects whose key starts with `key`, rather than the one object with that key. */
    readonly under: boolean
    readonly bucket: string
    readonly key: string
  }
  | { readonly scheme: "https"; readonly text: string; readonly under: false; readonly url: URL }
  | { readonly scheme: "file"; readonly text: string; readonly under: boolean; readonly path: string }

export type BucketAddress = Extract<Address, { readonly scheme: "gs" | "s3" }>

/** Parses an address. Plain http is allowed for this machine only. */
export const parseAddress = (uri: string): Result.Result<Address, ServiceError> => {
  const bucket = /^(gs|s3):\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,221})(?:\/([^]*))?$/.exec(uri)
  if (bucket !== null) return bucketAddress(bucket[1] === "gs" ? "gs" : "s3", bucket[2] ?? "", bucket[3] ?? "")
  const url = URL.parse(uri)
  if (url !== null && isConfidential(url)) {
    if (url.username !== "" || url.password !== "") {
      return invalid(`${redactUrl(uri)} must hold no user name and no password`)
    }
    url.hash = ""
    return Result.succeed({ scheme: "https", text: redactUrl(url.href), under: false, url })
  }
  if (url !== null && url.protocol === "file:" && url.host === "") return fileAddress(url)
  return invalid(`${redactUrl(uri)} is none of gs://bucket/…, s3://bucket/…, https://… and file:///…`)
}

const bucketAddress = (scheme: "gs" | "s3", bucket: string, rest: string): Result.Result<Address, ServiceError> => {
  const key = rest.replace(/\*+$/, "")
  // No Cloud Storage object has such a name, and in a URL it would climb out of the bucket.
  if (scheme === "gs" && (key === "." || key === "..")) return invalid(`gs://${bucket}/${key} names no object`)
  if (key.includes("*")) return invalid(`${scheme}://${bucket}/${rest} has a * that is not at its end`)
  const under = key !== rest || key === "" || key.endsWith("/")
  return Result.succeed({ scheme, text: objectPath(scheme, bucket, key), under, bucket, key })
}

/**
 * The path of an object: its address, unescaped. Paths are NFC and keys need not be; parts of a key that are not NFC are percent-encoded,
 * so that two keys never become one path.
 */
export const objectPath = (scheme: "gs" | "s3", bucket: string, key: string): string => {
  const parts = key === key.normalize("NFC")
    ? key
    : key.split("/").map((part) => part === part.normalize("NFC") ? part : encodeURIComponent(part)).join("/")
  return `${scheme}://${bucket}/${parts}`
}

const fileAddress = (url: URL): Result.Result<Address, ServiceError> => {
  try {
    const path = fileURLToPath(url)
    const under = /[/\\]$/.test(path)
    return Result.succeed({ scheme: "file", text: fileText(path), under, path })
  } catch {
    return invalid(`${url.href} is not a file on this machine`)
  }
}

/** A file's address as people read it, with nothing escaped, not even `#`, `?` and `%`. Keeps a `/` at the end. */
export const fileText = (path: string): string =>
  `file://${pathToFileURL(path).pathname.split("/").map(decodeURIComponent).join("/").normalize("NFC")}`

/** The folder of an address that turned out not to name an object itself. */
export const folderOf = (address: Address): Address =>
  address.scheme === "https" ?
    address
    : address.scheme === "file" ?
    { ...address, under: true, text: `${address.text}/` }
    : { ...address, under: true, key: `${address.key}/`, text: `${address.text}/` }

const invalid = (description: string) => Result.fail(ServiceError.invalid("uris", description))

/**
 * Returns a function that decides whether a path was already listed by an address before place `at`. Places count through the addresses and
 * then through `folders` (indexes of addresses that are listed as folders at the end).
 */
export const overlapOf = (addresses: ReadonlyArray<Address>) => {
  const singles = new Map<string, number>()
  const prefixes: Array<{ readonly text: string; readonly place: number }> = []
  for (const [place, { text, under }] of addresses.entries()) {
    if (under) prefixes.push({ text, place })
    else if (!singles.has(text)) singles.set(text, place)
  }
  return (folders: ReadonlyArray<number>, at: number) => {
    const earlier = [
      ...prefixes.flatMap(({ place, text }) => place < at ? [text] : []),
      ...folders.slice(0, Math.max(0, at - addresses.length)).flatMap((index) => {
        const address = addresses[index]
        return address === undefined ? [] : [folderOf(address).text]
      })
    ]
    return (path: string): boolean => (singles.get(path) ?? at) < at || earlier.some((prefix) => path.startsWith(prefix))
  }
}
