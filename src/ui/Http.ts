import { readFileSync } from "node:fs"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { HttpApiBuilder, HttpApiMiddleware } from "effect/http-api"
import type { KnowledgeError } from "../mcp/KnowledgeBase.ts"
import { assetPath } from "../text/Assets.ts"
import { Api, Forbidden, Invalid, Missing, Readable, Unable } from "./Api.ts"
import {
  Inspector,
  viewAnswer,
  viewCorpus,
  viewDocument,
  viewEvaluation,
  viewEvaluations,
  viewFacets,
  viewFiles,
  viewMap,
  viewSearch,
  viewWhy
} from "./Inspector.ts"

/**
 * Content security policy: scripts and styles only from the page's own files, no inline code, no markup made of strings, no
 * other origin.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'"
].join("; ")

const headers = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin"
}

const shell = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sluice</title>
<link rel="icon" href="/ui/assets/icon.svg">
<link rel="stylesheet" href="/ui/assets/page.css">
<script type="module" src="/ui/assets/page.js"></script>
</head>
<body><div id="page"></div><noscript>The inspector needs JavaScript.</noscript></body>
</html>
`

const types: Readonly<Record<string, string>> = {
  "page.js": "text/javascript; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml"
}

/** The page, which contains no data: its files under `/ui/assets`, and the same document at every other address under `/ui`. */
export const pageAt = (path: string): HttpServerResponse.HttpServerResponse => {
  const name = /^\/ui\/assets\/([^/]+)$/.exec(path)?.[1]
  if (name === undefined) {
    return HttpServerResponse.text(shell, { contentType: "text/html; charset=utf-8", headers: { ...headers, "cache-control": "no-cache" } })
  }
  const contentType = types[name]
  return contentType === undefined
    ? HttpServerResponse.text("there is no such file", { status: 404, headers })
    : HttpServerResponse.uint8Array(asset(name), { contentType, headers: { ...headers, "cache-control": "no-cache" } })
}

const read = new Map<string, Uint8Array>()

/** A file that the build made from `page/`. */
const asset = (name: string): Uint8Array => {
  const known = read.get(name)
  if (known !== undefined) return known
  const bytes = readFileSync(assetPath(`ui/${name}`, `../../dist/ui/${name}`))
  read.set(name, bytes)
  return bytes
}

/** Maps the errors of a knowledge base to those of the page's API. */
const told = <A>(effect: Effect.Effect<A, KnowledgeError>) =>
  Effect.mapError(effect, (error) => {
    const said = { message: error.message, ...("fix" in error && error.fix !== undefined ? { fix: error.fix } : {}) }
    switch ("code" in error ? error.code : undefined) {
      case "INVALID_ARGUMENT":
      case "FAILED_PRECONDITION":
      case "OUT_OF_RANGE":
        return new Invalid(said)
      case "NOT_FOUND":
        return new Missing(said)
      case "PERMISSION_DENIED":
        return new Forbidden(said)
      default:
        return new Unable(said)
    }
  })

const handlers = HttpApiBuilder.group(
  Api,
  "read",
  Effect.fn(function*(handlers) {
    const { corpora, corpus } = yield* Inspector
    return handlers.handleAll({
      corpora: () => told(corpora),
      corpus: ({ params }) => told(Effect.flatMap(corpus(params.corpus), viewCorpus)),
      files: ({ params, query }) => told(Effect.flatMap(corpus(params.corpus), (inspected) => viewFiles(inspected, query))),
      document: ({ params, query }) =>
        told(Effect.flatMap(corpus(params.corpus), (inspected) => viewDocument(inspected, params.document, query))),
      map: ({ params }) => told(Effect.flatMap(corpus(params.corpus), viewMap)),
      facets: ({ params, query }) => told(Effect.flatMap(corpus(params.corpus), (inspected) => viewFacets(inspected, query))),
      search: ({ params, query }) => told(Effect.flatMap(corpus(params.corpus), (inspected) => viewSearch(inspected, query))),
      why: ({ params, query }) => told(Effect.flatMap(corpus(params.corpus), (inspected) => viewWhy(inspected, query))),
      evaluations: ({ params }) => told(Effect.flatMap(corpus(params.corpus), viewEvaluations)),
      evaluation: ({ params }) => told(Effect.flatMap(corpus(params.corpus), (inspected) => viewEvaluation(inspected, params.evaluation))),
      answer: ({ params, query }) => told(Effect.flatMap(corpus(params.corpus), (inspected) => viewAnswer(inspected, query)))
    })
  })
)

const readable = HttpApiMiddleware.layerSchemaErrorTransform(
  Readable,
  // A response that does not match the API is a bug.
  (error) =>
    error.kind === "Body" ? Effect.die(error) : Effect.fail(new Invalid({ message: `${error.kind.toLowerCase()}: ${error.cause.message}` }))
)

/** Answers requests under `/ui/api` while the scope is open. The caller has to check access. */
export const apiHttp = (inspector: Inspector["Service"]) =>
  HttpRouter.toHttpEffect(
    HttpApiBuilder.layer(Api).pipe(
      Layer.provide(handlers.pipe(Layer.provide(readable), Layer.provide(Layer.succeed(Inspector, inspector)))),
      Layer.provide(HttpServer.layerServices),
      Layer.provide(Layer.succeed(HttpRouter.RouterConfig, { maxParamLength: 4_096, caseSensitive: true }))
    )
  )
