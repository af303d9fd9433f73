import type { Content } from "./Generation.ts"
import { type Broken, violationUnless } from "../Rule.ts"
import { dataMembers, isVideoSite, partRules, textRules } from "./PartRules.ts"

const roles = new Set(["", "user", "model", "function"])

export const contentRules = (contents: ReadonlyArray<Content>): ReadonlyArray<Broken> => [
  ...violationUnless(contents.length > 0, "contents", "Required field is not set."),
  ...contents.flatMap(({ parts = [], role = "" }, i) => [
    ...violationUnless(roles.has(role), `contents[${i}].role`, "Please use a valid role: user, model."),
    ...violationUnless(parts.length > 0, `contents[${i}].parts`, "must include at least one part"),
    ...parts.flatMap((part, j) => partRules(part, `contents[${i}].parts[${j}]`))
  ]),
  ...violationUnless(
    contents.length <= 1 || contents.every(({ role = "" }) => role !== ""),
    "contents",
    "Please ensure that multiturn requests alternate between user and model.",
    "give every content a role"
  ),
  ...violationUnless(contents.at(-1)?.role !== "model", "contents", "Please ensure that multiturn requests end with a user role."),
  ...addressRules(contents)
]

export const systemRules = (content: Content | undefined): ReadonlyArray<Broken> =>
  content === undefined ? [] : [
    ...violationUnless((content.parts ?? []).length > 0, "systemInstruction.parts", "must include at least one part"),
    ...(content.parts ?? []).flatMap((part, i) => {
      const at = `systemInstruction.parts[${i}]`
      const given = dataMembers.filter((name) => part[name] !== undefined)
      return [...violationUnless(given.length === 1 && given[0] === "text", at, "must be text"), ...textRules(part.text, `${at}.text`)]
    })
  ]

/** Most addresses on the web in one request, by kind. */
const mostOnTheWeb = { video: 1, audio: 1, image: 10 } as const

const addressRules = (contents: ReadonlyArray<Content>): ReadonlyArray<Broken> => {
  const files = contents.flatMap(({ parts = [] }) => parts.flatMap(({ fileData }) => (fileData === undefined ? [] : [fileData])))
  const videos = files.filter(({ fileUri }) => isVideoSite(fileUri)).length
  const web = files.filter(({ fileUri = "" }) => /^https?:/.test(fileUri) && !isVideoSite(fileUri))
  return [
    ...violationUnless(videos <= 1, "contents", `a request has at most one video of the video site, and this has ${videos}`),
    ...(["video", "audio", "image"] as const).flatMap((kind) => {
      const count = web.filter(({ mimeType }) => mimeType?.startsWith(`${kind}/`) === true).length
      return violationUnless(
        count <= mostOnTheWeb[kind],
        "contents",
        `a request has at most ${mostOnTheWeb[kind]} ${kind} addresses of the web, and this has ${count}`,
        "put the files into object storage"
      )
    })
  ]
}
