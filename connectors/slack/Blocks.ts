import { Predicate } from "effect"

/** Deepest nesting that is read; Block Kit allows far less. */
const maxDepth = 16

type Node = Readonly<Record<string, unknown>>

/** The words in blocks of any kind, as mrkdwn. */
export const blocksText = (blocks: ReadonlyArray<unknown>): string => lines(blocks, 0)

/** Whether blocks are an app's layout: a person's are rich text, which the message's own text repeats. */
export const isLayout = (blocks: ReadonlyArray<unknown>): boolean =>
  blocks.some((block) => Predicate.isObject(block) && Reflect.get(block, "type") !== "rich_text")

/** Parts of a block that hold words, in the order in which Slack shows them. */
const wordy = ["label", "title", "subtitle", "text", "body", "fields", "elements", "tasks", "details", "output", "description", "accessory"]

const wordsOf = (part: unknown, depth: number): string => {
  if (Predicate.isString(part)) return part
  if (Array.isArray(part)) return lines(part, depth)
  if (!Predicate.isObject(part) || depth > maxDepth) return ""
  const node = part as Node // an object's keys are read one by one
  const children = (name: string): ReadonlyArray<unknown> => Array.isArray(node[name]) ? node[name] : []
  const runs = () => children("elements").map((run) => runOf(run, depth + 1)).join("")
  switch (node["type"]) {
    case "rich_text_section":
      return runs()
    case "rich_text_quote":
      return runs().replace(/^/gm, "&gt; ")
    case "rich_text_preformatted":
      return `\`\`\`\n${runs()}\n\`\`\``
    case "rich_text_list":
      return children("elements").map((item) => `${"  ".repeat(Number(node["indent"]) || 0)}• ${wordsOf(item, depth + 1)}`).join("\n")
    case "table":
      return children("rows").map((row) => Array.isArray(row) ? row.map((cell) => wordsOf(cell, depth + 1)).join(" | ") : "").join("\n")
    case "raw_text":
      return escape(node["text"])
    default:
      return lines([...wordy.map((name) => node[name]), node["alt_text"]], depth + 1)
  }
}

const lines = (parts: ReadonlyArray<unknown>, depth: number): string =>
  parts.map((part) => wordsOf(part, depth)).filter((text) => text.trim() !== "").join("\n")

/** A run of rich text, whose characters are not escaped as those of mrkdwn are. */
const runOf = (run: unknown, depth: number): string => {
  if (!Predicate.isObject(run)) return ""
  const node = run as Node // an object's keys are read one by one
  const text = escape(node["text"])
  switch (node["type"]) {
    case "text":
      return text
    case "link":
      return `<${escape(node["url"])}${text === "" ? "" : `|${text}`}>`
    case "user":
      return `<@${escape(node["user_id"])}>`
    case "channel":
      return `<#${escape(node["channel_id"])}>`
    case "usergroup":
      return `<!subteam^${escape(node["usergroup_id"])}>`
    case "broadcast":
      return `<!${escape(node["range"])}>`
    case "emoji":
      return `:${escape(node["name"])}:`
    case "date":
      return escape(node["fallback"])
    default:
      return wordsOf(node, depth)
  }
}

const escape = (text: unknown): string =>
  Predicate.isString(text) ? text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;") : ""
