import { adfToMarkdown } from "./Adf.ts"
import type { Comment, Issue, Person } from "./Answers.ts"
import { timeOf, titleOf } from "./IssueItem.ts"
import { blocks, escapeText } from "./Markdown.ts"
import { wikiToMarkdown } from "./Wiki.ts"

/** An issue as Markdown: its facts, description and comments. */
export const renderIssue = (issue: Issue, comments: ReadonlyArray<Comment>): string => {
  const { fields } = issue
  const facts = [
    ["Project", fields.project.name ?? fields.project.key],
    ["Type", fields.issuetype?.name],
    ["Status", fields.status?.name],
    ["Resolution", fields.resolution?.name],
    ["Priority", fields.priority?.name],
    ["Labels", (fields.labels ?? []).join(", ")],
    ["Components", (fields.components ?? []).map(({ name }) => name).join(", ")],
    ["Fix versions", (fields.fixVersions ?? []).map(({ name }) => name).join(", ")],
    ["Parent", fields.parent === null || fields.parent === undefined ? "" : `${fields.parent.key} ${fields.parent.fields?.summary ?? ""}`.trim()],
    ["Reporter", nameOf(fields.reporter)],
    ["Assignee", nameOf(fields.assignee)],
    ["Due", fields.duedate]
  ].flatMap(([name = "", value]) => typeof value === "string" && value !== "" ? [`- ${name}: ${escapeText(value)}`] : [])
  const description = bodyOf(fields.description)
  const said = comments.flatMap((comment) => {
    const body = bodyOf(comment.body)
    return body === "" ? [] : [`### ${escapeText(nameOf(comment.author) || "Someone")}, ${minuteOf(comment.created)}`, body]
  })
  return blocks([
    `# ${escapeText(titleOf(issue))}`,
    facts.join("\n"),
    ...(description === "" ? [] : ["## Description", description]),
    ...(said.length === 0 ? [] : ["## Comments", ...said])
  ]) + "\n"
}

/** Wiki markup is text, ADF a tree. */
const bodyOf = (body: unknown): string => typeof body === "string" ? wikiToMarkdown(body) : adfToMarkdown(body)

const nameOf = (person: Person | null | undefined): string => person?.displayName ?? person?.name ?? ""

const minuteOf = (time: string | null | undefined): string => `${(timeOf(time) ?? "").slice(0, 16).replace("T", " ")} UTC`
