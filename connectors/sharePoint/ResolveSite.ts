import { Effect, Schema } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import { percentDecoded } from "../../src/domain/Percent.ts"
import type { SettingsOf } from "../../src/domain/sources/BuiltInSources.ts"
import type { Graph } from "./Graph.ts"

const Named = Schema.Struct({
  id: Schema.String,
  name: Schema.optionalKey(Schema.String),
  displayName: Schema.optionalKey(Schema.String),
  webUrl: Schema.optionalKey(Schema.String)
})
type Named = typeof Named.Type

/** The ids of the site, library and folder that the configuration names. */
export interface Place {
  readonly siteId: string
  readonly driveId: string
  /** Absent for the whole library. */
  readonly folderId?: string
  /** Whether the site's pages belong to the source. */
  readonly pages: boolean
}

export const resolvePlace = Effect.fnUntraced(
  function*(graph: Graph, config: SettingsOf<"sharePoint">): Effect.fn.Return<Place, ServiceError> {
    const site = yield* siteOf(graph, config.site)
    const drive = yield* driveOf(graph, site, config)
    if (config.folder !== undefined) {
      return { siteId: site.id, driveId: drive.id, folderId: yield* folderOf(graph, drive.id, config.folder), pages: false }
    }
    const main = yield* graph.get(
      `the default library of site ${config.site}`,
      `/sites/${site.id}/drive?$select=id`,
      Schema.Struct({ id: Schema.String })
    ).pipe(
      Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.undefined)
    )
    return { siteId: site.id, driveId: drive.id, pages: main?.id === drive.id }
  }
)

const siteOf = Effect.fnUntraced(function*(graph: Graph, site: string): Effect.fn.Return<Named, ServiceError> {
  const what = `site ${site}`
  const byAddress = /^(?:https:\/\/)?([\w-]+(?:\.[\w-]+)+)(?::|(?=\/))\/?(.*)$/.exec(site.trim())
  if (/^[\w.-]+,[0-9a-f-]{36},[0-9a-f-]{36}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^root$/i.test(site)) {
    return yield* graph.get(what, `/sites/${site}`, Named)
  }
  if (byAddress !== null) {
    // Browsers show addresses escaped.
    const path = percentDecoded(byAddress[2] ?? "").replace(/^\/+|\/+$/g, "")
    return yield* graph.get(what, path === "" ? `/sites/${byAddress[1]}` : `/sites/${byAddress[1]}:/${encodePath(path)}`, Named)
  }
  const found = yield* graph.all(what, `/sites?search=${encodeURIComponent(site)}&$select=id,name,displayName,webUrl`, Named)
  return yield* named(found, site, "site", "the tenant", "write the site as host:/sites/path")
})

const driveOf = Effect.fnUntraced(
  function*(graph: Graph, site: Named, { drive, site: siteName }: SettingsOf<"sharePoint">): Effect.fn.Return<Named, ServiceError> {
    if ("id" in drive) return yield* graph.get(`library ${drive.id}`, `/drives/${encodeURIComponent(drive.id)}?$select=id,name`, Named)
    const found = yield* graph.all(`the libraries of site ${siteName}`, `/sites/${site.id}/drives?$select=id,name`, Named)
    return yield* named(found, drive.name, "library", `site ${siteName}`, "give driveId")
  }
)

const folderOf = Effect.fnUntraced(function*(graph: Graph, driveId: string, folder: NonNullable<SettingsOf<"sharePoint">["folder"]>) {
  const path = "path" in folder ? folder.path.replace(/^\/+|\/+$/g, "") : undefined
  const at = path === undefined
    ? `items/${encodeURIComponent("id" in folder ? folder.id : "")}`
    : path === ""
    ? "root"
    : `root:/${encodePath(path)}`
  const name = "path" in folder ? folder.path : folder.id
  const found = yield* graph.get(
    `folder ${name}`,
    `/drives/${driveId}/${at}?$select=id,folder`,
    Schema.Struct({
      id: Schema.String,
      folder: Schema.optionalKey(Schema.Struct({}))
    })
  )
  return found.folder === undefined ? yield* ServiceError.invalid("folder", `${name} is a file`) : found.id
})

/** The only item with a name, ignoring case; otherwise an error that lists the existing ones. */
const named = (
  found: ReadonlyArray<Named>,
  name: string,
  kind: string,
  where: string,
  ambiguousFix: string
): Effect.Effect<Named, ServiceError> => {
  const wanted = name.trim().toLowerCase()
  const same = found.filter((each) => each.name?.toLowerCase() === wanted || each.displayName?.toLowerCase() === wanted)
  const [only] = same
  if (only !== undefined && same.length === 1) return Effect.succeed(only)
  if (only !== undefined) {
    return Effect.fail(
      new ServiceError({
        code: "FAILED_PRECONDITION",
        message: `${same.length} ${kind === "library" ? "libraries" : "sites"} of ${where} are called ${name}: ${
          same.slice(0, 5).map(({ id, webUrl }) => webUrl ?? id).join(", ")
        }`,
        fix: ambiguousFix
      })
    )
  }
  const others = found.slice(0, 8).flatMap((each) => each.displayName ?? each.name ?? [])
  return Effect.fail(ServiceError.notFound(
    `${kind} ${name} of ${where}`,
    others.length === 0 ? `check the name, or give the ${kind}'s id` : `there are: ${others.join(", ")}`
  ))
}

export const encodePath = (path: string): string => path.split("/").map(encodeURIComponent).join("/")
