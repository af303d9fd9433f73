import { Effect, Result, Schema } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import { percentDecoded } from "../../src/domain/Percent.ts"
import type { Permissions } from "../../src/domain/RagFile.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import type { Listed } from "../../src/ports/Connector.ts"
import { isolated, partOf } from "../Tree.ts"
import { factsOf, Identities, permissionsOf } from "./DriveItem.ts"
import type { Graph } from "./Graph.ts"
import { encodePath, type Place } from "./ResolveSite.ts"

const key = Schema.optionalKey

const SitePage = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  title: key(Schema.String),
  webUrl: key(Schema.String),
  eTag: key(Schema.String),
  createdDateTime: key(Schema.String),
  lastModifiedDateTime: key(Schema.String),
  createdBy: key(Identities),
  lastModifiedBy: key(Identities),
  publishingState: key(Schema.Struct({ versionId: key(Schema.String) }))
})
type SitePage = typeof SitePage.Type

const pageFields = "id,name,title,webUrl,eTag,createdDateTime,lastModifiedDateTime,createdBy,lastModifiedBy,publishingState"

/** The progress of a listing of a site's pages. Mutated as the listing proceeds. */
export interface PagesProgress {
  /** Whether everything is listed, rather than changes. */
  readonly full: boolean
  /** The site's pages: path and revision by id. */
  readonly pages: Map<string, readonly [path: string, revision: string]>
  /** Whether something could not be listed, so that the listing is not complete. */
  failed: boolean
}

/** Lists the site's pages, which have no delta: a listing of changes has those with a new tag and those that are gone. */
export const listPages = Effect.fnUntraced(function*(
  graph: Graph,
  config: SettingsOf<"sharePoint">,
  place: Place,
  progress: PagesProgress
): Effect.fn.Return<ReadonlyArray<Listed>, ServiceError> {
  const found = yield* isolated(graph.all(
    `the pages of site ${config.site}`,
    `/sites/${place.siteId}/pages/microsoft.graph.sitePage?$select=${pageFields}`,
    SitePage
  ))
  if (Result.isFailure(found)) {
    progress.failed = true
    return [{ _tag: "failed", path: "pages:", error: found.failure }]
  }
  // Versions below 1.0 were never published.
  const published = found.success.filter(({ publishingState }) => publishingState?.versionId?.startsWith("0.") !== true)
  const here = new Set(published.map(({ id }) => id))
  const gone = [...progress.pages].flatMap(([id, [path]]): ReadonlyArray<Listed> => {
    if (here.has(id)) return []
    progress.pages.delete(id)
    return progress.full ? [] : [{ _tag: "deleted", path }]
  })
  const moved = published.filter((page) => progress.full || progress.pages.get(page.id)?.[1] !== revisionOf(page))
  if (moved.length === 0) return gone
  const libraryId = yield* pageLibrary(graph, config, place)
  const permissions = libraryId === undefined
    ? moved.map(() => Result.succeed<Permissions>({ public: false, principals: [] }))
    : yield* permissionsOf(
      graph,
      moved.map((page) => ({ name: pathOf(page), at: `/drives/${libraryId}/root:/${encodePath(placeOf(page).join("/"))}:` })),
      config.tenantId
    )
  const renamed: Array<Listed> = []
  const events = moved.map((page, index): Listed => {
    const path = pathOf(page)
    const readers = permissions[index]
    if (readers === undefined || Result.isFailure(readers)) {
      progress.failed = true
      return { _tag: "failed", path, error: readers?.failure ?? ServiceError.internal(`${path} has no permissions`) }
    }
    const before = progress.pages.get(page.id)?.[0]
    progress.pages.set(page.id, [path, revisionOf(page)])
    if (before !== undefined && before !== path) renamed.push({ _tag: "deleted", path: before })
    return offered(page, path, place, readers.success)
  })
  // First, since another page may have the path by now.
  return [...gone, ...renamed, ...events]
})

const pathOf = (page: SitePage): string => `pages:/${placeOf(page).map(partOf).join("/")}`

