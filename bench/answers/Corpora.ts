/** The corpora that the questions of `questions.jsonl` are asked of, made of a folder of data and of this repository. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { Effect, Layer, ManagedRuntime, Schema } from "effect"
import { compose, Embedded, generate, open, Pipeline, retrieve } from "../../src/Promise.ts"
import { local } from "../../connectors/index.ts"
import type { Context } from "../../src/domain/Retrieval.ts"
import { defaultLimits } from "../../src/text/Prepared.ts"
import { prepareFile } from "../../src/text/pool/PrepareFile.ts"
import { Ranker } from "../../src/ports/Ranker.ts"
import { embedderOf, folderOf, rankerOf } from "../lib/Models.ts"
import { fileOf } from "./Questions.ts"

export interface Corpus {
  readonly search: (question: string) => Promise<ReadonlyArray<Context>>
  /** A file's text as it was parsed. */
  readonly textOf: (file: string) => Promise<string>
  readonly close: () => Promise<void>
}

/** As `sluice init` writes them. */
const topK = 20
const chunking = { strategy: "structure", size: 400, overlap: 0 } as const

const records = <A>(path: string, schema: Schema.Codec<A, unknown>): ReadonlyArray<A> => {
  const decode = Schema.decodeUnknownSync(Schema.fromJsonString(schema))
  return readFileSync(path, "utf8").split("\n").filter((line) => line !== "").map((line) => decode(line))
}

const packages = join(import.meta.dirname, "../../node_modules")
/** Guides of packages that the lock file pins, by corpus. */
const guides: Readonly<Record<string, string>> = {
  packages: `@hono/node-server/README.md body-parser/README.md chai/README.md chokidar/README.md commander/Readme.md cookie/README.md
    cors/README.md css-select/README.md debug/README.md expect-type/README.md fast-check/README.md
    glob/README.md google-auth-library/README.md htmlparser2/README.md ignore/README.md jws/readme.md lru-cache/README.md magic-string/README.md minimatch/README.md
    minipass/README.md node-fetch/README.md openai/README.md path-scurry/README.md picomatch/README.md postal-mime/README.md postgres/README.md
    protobufjs/README.md qs/README.md redis/README.md retry/README.md source-map-js/README.md tesseract.js/docs/api.md tinybench/README.md vite/README.md ws/README.md
    yaml/README.md`,
  libraries: `accepts/README.md ajv/README.md argparse/README.md axe-core/README.md bignumber.js/README.md brace-expansion/README.md
    buffer/README.md bytes/Readme.md content-disposition/README.md cross-spawn/README.md @electric-sql/pglite/README.md
    entities/readme.md etag/README.md eventsource/README.md express/Readme.md express-rate-limit/readme.md fast-uri/README.md
    fdir/README.md gaxios/README.md gcp-metadata/README.md @grpc/grpc-js/README.md hono/README.md http-errors/README.md
    iconv-lite/README.md idb-keyval/README.md ip-address/README.md ipaddr.js/README.md jackspeak/README.md jose/README.md
    json-bigint/README.md lightningcss/README.md linkedom/README.md linkify-it/README.md long/README.md
    @modelcontextprotocol/sdk/README.md @mozilla/readability/README.md negotiator/README.md nth-check/README.md p-retry/readme.md
    path-to-regexp/Readme.md @pinecone-database/pinecone/README.md preact/README.md pure-rand/README.md raw-body/README.md
    readable-stream/README.md readdirp/README.md retry-request/readme.md rimraf/README.md robots-parser/README.md saxes/README.md
    send/README.md serve-static/README.md statuses/README.md std-env/README.md tinyexec/README.md type-is/README.md
    webidl-conversions/README.md whatwg-url/README.md y18n/README.md yargs/README.md yargs-parser/README.md zod/README.md
    zod-to-json-schema/README.md`,
  modules: `@electric-sql/pglite-socket/README.md @google/genai/README.md @grpc/proto-loader/README.md @huggingface/tokenizers/README.md
    @jridgewell/sourcemap-codec/README.md @jridgewell/trace-mapping/README.md @js-sdsl/ordered-map/README.md
    @llamaindex/liteparse/README.md @opentelemetry/api/README.md @pkgjs/parseargs/README.md @redis/search/README.md
    @redis/time-series/README.md ajv-formats/README.md ansi-styles/readme.md aws4fetch/README.md binaryen/README.md
    css-what/readme.md cssomnom/README.md depd/Readme.md dom-serializer/README.md emoji-regex/README.md es-module-lexer/README.md
    escalade/readme.md eventsource-parser/README.md fetch-blob/README.md finalhandler/README.md foreground-child/README.md
    formdata-polyfill/README.md gtoken/README.md html-escaper/README.md json-schema-to-ts/README.md jwa/README.md mime-db/README.md
    mime-types/README.md obug/README.md on-finished/README.md oxlint-tsgolint/README.md parseurl/README.md proxy-addr/README.md
    pst-extractor/readme.md punycode.js/README.md router/README.md safe-buffer/README.md safer-buffer/Readme.md ts-algebra/README.md
    wasm-feature-detect/README.md web-streams-polyfill/README.md zlibjs/README.md`
}

