import { Clock, Effect } from "effect"
import { renamed } from "../../domain/ChatRefusal.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { refusedGeneration } from "../../domain/generation/GenerationRules.ts"
import { milliseconds } from "../../wire/Errors.ts"
import { fieldMask } from "../../wire/FieldMask.ts"
import { generationFromWire } from "../../wire/generation/Generations.ts"
import type { CachedContent } from "../../wire/messages/CachedContent.ts"
import type { GenerateContentRequest, GenerateContentResponse } from "../../wire/messages/GenerateContent.ts"
import { defined, required, unserved } from "../../wire/Optional.ts"
import { contentText } from "../../wire/rag/Grounding.ts"
import { snake } from "../../wire/tolerant/Normalize.ts"
import { CachedContents, type CachedPrefix } from "../CachedContents.ts"
import { type Handlers, take } from "../Call.ts"
import { nextPage, pageOf } from "./Paging.ts"

type Methods = Pick<
  Handlers,
  "createCachedContent" | "listCachedContents" | "getCachedContent" | "updateCachedContent" | "deleteCachedContent"
>

/** Default lifetime of a cached content, in milliseconds. */
const defaultLife = 3_600_000
/** Longest lifetime from now, in milliseconds. */
const longestLife = 365 * 24 * 3_600_000

/**
 * Cached contents: contents, system instruction and tools that generation requests refer to. `usageMetadata` counts the tokens
 * of their text.
 */
export const cachedContentHandlers = (countTokens: (text: string) => number): Effect.Effect<Methods, never, CachedContents> =>
  Effect.gen(function*() {
    const store = yield* CachedContents
    return {
      createCachedContent: Effect.fnUntraced(function*({ body, names }) {
        const { contents, displayName, encryptionSpec, systemInstruction, toolConfig, tools } = body
        const model = yield* take(required(body.model, "cached_content.model"))
        yield* take(unserved(encryptionSpec, "cached_content.encryption_spec"))
        const prefix: CachedPrefix = defined({ contents, systemInstruction, toolConfig, tools })
        yield* checked(model, prefix)
        const expires = (yield* expiryOf(body)) ?? (yield* Clock.currentTimeMillis) + defaultLife
        const about = defined({
          displayName: displayName === "" ? undefined : displayName,
          model,
          usageMetadata: usageOf(prefix, countTokens)
        })
        return yield* store.create({ place: names.location, expires, about, prefix })
      }),
      listCachedContents: ({ names, query }) =>
        Effect.map(
          store.list(names.location, pageOf(query)),
          ({ items, nextToken }) => ({ cachedContents: items, ...nextPage(nextToken) })
        ),
      getCachedContent: ({ params }) => store.get(params.name),
      updateCachedContent: Effect.fnUntraced(function*({ body, params, query }) {
        const named = fieldMask(query.updateMask)
        const given = Object.keys(defined({ ...body, name: undefined }))
        // Google's clients leave the mask out: then the fields that were sent count.
        const fixed = (named.length === 0 ? given : named).find((field) => field !== "ttl" && field !== "expireTime")
        if (fixed !== undefined) {
          return yield* ServiceError.invalid(`cached_content.${snake(fixed)}`, "is fixed at creation; only ttl and expire_time change")
        }
        const expires = yield* expiryOf(body)
        if (expires === undefined) {
          return yield* ServiceError.invalid("cached_content.expire_time", "Required field is not set: give it, or ttl.")
        }
        return yield* store.setExpiry(params.name, expires)
      }),
      deleteCachedContent: ({ params }) => Effect.as(store.remove(params.name), {})
    }
  })

/**
 * A request with its cached content filled in, and a function that adds the cached tokens to the usage in a response. As on
 * the hosted service, the model has to be that of the cached content, and system instruction and tools are set only there.
 */
