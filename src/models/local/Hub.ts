import { createHash, randomUUID } from "node:crypto"
import { createWriteStream } from "node:fs"
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect, Schema, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { ServiceError } from "../../domain/Errors.ts"
import { call, type Caller, callJson } from "../../net/Call.ts"
import { download } from "../../net/Download.ts"
import { retry, type RetryOptions } from "../../net/Retry.ts"
import { staticFilesOf, usualWeights } from "./ModelFolder.ts"

export interface FetchModelOptions {
  /** `owner/name`, or `owner/name@revision`. Default revision: `main`, as it is when the model is fetched. */
  readonly model: string
  /**
   * The file of weights, where the model has several. Default: the table of a static model, else the first existing file of {@link
   * usualWeights}.
   */
  readonly file?: string
  /** The folder in which models are kept. */
  readonly cache: string
  /** Address of the hub. Default `https://huggingface.co`. */
  readonly hub?: string
  readonly retry?: RetryOptions
}

const Revision = Schema.Struct({ sha: Schema.String.check(Schema.isPattern(/^[0-9a-f]{40}$/)) })
const Files = Schema.Array(Schema.Struct({
  type: Schema.String,
  path: Schema.String,
  size: Schema.Int,
  /** Git's SHA-1 of the file. */
  oid: Schema.String,
  lfs: Schema.optional(Schema.Struct({ oid: Schema.String }))
}))
type HubFile = (typeof Files.Type)[number]

/** The files of a model, besides its weights. */
const wanted =
  /^(?:tokenizer|tokenizer_config|config|modules|sentence_bert_config|config_sentence_transformers)\.json$|^\d+_[A-Za-z]+\/(?:config|tokenizer)\.json$/

const decodeRevision = Schema.decodeUnknownEffect(Schema.fromJsonString(Revision))

/**
 * Downloads a model from the hub, once, and returns its folder. Each file is checked against the checksum of the hub's listing before it is
 * put in place, and the model counts as present once all of them are: an interrupted download continues with the file it had reached.
 * Afterwards there is no request to the network, and the model does not change.
 */
export const fetchModel = Effect.fn("fetchModel")(function*(options: FetchModelOptions) {
  const [name = "", revision = "main"] = options.model.split("@")
  const home = join(options.cache, ...name.split("/"))
  const fetched = join(home, `${revision}${options.file === undefined ? "" : ` ${options.file.replaceAll("/", " ")}`}.json`)
  const known = yield* Effect.promise(() => readFile(fetched, "utf8").catch(() => "")).pipe(Effect.flatMap(decodeRevision), Effect.option)
  if (known._tag === "Some") return join(home, known.value.sha)

  const http = yield* HttpClient.HttpClient
  const caller: Caller = { http, retry: { times: 3, ...options.retry } }
  const hub = (options.hub ?? "https://huggingface.co").replace(/\/+$/, "")
  const what = `the model ${options.model} on ${new URL(hub).host}`
  const get = (path: string) => HttpClientRequest.get(`${hub}${path}`)
  const asked = <A>(path: string, schema: Schema.Decoder<A>) =>
    callJson(caller, what, get(path), schema).pipe(
      Effect.mapError((error) =>
        error.with({ fix: "check its name and the network, or bring its folder here and name that: model: ./folder" })
      )
    )
  const { sha } = yield* asked(`/api/models/${name}/revision/${encodeURIComponent(revision)}`, Revision)
  const listed = (yield* asked(`/api/models/${name}/tree/${sha}?recursive=true`, Files)).filter(({ type }) => type === "file")
  const folder = join(home, sha)
  const bring = (files: ReadonlyArray<HubFile>) =>
    Effect.forEach(
      files,
      (file) => {
        const open = (offset: number) => {
          const request = get(`/${name}/resolve/${sha}/${file.path}`).pipe(
            HttpClientRequest.setHeader("accept-encoding", "gzip"),
            offset === 0 ? (same) => same : HttpClientRequest.setHeader("range", `bytes=${offset}-`)
          )
          return call({ ...caller, retry: { times: 0 } }, `${file.path} of ${what}`, request)
        }
        return store(folder, file, download({ what: `${file.path} of ${what}`, open, maxBytes: file.size })).pipe(retry(caller.retry))
      },
      { discard: true }
    )
  // These files determine which weights are the model's.
  yield* bring(listed.filter(({ path }) => wanted.test(path)))
  const table = options.file === undefined ? yield* staticFilesOf(folder) : undefined
  const possible = options.file !== undefined ? [options.file] : table === undefined ? usualWeights : [table.weights]
  const weights = possible.find((path) => listed.some((file) => file.path === path))
  if (weights === undefined) {
    return yield* new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `${what} has no ${options.file ?? table?.weights ?? `weights in ONNX (${usualWeights.join(", ")})`}`,
      fix: "name a model that has them, or export it: optimum-cli export onnx --model MODEL FOLDER"
    })
  }
  yield* bring(listed.filter(({ path }) => path.startsWith(weights)))
  yield* Effect.promise(async () => {
    const part = `${fetched}.${randomUUID()}.part`
    await writeFile(part, JSON.stringify({ sha }))
    await rename(part, fetched)
  })
  return folder
})

/** Puts a file in its place once it is complete and correct. An existing file is left alone. */
const store = Effect.fnUntraced(function*(folder: string, file: HubFile, bytes: Stream.Stream<Uint8Array, ServiceError>) {
  const place = join(folder, file.path)
  if (yield* Effect.promise(() => stat(place).then(({ size }) => size === file.size, () => false))) return
  yield* Effect.promise(() => mkdir(dirname(place), { recursive: true }))
  const part = `${place}.${randomUUID()}.part`
  const hash = file.lfs === undefined ? createHash("sha1").update(`blob ${file.size}\0`) : createHash("sha256")
  yield* Effect.gen(function*() {
    const out = yield* Effect.acquireRelease(
      Effect.sync(() => createWriteStream(part)),
      (stream) => Effect.promise(() => new Promise<void>((resolve) => stream.close(() => resolve())))
    )
    yield* Stream.runForEach(bytes, (piece) =>
      Effect.tryPromise({
        try: () => {
          hash.update(piece)
          return new Promise<void>((resolve, reject) => out.write(piece, (error) => error == null ? resolve() : reject(error)))
        },
        catch: (cause) =>
          ServiceError.internal(`${part} cannot be written: ${cause instanceof Error ? cause.message : "no details"}`, cause)
      }))
  }).pipe(
    Effect.scoped,
    Effect.andThen(Effect.suspend(() =>
      hash.digest("hex") === (file.lfs?.oid ?? file.oid)
        ? Effect.promise(() => rename(part, place))
        : Effect.fail(
          new ServiceError({
            code: "DATA_LOSS",
            message: `${file.path} did not arrive intact: its checksum differs from the hub's listing`,
            fix: "run again; if it stays so, something on the way changes it"
          })
        )
    )),
    Effect.ensuring(Effect.promise(() => rm(part, { force: true })))
  )
})
