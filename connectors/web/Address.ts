import type { WebConfig } from "./WebConfig.ts"

/** Parameters that say where a visitor came from, and nothing of the page. */
const tracking = /^(?:utm_\w+|gclid|fbclid|msclkid|mc_[ce]id|yclid|_ga|ref_src)$/i

/** What is no document, by the ending of its name: never asked for. */
const noDocument = /\.(?:avif|bmp|css|eot|gif|ico|jpe?g|js|mjs|map|mp[34]|m4[av]|mov|avi|mkv|webm|ogg|wav|flac|otf|png|svg|tiff?|ttf|webp|woff2?|zip|gz|bz2|xz|7z|rar|tar|tgz|dmg|exe|msi|deb|rpm|iso|apk|jar|wasm|bin)$/i

/** Longer ones are made by a trap, not by a person. */
const maxAddress = 2_000

/** The one form of an address: without fragment, tracking parameters, an index's name, empty parts. */
export const canonical = (address: string, base?: string): string | undefined => {
  const url = URL.parse(address, base)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined
  url.hash = ""
  for (const name of new Set(url.searchParams.keys())) if (tracking.test(name)) url.searchParams.delete(name)
  url.pathname = url.pathname.replace(/\/{2,}/g, "/").replace(/\/index\.html?$/i, "/")
  return url.href.length > maxAddress ? undefined : url.href.replace(/\?$/, "")
}

/** Which addresses are of the site: of the first one's origin, under its folder. */
export const scopeOf = ({ url }: Pick<WebConfig, "url">): { readonly first: string; readonly holds: (address: string) => boolean } => {
  const first = canonical(url) ?? url
  const { origin, pathname } = new URL(first)
  const folder = `${origin}${pathname.slice(0, pathname.lastIndexOf("/") + 1)}`
  return { first, holds: (address) => (address.startsWith(folder) || address === first) && !noDocument.test(new URL(address).pathname) }
}

/** The path of an item: that of its address, escapes undone where that can be told back. */
export const pathOf = (address: string): string => {
  const { pathname, search } = new URL(address)
  const parts = pathname.slice(1).split("/").map((part, at, all) => part === "" && at === all.length - 1 ? "index.html" : plain(part))
  return `${parts.join("/")}${search}`
}

const plain = (part: string): string => {
  try {
    const text = decodeURIComponent(part)
    return encodeURIComponent(text) === part && text === text.normalize("NFC") && !/[/\\?\p{Cc}]/u.test(text) && !/^\.{1,2}$/.test(text) ? text : part
  } catch {
    return part
  }
}
