import { Effect, FileSystem, Option, Path } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { defaultChunking, defaultOverlap } from "../../domain/Chunking.ts"
import { defined } from "../../domain/Defined.ts"
import { joinedRemarks, type Remark } from "../../domain/Document.ts"
import { DocumentError, SecretError } from "../../domain/Errors.ts"
import type { SecretVersion } from "../../domain/Secret.ts"
import { Secrets } from "../../ports/Secrets.ts"
import { optionalText } from "../Flags.ts"
import { fromHere } from "../Paths.ts"
import { Output } from "../Output.ts"
import { renderChunks, renderDifference, renderDocument, type StoredChunk } from "../render/Document.ts"
import { root } from "../Root.ts"
import { type CommandPipeline, onEngine, openPipeline, pipelineFlag, reading } from "../Session.ts"
import { UsageError } from "../UsageError.ts"

/** `sluice parse`: shows what is read of a file. */
export const parse = Command.make(
  "parse",
  {
    file: Argument.Path("file").pipe(Argument.map(fromHere), Argument.withDescription("The file to read; nothing is stored")),
    pipeline: pipelineFlag,
    chunks: Flag.Boolean("chunks").pipe(
      Flag.withDescription("Show the chunks that would be made, instead of the blocks"),
      Flag.withDefault(false)
    ),
    diff: Flag.Path("diff").pipe(
      Flag.map(fromHere),
      Flag.withDescription("Show which chunks differ from those of another file, or of earlier output of `parse --json`"),
      Flag.withMetavar("OTHER"),
      Flag.optional
    ),
    part: optionalText("part", "PATH", "Read this attachment, or this file in an archive, by its path inside"),
    recognise: optionalText(
      "recognise",
      "LANGUAGE",
      "Recognise text in pictures and scanned pages in this language (eng, deu), instead of the pipeline's"
    ),
    size: Flag.Int("size").pipe(Flag.withDescription("Tokens in a chunk, instead of the pipeline's"), Flag.optional),
    overlap: Flag.Int("overlap").pipe(Flag.withDescription("Tokens that a chunk shares with the one before it"), Flag.optional)
  },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const { parse: read } = yield* Effect.promise(() => import("../../text/ReadDocument.ts"))
    // Without a named pipeline file, its defaults apply.
    const loaded = Option.isSome(args.pipeline) ? yield* openPipeline(args.pipeline) : undefined
    const pipeline = loaded?.pipeline
    const { cutting, parsers } = loaded === undefined || (pipeline?.parsers === undefined && pipeline?.chunking.chunker === undefined)
      ? { cutting: undefined, parsers: [] }
      : yield* own(loaded)
    const base = pipeline?.chunking ?? defaultChunking
    const language = Option.getOrElse(args.recognise, () => pipeline?.import.textRecognition)
    const limits = language === undefined ? {} : { recognise: [language] }
    const size = Option.getOrElse(args.size, () => base.size)
    const chunking = {
      ...base,
      size,
      overlap: Option.getOrElse(args.overlap, () => base.overlap < size ? base.overlap : defaultOverlap(size))
    }
    if (size < 1 || chunking.overlap < 0 || chunking.overlap >= size) {
      return yield* new UsageError({
        message: "the overlap must be at least 0 and less than the size",
        fix: "change --size or --overlap"
      })
    }
    const bytesOf = Effect.fnUntraced(function*(file: string) {
      const cannot = (fix: string) => new UsageError({ message: `${file} cannot be read`, fix })
      const { type } = yield* fs.stat(file).pipe(Effect.mapError(() => cannot("name a file that exists")))
      // Of a device there may be no end; a pipe ends with the program that writes to it.
      if (type !== "File" && type !== "FIFO") return yield* cannot("name a file, not a folder or device")
      return yield* fs.readFile(file).pipe(Effect.mapError(() => cannot("see that you may read it")))
    })
    const part = Option.getOrUndefined(args.part)
    const readFile = Effect.fnUntraced(function*(file: string, part?: string) {
      const [content, name] = [yield* bytesOf(file), path.basename(file)]
      const item = { path: name, uri: file, displayName: name, revision: "" }
      const made = part === undefined ? yield* parsers.find(({ reads }) => reads(item))?.read(item, content) ?? Effect.undefined : undefined
      const document = yield* read({ content, name, part, chunking, limits, ...made }).pipe(
        Effect.catchTag(
          "DocumentError",
          ({ message, problem }) => Effect.fail(new DocumentError({ problem, message: `${file}: ${message}` }))
        )
      )
      const { cutParts } = yield* Effect.promise(() => import("../../text/PrepareBy.ts"))
      const cut = cutting === undefined || document.blocks.length === 0
        ? undefined
        : yield* cutParts([{ document, start: 0, byteStart: 0 }], chunking, cutting)
      const own = [made?.remark, cut?.remark].flatMap((text): ReadonlyArray<Remark> => text === undefined ? [] : [{ kind: "own", text }])
      return {
        ...document,
        ...cut,
        name: made === undefined ? document.name : name,
        remarks: [...document.remarks, ...own],
        ...defined({ remark: joinedRemarks(made?.remark, document.remark, cut?.remark) })
      }
    })
    const document = yield* readFile(args.file, part)
    if (Option.isSome(args.diff)) {
      const other = yield* bytesOf(args.diff.value)
      const before = chunksOfJson(other) ?? (yield* readFile(args.diff.value)).chunks
      const difference = differenceOf(before, document.chunks)
      return yield* json ? output.json({ version: 1, ...difference }) : output.print(renderDifference(difference, output))
    }
    if (json) return yield* output.json({ version: 1, ...document })
    yield* output.print(args.chunks ? renderChunks(document.chunks, output) : renderDocument(document, output))
  })
).pipe(
  Command.withShortDescription("Show what is read of a file, and what is left out."),
  Command.withDescription("Read a file as an import would, and show its blocks or chunks, and what was left out. Stores nothing."),
  Command.withExamples([
    { command: "sluice parse report.pdf", description: "headings, paragraphs and tables, with their pages" },
    { command: "sluice parse report.pdf --chunks --pipeline pipeline.yaml", description: "as the pipeline would cut it" },
    { command: "sluice parse offer.eml --part attachments/terms.pdf", description: "a file attached to a mail or packed in an archive" },
    { command: "sluice parse report.pdf --json > before.json", description: "everything, to compare with other settings:" },
    { command: "sluice parse report.pdf --size 800 --diff before.json", description: "which chunks changed" }
  ])
)

