import { Predicate } from "effect"
import { plural } from "../../src/domain/Numbers.ts"
import type { Metadata, Permissions } from "../../src/domain/RagFile.ts"
import type { SourceItem } from "../../src/ports/Connector.ts"
import { adfToMarkdown } from "./Adf.ts"
import type { Attachment, Comment, Issue, Person, WholeIssue } from "./JiraApi.ts"
import { blocks, capital, escapeText } from "./Markdown.ts"
import { wikiToMarkdown } from "./Wiki.ts"

/**
 * Version of the documents, raised where an issue that is stored has to be read once more: 2 leaves out comments that not every reader of
 * the issue may read; 3 has links, sub-tasks, affected versions and, from a Server, epics.
 */
export const documentVersion = 3

export const issueItem = (base: string, issue: Issue, permissions: Permissions | undefined): SourceItem => {
  const { fields, key } = issue
  const title = titleOf(issue)
  const uri = `${base}/browse/${key}`
  return {
    path: pathOf(issue),
    uri,
    displayName: `${title.replace(/[/\\\u0000-\u001f]+/g, " ").slice(0, 200).trim().normalize("NFC")}.md`,
    revision: `${fields.updated} ${fields.comment?.total ?? fields.comment?.comments?.length ?? 0} v${documentVersion}`,
    mimeType: "text/markdown",
    metadata: {
      title,
      key,
      issueId: issue.id,
      url: uri,
      ...present({
        project: fields.project.key,
        status: fields.status?.name,
        type: fields.issuetype?.name,
        priority: fields.priority?.name,
        labels: (fields.labels ?? []).join(", "),
        author: fields.reporter?.displayName,
        assignee: fields.assignee?.displayName,
        createdTime: timeOf(fields.created),
        modifiedTime: timeOf(fields.updated)
      })
    },
    ...(permissions === undefined ? {} : { permissions })
  }
}

/** The item of an attached file. An attachment never changes; a new one takes its place. */
export const attachmentItem = (
  base: string,
  cloud: boolean,
  issue: Issue,
  file: Attachment,
  permissions: Permissions | undefined
): SourceItem => {
  const name = file.filename.normalize("NFC")
  const uri = base + attachmentPath(cloud, file.id, file.filename)
  return {
    path: `${pathOf(issue)}/attachments/${file.id}-${name.replace(/[/\\\u0000-\u001f]/g, "_")}`,
    uri,
    displayName: name,
    revision: `${file.id} ${file.size ?? 0}`,
    ...(typeof file.size === "number" ? { size: file.size } : {}),
    ...(typeof file.mimeType === "string" && file.mimeType !== "" && file.mimeType !== "application/octet-stream"
      ? { mimeType: file.mimeType }
      : {}),
    metadata: {
      title: name,
      key: issue.key,
      project: issue.fields.project.key,
      attachmentId: file.id,
      url: uri,
      ...present({ author: file.author?.displayName, createdTime: timeOf(file.created), modifiedTime: timeOf(file.created) })
    },
    ...(permissions === undefined ? {} : { permissions })
  }
}

/** The download path, built from the id, not taken from a response: credentials are sent to the configured server and nowhere else. */
export const attachmentPath = (cloud: boolean, id: string, name: string): string =>
  cloud
    ? `/rest/api/3/attachment/content/${encodeURIComponent(id)}`
    : `/secure/attachment/${encodeURIComponent(id)}/${encodeURIComponent(name)}`

const titleOf = ({ fields, key }: Issue): string => `${key}: ${fields.summary ?? ""}`.replace(/:?\s*$/, "")

const pathOf = ({ fields, key }: Issue): string => `${fields.project.key}/${key}`

/** Jira's time, `2026-10-12T09:00:00.000+0200`, as RFC 3339 in UTC. */
const timeOf = (jira: string | null | undefined): string | undefined => {
  const parsed = Date.parse((jira ?? "").replace(/([+-]\d\d)(\d\d)$/, "$1:$2"))
  return Number.isNaN(parsed) ? undefined : new Date(parsed).toISOString()
}

const present = (facts: Readonly<Record<string, string | null | undefined>>): Metadata =>
  Object.fromEntries(Object.entries(facts).flatMap(([name, value]) => typeof value === "string" && value !== "" ? [[name, value]] : []))

/** What the path of an item refers to. */
export type Place =
  | { readonly _tag: "issue"; readonly key: string }
  | { readonly _tag: "attachment"; readonly key: string; readonly id: string; readonly name: string }

export const placeOfPath = (path: string): Place | undefined => {
  const [, key = "", id, name = ""] = /^[^/]+\/([^/]+-\d+)(?:\/attachments\/(\d+)-([^]+))?$/.exec(path) ?? []
  return key === "" ? undefined : id === undefined ? { _tag: "issue", key } : { _tag: "attachment", key, id, name }
}

/**
 * An issue as Markdown: its facts, description, other fields and comments. Comments for a group or role are left out and counted: the
 * document has the issue's readers.
 */