/** Public repositories by corpus, and where their documents are: clones below `repositories` of the data, of the states in docs/answers.md. */
const repositories: Readonly<Record<string, { readonly repository: string; readonly documents?: string }>> = {
  anki: { repository: "ankitects/anki-manual", documents: "src" },
  basecamp: { repository: "basecamp/handbook" },
  borg: { repository: "borgbackup/borg", documents: "docs" },
  caddy: { repository: "caddyserver/website", documents: "src/docs/markdown" },
  dxw: { repository: "dxw/playbook" },
  freshrss: { repository: "FreshRSS/FreshRSS", documents: "docs" },
  govuk: { repository: "alphagov/govuk-developer-docs", documents: "source/manual" },
  jellyfin: { repository: "jellyfin/jellyfin.org", documents: "docs" },
  madetech: { repository: "madetech/handbook" },
  mattermost: { repository: "mattermost/docs" },
  owasp: { repository: "OWASP/CheatSheetSeries", documents: "cheatsheets" },
  plone: { repository: "veit/plone-nutzerhandbuch" },
  restic: { repository: "restic/restic", documents: "doc" },
  sourcegraph: { repository: "sourcegraph/handbook", documents: "content" },
  syncthing: { repository: "syncthing/docs" },
  tts: { repository: "18F/handbook", documents: "pages" }
}

const Passage = Schema.Struct({ _id: Schema.String, title: Schema.optional(Schema.String), text: Schema.String })

const write = (folder: string, files: ReadonlyMap<string, ReadonlyArray<string>>): void => {
  for (const [name, parts] of files) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${parts.join("\n\n")}\n`)
  }
}

const add = (files: Map<string, Array<string>>, name: string, ...parts: ReadonlyArray<string>): void => {
  files.set(name, [...(files.get(name) ?? []), ...parts])
}

/** Writes a corpus's files where they are not there yet. @throws for a corpus that is not known */
const filesOf = (name: string, data: string, folder: string): void => {
  if (existsSync(folder)) return
  mkdirSync(dirname(folder), { recursive: true })
  const files = new Map<string, Array<string>>()
  const { repository } = repositories[name] ?? {}
  if (repository !== undefined) return symlinkSync(resolve(data, "repositories", repository), folder)
  if (name === "peps") return symlinkSync(resolve(data, "trees/peps-after"), folder)
  if (name === "toolshed") return symlinkSync(join(import.meta.dirname, "toolshed"), folder)
  if (name === "handbook") return symlinkSync(join(import.meta.dirname, "../../examples/handbook"), folder)
  if (name === "texts") {
    for (const file of ["state_of_the_union.md", "wikitexts.md"]) add(files, file, readFileSync(join(data, "qa/chunk-spans", file), "utf8"))
  } else if (guides[name] !== undefined) {
    for (const guide of guides[name].split(/\s+/)) {
      add(
        files,
        `${/^(?:@([^/]+)\/)?[^/]+/.exec(guide)![0].replace("@", "").replace("/", "-")}.md`,
        readFileSync(join(packages, guide), "utf8")
      )
    }
  } else if (name === "undici" || name === "ai") {
    return symlinkSync(join(packages, name, name === "undici" ? "docs/docs" : "docs"), folder)
  } else if (name === "claude") {
    // The sections of a page, which the collection has one by one, as that page.
    for (const { _id, text, title = "" } of records(join(data, "ir/claude-docs/corpus.jsonl"), Passage)) {
      const path = new URL(_id).pathname.replace(/^\/en\//, "")
      add(
        files,
        `${path.endsWith("/") ? `${path}index` : path}.md`,
        `## ${title}`,
        text.startsWith(title) ? text.slice(title.length) : text
      )
    }
  } else if (name.startsWith("xquad-")) {
    for (const { text, title = "" } of records(join(data, "ir", name, "corpus.jsonl"), Passage)) {
      const file = fileOf(title)
      if (!files.has(file)) add(files, file, `# ${title}`)
      add(files, file, text)
    }
  } else throw new Error(`there is no corpus ${name}`)
  write(folder, files)
}