export const withCachedContent = (
  store: CachedContents["Service"],
  model: string,
  request: GenerateContentRequest
): Effect.Effect<
  { readonly request: GenerateContentRequest; readonly withUsage: (response: GenerateContentResponse) => GenerateContentResponse },
  ServiceError
> =>
  Effect.gen(function*() {
    const { cachedContent = "", contents = [], ...rest } = request
    if (!/\/cachedContents\/[^/]+$/.test(cachedContent)) return { request, withUsage: (response) => response } // the rules refuse such a name
    const { about, prefix } = yield* store.prefix(cachedContent)
    const own = about.model ?? ""
    if (lastOf(own) !== lastOf(model)) {
      return yield* ServiceError.invalid(
        "cached_content",
        `Model used by GenerateContent request (${lastOf(model)}) and CachedContent (${lastOf(own)}) has to be the same.`
      )
    }
    const both = (["systemInstruction", "tools", "toolConfig"] as const).find((field) => rest[field] !== undefined)
    if (both !== undefined) {
      return yield* ServiceError.invalid(
        snake(both),
        "Tool config, tools and system instruction should not be set in the request when using cached content.",
        "Set them in the cached content."
      )
    }
    const tokens = about.usageMetadata?.totalTokenCount ?? 0
    return {
      request: { ...rest, ...prefix, contents: [...prefix.contents ?? [], ...contents] },
      withUsage: (response) => {
        const { usageMetadata: usage } = response
        return usage === undefined || tokens === 0
          ? response
          : { ...response, usageMetadata: { ...usage, cachedContentTokenCount: Math.min(tokens, usage.promptTokenCount ?? tokens) } }
      }
    }
  })

const lastOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1)

/** Fails where the prefix would break the rules of a request with a question after it. */
const checked = (model: string, prefix: CachedPrefix): Effect.Effect<void, ServiceError> =>
  Effect.suspend(() => {
    const { contents = [], systemInstruction } = prefix
    if (contents.length === 0 && systemInstruction === undefined) {
      return Effect.fail(ServiceError.invalid("cached_content.contents", "Required field is not set."))
    }
    const request = generationFromWire({ ...prefix, contents: [...contents, { role: "user", parts: [{ text: "?" }] }] })
    const refused = refusedGeneration({ model }, request)
    return refused === undefined ? Effect.void : Effect.fail(renamed(refused, (field) => `cached_content.${snake(field)}`))
  })

/** Expiry in milliseconds since the epoch; undefined where the request sets none. */
const expiryOf = Effect.fnUntraced(function*({ expireTime = "", ttl = "" }: CachedContent) {
  if (expireTime === "" && ttl === "") return undefined
  const now = yield* Clock.currentTimeMillis
  const field = ttl === "" ? "cached_content.expire_time" : "cached_content.ttl"
  const expires = ttl === "" ? Date.parse(expireTime) : now + (milliseconds(ttl) ?? NaN)
  if (!(expires > now)) return yield* ServiceError.invalid(field, "must lie in the future")
  return expires - now > longestLife ? yield* ServiceError.invalid(field, "must be within a year") : Math.floor(expires)
})

const usageOf = (
  { contents = [], systemInstruction, toolConfig, tools = [] }: CachedPrefix,
  countTokens: (text: string) => number
): CachedContent["usageMetadata"] => {
  const all = [...contents, ...(systemInstruction === undefined ? [] : [systemInstruction])]
  const texts = all.map(contentText)
  const images = all.flatMap(({ parts = [] }) => parts).filter(({ fileData, inlineData }) =>
    (inlineData ?? fileData)?.mimeType?.startsWith("image/") === true
  )
  const declared = [...tools, ...(toolConfig === undefined ? [] : [toolConfig])].map((tool) => JSON.stringify(tool))
  return {
    totalTokenCount: [...texts, ...declared].reduce((sum, text) => sum + countTokens(text), 0),
    textCount: texts.reduce((sum, text) => sum + text.length, 0),
    imageCount: images.length
  }
}