/** The folders of a page in its library, which only its address shows, and its name. */
const placeOf = ({ name, webUrl = "" }: SitePage): ReadonlyArray<string> => {
  const folders = /(?:^|\/)SitePages\/([^?#]+)\/[^/?#]+$/i.exec(webUrl)?.[1]?.split("/") ?? []
  return [...folders.map(percentDecoded), name]
}

const revisionOf = ({ eTag, lastModifiedDateTime }: SitePage): string => eTag ?? lastModifiedDateTime ?? "unknown"

const offered = (page: SitePage, path: string, { siteId }: Place, permissions: Permissions): Listed => {
  const title = page.title ?? page.name.replace(/\.aspx$/i, "")
  return {
    _tag: "item",
    item: {
      path,
      uri: page.webUrl ?? path,
      displayName: `${page.name.replace(/\.aspx$/i, "")}.html`,
      revision: revisionOf(page),
      mimeType: "text/html",
      metadata: { title, ...factsOf(page), siteId, pageId: page.id },
      permissions
    }
  }
}

/** The library that stores the pages as files, which has their permissions. */
const pageLibrary = (
  graph: Graph,
  { site }: SettingsOf<"sharePoint">,
  { siteId }: Place
): Effect.Effect<string | undefined, ServiceError> => {
  const Id = Schema.Struct({ id: Schema.String, name: key(Schema.String) })
  return graph.all(`the lists of site ${site}`, `/sites/${siteId}/lists?$select=id,name,system`, Id).pipe(
    Effect.flatMap((lists) => {
      const pages = lists.find(({ name }) => name === "SitePages")
      return pages === undefined
        ? Effect.undefined
        : Effect.map(graph.get(`the pages of site ${site}`, `/sites/${siteId}/lists/${pages.id}/drive?$select=id`, Id), ({ id }) => id)
    }),
    Effect.catchIf(({ code }) => code === "NOT_FOUND" || code === "PERMISSION_DENIED", () => Effect.undefined)
  )
}

const Texts = key(Schema.NullOr(Schema.Array(Schema.Struct({ value: key(Schema.NullOr(Schema.String)) }))))
const WebPart = Schema.Struct({
  innerHtml: key(Schema.NullOr(Schema.String)),
  data: key(Schema.NullOr(Schema.Struct({
    title: key(Schema.NullOr(Schema.String)),
    serverProcessedContent: key(Schema.NullOr(Schema.Struct({
      htmlStrings: Texts,
      searchablePlainTexts: Texts
    })))
  })))
})
const Section = Schema.Struct({ webparts: key(Schema.Array(WebPart)) })

const PageContent = Schema.Struct({
  ...SitePage.fields,
  canvasLayout: key(Schema.NullOr(Schema.Struct({
    horizontalSections: key(Schema.Array(Schema.Struct({ columns: key(Schema.Array(Section)) }))),
    verticalSection: key(Schema.NullOr(Section))
  })))
})

/** A page as HTML: its title, its text parts as they are, and the HTML and searchable texts of other parts. */
export const readPage = Effect.fnUntraced(
  function*(graph: Graph, path: string, siteId: string, pageId: string, revision: string): Effect.fn.Return<string, ServiceError> {
    const page = yield* graph.get(path, `/sites/${siteId}/pages/${pageId}/microsoft.graph.sitePage?$expand=canvasLayout`, PageContent)
    if (revisionOf(page) !== revision) return yield* new ServiceError({ code: "ABORTED", message: `${path} changed since it was listed` })
    const { horizontalSections = [], verticalSection } = page.canvasLayout ?? {}
    const parts = [...horizontalSections.flatMap(({ columns = [] }) => columns), ...verticalSection == null ? [] : [verticalSection]]
      .flatMap(({ webparts = [] }) => webparts)
      .flatMap((part) => typeof part.innerHtml === "string" ? [part.innerHtml] : textsOf(part))
    const title = escape(page.title ?? page.name)
    return `<!doctype html><html><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1>\n${
      parts.join("\n")
    }\n</body></html>`
  }
)

/** The texts of a part of another kind, as HTML. */
const textsOf = ({ data }: typeof WebPart.Type): ReadonlyArray<string> => {
  const { htmlStrings, searchablePlainTexts } = data?.serverProcessedContent ?? {}
  return [...valuesOf(htmlStrings), ...valuesOf(searchablePlainTexts).map((text) => `<p>${escape(text)}</p>`)]
}

const valuesOf = (texts: typeof Texts.Type | undefined): ReadonlyArray<string> =>
  (texts ?? []).flatMap(({ value }) => typeof value === "string" && value !== "" ? [value] : [])

const escape = (text: string): string => text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`)