/** Patterns of a repository's documents, without its code and pictures; of other corpora all files. */
const documentsOf = (name: string): ReadonlyArray<string> => {
  const { documents, repository } = repositories[name] ?? {}
  const folder = documents === undefined ? "" : `${documents}/`
  return repository === undefined ? [] : [`${folder}**/*.{md,mdx,rst,adoc}`]
}

/** What finds the contexts in place of what needs no model: `URL#MODEL` of a server, or a model's folder. */
export interface SearchModels {
  readonly embedding?: string | undefined
  readonly rank?: string | undefined
}

/** Syncs a corpus below `workspace`, where it is kept, and opens it. */
export const openCorpus = async (
  name: string,
  data: string,
  workspace: string,
  { embedding, rank }: SearchModels = {}
): Promise<Corpus> => {
  const folder = join(workspace, name, "docs")
  filesOf(name, data, folder)
  const pipeline = Pipeline.make(name, {
    corpus: { displayName: name },
    chunking,
    sources: { docs: local({ path: folder, include: documentsOf(name) }) },
    stages: compose(retrieve({ topK }), generate())
  })
  const app = await open(
    pipeline,
    Embedded.layer({
      dataDir: join(workspace, name, embedding === undefined ? "store" : `store ${folderOf(embedding)}`),
      ...(embedding === undefined ? {} : { embedder: await embedderOf(embedding) })
    })
  )
  await app.run()
  const ranking = rank === undefined ? undefined : ManagedRuntime.make(Layer.effect(Ranker, rankerOf(rank)))
  return {
    search: async (question) => {
      const { contexts } = await app.retrieve(question)
      return ranking === undefined ? contexts : ranking.runPromise(Effect.flatMap(Ranker, (ranker) => ranker.rank(question, contexts)))
    },
    textOf: async (file) => {
      const { chunks } = await prepareFile({ content: readFileSync(join(folder, file)), name: file, chunking }, defaultLimits)
      return chunks.map(({ text }) => text).join("\n")
    },
    close: async () => {
      await ranking?.dispose()
      await app.close()
    }
  }
}

/** What the models found for each question of a corpus, in a file that stays for another run; nothing is kept without one. */
export const keptContexts = (file: string | undefined, { embedding = "", rank = "" }: SearchModels) => {
  const known: Record<string, ReadonlyArray<Context>> = file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {}
  const key = (corpus: string, question: string): string => [corpus, embedding, rank, question].join("\n")
  return {
    of: (corpus: string, question: string): ReadonlyArray<Context> | undefined => known[key(corpus, question)],
    keep: (corpus: string, question: string, contexts: ReadonlyArray<Context>): void => {
      known[key(corpus, question)] = contexts
    },
    write: (): void => {
      if (file !== undefined) writeFileSync(file, JSON.stringify(known))
    }
  }
}