/** The pipeline's custom parsers and chunker, as in its runs. The engine is only opened for their secrets. */
const own = Effect.fnUntraced(function*(loaded: CommandPipeline) {
  const { makeChunkers, makeParsers } = yield* Effect.promise(() => import("../../pipeline/Open.ts"))
  const resolve = (version: SecretVersion) => onEngine(loaded, reading, Effect.flatMap(Secrets, (secrets) => secrets.resolve(version)))
  const around = yield* Effect.context<Effect.Services<ReturnType<typeof resolve>>>()
  const secrets: Secrets["Service"] = {
    resolve: (version) =>
      resolve(version).pipe(
        Effect.provideContext(around),
        Effect.mapError((error) =>
          error._tag === "SecretError"
            ? error
            : new SecretError({ version, message: error.message, fix: "see that `sluice doctor` passes" })
        )
      )
  }
  const { extensions, pipeline: { chunking: { chunker }, parsers = [] } } = loaded
  return {
    parsers: yield* Effect.forEach(parsers, makeParsers(extensions.parsers, { secrets }).make),
    cutting: chunker === undefined ? undefined : yield* makeChunkers(extensions.chunkers, { secrets }).make(chunker)
  }
})

/** Parses the chunks in output of `--json`; `undefined` for other content. */
const chunksOfJson = (bytes: Uint8Array): ReadonlyArray<StoredChunk> | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"))
    if (typeof value !== "object" || value === null || !("chunks" in value) || !Array.isArray(value.chunks)) return undefined
    return value.chunks.filter((chunk): chunk is StoredChunk => typeof chunk?.text === "string")
  } catch {
    return undefined
  }
}

/** Compares chunks by their text: chunks in both lists are unchanged. */
const differenceOf = (before: ReadonlyArray<StoredChunk>, after: ReadonlyArray<StoredChunk>) => {
  const [old, now] = [new Set(before.map(({ text }) => text)), new Set(after.map(({ text }) => text))]
  return {
    same: after.filter(({ text }) => old.has(text)).length,
    removed: before.filter(({ text }) => !now.has(text)),
    added: after.filter(({ text }) => !old.has(text))
  }
}
