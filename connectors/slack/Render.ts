import type { Attachment, Message } from "./Answers.ts"
import { mentionsOf, type Names, toMarkdown } from "./Mrkdwn.ts"
import { isSaid, textOf } from "./Said.ts"
import { microsOf, timeOf } from "./Timestamps.ts"

/** Ids whose names a rendering of these messages wants. */
export const idsIn = (messages: ReadonlyArray<Message>): { readonly users: Set<string>; readonly channels: Set<string> } => {
  const users = new Set<string>()
  const channels = new Set<string>()
  for (const message of messages) {
    if (typeof message.user === "string") users.add(message.user)
    for (const text of [textOf(message), ...(message.attachments ?? []).flatMap(({ pretext, text }) => [pretext ?? "", text ?? ""])]) {
      const mentioned = mentionsOf(text)
      for (const id of mentioned.users) users.add(id)
      for (const id of mentioned.channels) channels.add(id)
    }
  }
  return { users, channels }
}

/** Messages as Markdown, oldest first, each under who said it and when. */
export const renderMessages = (title: string, messages: ReadonlyArray<Message>, names: Names): string =>
  [`# ${title.replace(/([\\`*_<>[\]])/g, "\\$1")}`, ...messages.filter(isSaid).map((message) => renderMessage(message, names))].join("\n\n") + "\n"

const renderMessage = (message: Message, names: Names): string => {
  const when = `${timeOf(microsOf(message.ts)).slice(0, 16).replace("T", " ")} UTC`
  const said = [
    toMarkdown(textOf(message), names),
    ...(message.attachments ?? []).map((attachment) => renderAttachment(attachment, names)),
    ...(message.files ?? []).flatMap(({ mode, name, title }) =>
      mode === "tombstone" ? [] : [`Attached: ${title ?? name ?? "a file"}`])
  ]
  return [`**${authorOf(message, names)}** (${when}):`, ...said.filter((part) => part !== "")].join("\n\n")
}

const authorOf = (message: Message, names: Names): string =>
  [message.username, message.bot_profile?.name].find((name) => typeof name === "string" && name !== "") ??
    (typeof message.user === "string" ? names.user(message.user) : message.bot_id ?? "Slack")

const renderAttachment = (attachment: Attachment, names: Names): string => {
  const { author_name, fallback, fields, pretext, text, title, title_link } = attachment
  const heading = typeof title !== "string" || title === "" ? "" : title_link ? `[${title}](${title_link})` : title
  const parts = [
    toMarkdown(pretext ?? "", names),
    author_name ?? "",
    heading,
    toMarkdown(text ?? "", names),
    ...(fields ?? []).map((field) => [field.title ?? "", toMarkdown(field.value ?? "", names)].filter((part) => part !== "").join(": "))
  ].filter((part) => part !== "")
  const body = parts.length === 0 ? toMarkdown(fallback ?? "", names) : parts.join("\n\n")
  return body === "" ? "" : body.replace(/^/gm, "> ").replace(/^> $/gm, ">")
}