export const renderIssue = (issue: WholeIssue, comments: ReadonlyArray<Comment>): string => {
  const { fields } = issue
  const own = customFields(issue)
  const facts = [
    ["Project", fields.project.name ?? fields.project.key],
    ["Type", fields.issuetype?.name],
    ["Status", fields.status?.name],
    ["Resolution", fields.resolution?.name],
    ["Priority", fields.priority?.name],
    ["Labels", (fields.labels ?? []).join(", ")],
    ["Components", (fields.components ?? []).map(({ name }) => name).join(", ")],
    ["Affects versions", (fields.versions ?? []).map(({ name }) => name).join(", ")],
    ["Fix versions", (fields.fixVersions ?? []).map(({ name }) => name).join(", ")],
    [
      "Parent",
      fields.parent === null || fields.parent === undefined ? "" : `${fields.parent.key} ${fields.parent.fields?.summary ?? ""}`.trim()
    ],
    ["Sub-tasks", (fields.subtasks ?? []).map(({ key }) => key).join(", ")],
    ...linksOf(fields.issuelinks ?? []),
    ["Reporter", nameOf(fields.reporter)],
    ["Assignee", nameOf(fields.assignee)],
    ["Due", fields.duedate],
    ...own.flatMap(({ name, value }) => isLong(value) ? [] : [[name, wordsOf(value)]])
  ].flatMap(([name = "", value]) => typeof value === "string" && value !== "" ? [`- ${name}: ${escapeText(value)}`] : [])
  const texts = [
    { name: "Description", value: fields.description },
    { name: "Environment", value: fields["environment"] },
    ...own.filter(({ value }) => isLong(value))
  ].flatMap(({ name, value }) => {
    const body = bodyOf(value)
    return body === "" ? [] : [`## ${escapeText(name)}`, body]
  })
  const open = comments.filter(({ visibility }) => visibility === null || visibility === undefined)
  const restricted = comments.length - open.length
  const said = open.flatMap((comment) => {
    const body = bodyOf(comment.body)
    return body === "" ? [] : [`### ${escapeText(nameOf(comment.author) || "Someone")}, ${minuteOf(comment.created)}`, body]
  })
  return blocks([
    `# ${escapeText(titleOf(issue))}`,
    facts.join("\n"),
    ...texts,
    ...(said.length === 0 ? [] : ["## Comments", ...said]),
    ...(restricted === 0 ? [] : [`(${plural(restricted, "comment")} for a group or role only, not shown here)`])
  ]) + "\n"
}

/** Linked issues by the kind of link. Only their keys: an issue's readers need not be those of what it is linked to. */
const linksOf = (links: NonNullable<Issue["fields"]["issuelinks"]>): ReadonlyArray<readonly [string, string]> => {
  const keys = new Map<string, Array<string>>()
  for (const { inwardIssue, outwardIssue, type } of links) {
    for (const [issue, words] of [[inwardIssue, type?.inward], [outwardIssue, type?.outward]] as const) {
      if (issue === null || issue === undefined) continue
      const name = capital(words ?? "") || "Linked to"
      keys.set(name, [...keys.get(name) ?? [], issue.key])
    }
  }
  return [...keys].map(([name, all]) => [name, all.join(", ")])
}

/** Types of fields that come with Jira, and those of a Server's epics. Those of apps hold ranks, sprints and other data for programs. */
const shownTypes = /^com\.atlassian\.jira\.plugin\.system\.customfieldtypes:|^com\.pyxis\.greenhopper\.jira:gh-epic-(?:link|label)$/

/** The fields that administrators added, by name. */
const customFields = ({ fields, names, schema }: WholeIssue): ReadonlyArray<{ readonly name: string; readonly value: unknown }> =>
  Object.entries(names ?? {}).flatMap(([id, name]) =>
    isDocument(fields[id]) || shownTypes.test(schema?.[id]?.custom ?? "") ? [{ name, value: fields[id] }] : []
  )

const isDocument = (value: unknown): boolean => Predicate.hasProperty(value, "type") && value.type === "doc"

/** Whether a value is a text of its own: a document, or lines of wiki markup. */
const isLong = (value: unknown): boolean => isDocument(value) || (typeof value === "string" && value.includes("\n"))

/** The words of a short value: a text, a number, a choice, a person, or a list of these. */
const wordsOf = (value: unknown): string => {
  if (typeof value === "string" || typeof value === "number") return String(value)
  if (Array.isArray(value)) return value.map(wordsOf).filter((words) => words !== "").join(", ")
  if (!Predicate.isObject(value)) return ""
  const name = ["value", "displayName", "name"].map((key): unknown => Reflect.get(value, key)).find(Predicate.isString) ?? ""
  const child = wordsOf(Reflect.get(value, "child"))
  return child === "" ? name : `${name} / ${child}`
}

/** A body as Markdown: wiki markup is text, ADF is a tree. */
const bodyOf = (body: unknown): string => typeof body === "string" ? wikiToMarkdown(body) : adfToMarkdown(body)

const nameOf = (person: Person | null | undefined): string => person?.displayName ?? person?.name ?? ""

const minuteOf = (time: string | null | undefined): string => `${(timeOf(time) ?? "").slice(0, 16).replace("T", " ")} UTC`
