/** Names of the ids that texts mention. */
export interface Names {
  readonly user: (id: string) => string
  readonly channel: (id: string) => string
  readonly group: (id: string) => string
}

/** Ids of the people and of the unlabelled channels and groups that a text mentions. */
export const mentionsOf = (text: string): { readonly [K in "users" | "channels" | "groups"]: ReadonlyArray<string> } => ({
  users: [...text.matchAll(/<@([A-Z0-9]+)(?:\|[^>]*)?>/g)].map(([, id = ""]) => id),
  channels: [...text.matchAll(/<#([A-Z0-9]+)\|?>/g)].map(([, id = ""]) => id),
  groups: [...text.matchAll(/<!subteam\^([A-Z0-9]+)\|?>/g)].map(([, id = ""]) => id)
})

/**
 * Slack's mrkdwn as Markdown. Code keeps its characters; elsewhere `&lt;`, `&gt;` and `&amp;` stay escaped, which Markdown reads alike, so
 * that no text becomes markup.
 */
export const toMarkdown = (text: string, names: Names): string =>
  text.split(/(```[^]*?```|`[^`\n]+`)/).map((part, index) => index % 2 === 0 ? prose(part, names) : code(part, names)).join("").replace(
    /\n{3,}/g,
    "\n\n"
  ).trim()

const code = (part: string, names: Names): string => {
  const plain = unescape(part.replace(/<([^<>\n]+)>/g, (_, inner: string) => reference(inner, names).label))
  return part.startsWith("```") ? `\n${fenced(plain.slice(3, -3))}\n` : plain
}

const fenced = (body: string): string => `\`\`\`\n${body.replace(/^\n|\n$/g, "")}\n\`\`\``

const unescape = (text: string): string =>
  text.replace(/&(lt|gt|amp);/g, (_, name: string) => name === "lt" ? "<" : name === "gt" ? ">" : "&")

const prose = (part: string, names: Names): string => {
  // Addresses contain * and _ without meaning, so references are set aside while emphasis is read.
  const references: Array<string> = []
  const bare = part.replace(/[\uE000-\uE002]/g, "").replace(/<([^<>\n]+)>/g, (_, inner: string) => {
    const { label, url } = reference(inner, names)
    return `\uE000${references.push(url === undefined ? label : link(label, url)) - 1}\uE001`
  })
  return bare.split("\n").map(line).join("\n").replace(/\uE000(\d+)\uE001/g, (_, index: string) => references[Number(index)] ?? "")
}

const line = (text: string): string =>
  emphasis(
    text.replace(/^&gt;&gt;&gt;\s?|^&gt;\s?/, "> ")
      .replace(/^(\s*)[•◦▪]\s*/, "$1- ")
      .replace(/^(\s*)(#{1,6}\s|[-=]{2,}\s*$|\+\s)/, "$1\\$2")
  )

const edge = "[\\s.,;:!?'\"()\\[\\]{}\\-–—/*_~\\uE000\\uE001]"

const wrapped = (mark: string): RegExp =>
  new RegExp(`(?<=^|${edge})${mark}(?=[^\\s${mark}])([^${mark}\\n]*[^\\s${mark}])${mark}(?=$|${edge})`, "g")

const [bold, strike] = [wrapped("\\*"), wrapped("~")]

/** Emphasis as Markdown. `_italic_` is Markdown already; a `*` that is left over must not become Markdown's. */
const emphasis = (text: string): string =>
  text.replace(bold, "\uE002$1\uE002").replace(/\*(?=\S)|(?<=\S)\*/g, "\\*").replaceAll("\uE002", "**").replace(strike, "~~$1~~")

const link = (label: string, url: string): string =>
  label === ""
    ? `<${url}>`
    : `[${label.replace(/([[\]])/g, "\\$1")}](${url.replace(/[()\s]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)})`

/** A reference between `<` and `>`. A label without an address is a mention. */
const reference = (inner: string, names: Names): { readonly label: string; readonly url?: string } => {
  const bar = inner.indexOf("|")
  const [target, label] = bar === -1 ? [inner, ""] : [inner.slice(0, bar), inner.slice(bar + 1)]
  const id = target.slice(1)
  switch (target[0]) {
    case "@":
      return { label: `@${label === "" ? names.user(id) : label}` }
    case "#":
      return { label: `#${label === "" ? names.channel(id) : label}` }
    case "!":
      // <!here>, <!subteam^S1>, <!subteam^S1|@group>, <!date^…|as text>
      return { label: label === "" ? `@${id.startsWith("subteam^") ? names.group(id.slice(8)) : id.replace(/\^.*$/, "")}` : label }
    default:
      return /^(?:https?:\/\/|mailto:|tel:)/i.test(target)
        ? { label: label === target ? "" : label, url: target }
        : { label: label === "" ? target : label }
  }
}
