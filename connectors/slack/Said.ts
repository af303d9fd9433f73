import { Predicate } from "effect"
import type { Attachment, Message } from "./Answers.ts"
import { microsOf, type Range } from "./Timestamps.ts"

/** What Slack itself notes in a channel, and what is left of deleted messages. */
const noise =
  /^(?:channel_|group_|bot_(?:add|remove|enable|disable)|pinned_item|unpinned_item|reminder_|tombstone|message_|ekm_|sh_room_|huddle_)/

/** Whether a message says something: people's and apps' words and files, no notices and nothing deleted. */
export const isSaid = (message: Message): boolean =>
  message.hidden !== true && !noise.test(message.subtype ?? "") &&
  (textOf(message).trim() !== "" || (message.attachments ?? []).length > 0 || (message.files ?? []).length > 0)

/** Which document a message of a channel's history belongs to, or none. */
export const placeOf = (message: Message, range: Range): "thread" | "day" | undefined => {
  const { thread_ts: thread, ts } = message
  // The parent may be deleted; what was answered is still there.
  if (thread === ts && (message.reply_count ?? 0) > 0) return "thread"
  if (!isSaid(message)) return undefined
  // A reply that was sent to the channel too stands in its thread, unless that one is out of range.
  return typeof thread === "string" && thread !== ts && microsOf(thread) >= range.from ? undefined : "day"
}

/** The message's own text, in mrkdwn; of the blocks where an app gave no other. */
export const textOf = ({ blocks, text }: Message): string =>
  typeof text === "string" && text.trim() !== "" ? text : (blocks ?? []).map((block) => blockText(block, 0)).filter((part) => part !== "").join("\n")

/** The words in a block, whatever its kind (Block Kit nests texts, fields and elements). */
const blockText = (block: unknown, depth: number): string => {
  if (!Predicate.isObject(block) || depth > 8) return ""
  const text = "text" in block ? block.text : undefined
  if (Predicate.isString(text)) return text
  const own = blockText(text, depth + 1)
  const parts = (["fields", "elements"] as const).flatMap((name) => {
    const list: unknown = Reflect.get(block, name)
    return Array.isArray(list) ? list.map((part) => blockText(part, depth + 1)) : []
  })
  const inline = "type" in block && /^rich_text_(?:section|quote|preformatted)$/.test(String(block.type))
  return [own, ...parts].filter((part) => part !== "").join(inline ? "" : "\n")
}

/** When it was said or last edited, in microseconds. */
export const modifiedOf = ({ edited, ts }: Message): number => Math.max(microsOf(ts), microsOf(edited?.ts ?? "0"))

/** Everything about a message that its document shows. */
export const digestible = (message: Message): string =>
  JSON.stringify([
    message.ts,
    message.user ?? message.bot_id ?? null,
    message.username ?? null,
    message.edited?.ts ?? null,
    textOf(message),
    (message.attachments ?? []).map(attachmentFacts),
    (message.files ?? []).map(({ id, mode, name }) => [id, mode ?? null, name ?? null])
  ])

const attachmentFacts = (attachment: Attachment) => [
  attachment.pretext ?? null,
  attachment.title ?? null,
  attachment.title_link ?? null,
  attachment.text ?? null,
  attachment.fallback ?? null,
  attachment.fields ?? null
]
