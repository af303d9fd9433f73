import { Cause, Effect, Exit, Redacted, Schema, type Scope } from "effect"
import assert from "node:assert/strict"
import { inspect } from "node:util"
import { DocumentError, SecretError, ServiceError } from "../domain/Errors.ts"
import type { CommonParserSettings, FileToParse, ParseFile, Parser } from "../ports/Parser.ts"
import type { Secrets } from "../ports/Secrets.ts"
import { parse as readDocument } from "../text/ReadDocument.ts"
import { runnerOf, type TestRunner } from "./Suite.ts"

/** A parser, and files for it to read. */
export interface ParserFixture {
  /** The parser with its settings, as a pipeline has it: `calls({})`. */
  readonly parser: Parser
  /** At least one file, each with texts that its Markdown must contain. */
  readonly files: ReadonlyArray<FileToParse & { readonly says: ReadonlyArray<string> }>
  /** Values of the secret versions that its settings name. No error may contain one. */
  readonly secrets?: Readonly<Record<string, string>>
}

type Make = Effect.Effect<ParserFixture, unknown, Scope.Scope>

/**
 * Tests that every parser must pass, written with the `describe` and `it` of your test runner (default: the global ones): it reads its
 * files, returns the same for the same bytes, and answers damaged files with text or a typed error.
 *
 * @example
 * ```ts
 * import { describe, it } from "node:test"
 * parserSuite("calls", Effect.succeed({ parser: calls({}), files: [{ path: "a.call.jsonl", content, says: ["leave"] }] }), { describe, it })
 * ```
 */
export const parserSuite = (name: string, make: Make, options: Partial<TestRunner> = {}): void => {
  const { describe, it } = runnerOf(options)
  describe(`${name}, as every parser`, () => {
    for (const [says, check] of checks) {
      it(says, () =>
        Effect.runPromise(Effect.scoped(Effect.gen(function*() {
          const fixture = yield* make
          yield* check(fixture, yield* parserOf(fixture))
        }))))
    }
  })
}

interface Made {
  readonly parse: ParseFile
  readonly settings: CommonParserSettings
}

/** A store of the secrets whose values a fixture gives. */
export const secretsOf = (secrets: Readonly<Record<string, string>> = {}): Secrets["Service"] => ({
  resolve: (version) =>
    secrets[version] === undefined
      ? Effect.fail(new SecretError({ version, message: `${version} is not in the fixture`, fix: "give its value under secrets" }))
      : Effect.succeed(Redacted.make(secrets[version]))
})

const parserOf = Effect.fnUntraced(function*({ parser: { definition, settings: written }, secrets }: ParserFixture) {
  const settings = yield* Schema.decodeUnknownEffect(definition.settings)(written)
  const parse = yield* definition.make(settings as never, { secrets: secretsOf(secrets) })
  return { parse, settings: settings as CommonParserSettings } satisfies Made // every parser's settings have them
})

/** The text that it makes of a file, read as by an engine. */
const textOf = Effect.fnUntraced(function*({ parse }: Made, file: FileToParse) {
  const parsed = yield* parse(file)
  const markdown = typeof parsed === "string" ? parsed : parsed.markdown
  const { chunks, text } = yield* readDocument({ content: new TextEncoder().encode(markdown), name: "made.md" })
  return { markdown, chunks, text }
})

const readsItsFiles = Effect.fnUntraced(function*({ files }: ParserFixture, made: Made) {
  assert.ok(files.length > 0, "the fixture has a file")
  const { extensions, mimeTypes } = made.settings
  for (const { says, ...file } of files) {
    assert.ok(
      extensions.some((end) => file.path.toLowerCase().endsWith(`.${end.toLowerCase()}`)) ||
        mimeTypes.includes(file.mimeType ?? ""),
      `${file.path} is one of the files that it names`
    )
    const { chunks, text } = yield* textOf(made, { ...file, content: file.content.slice() })
    assert.ok(chunks.length > 0, `${file.path} has text`)
    for (const expected of says) assert.ok(text.includes(expected), `${file.path} says ${JSON.stringify(expected)}`)
  }
})

const isRepeatable = Effect.fnUntraced(function*({ files }: ParserFixture, made: Made) {
  const copies = files.map((file) => ({ ...file, content: file.content.slice() }))
  const once = yield* Effect.forEach(copies, (file) => textOf(made, file))
  const again = yield* Effect.forEach([...copies, ...copies], (file) => textOf(made, file), { concurrency: "unbounded" })
  assert.deepEqual(
    again.map(({ markdown }) => markdown),
    [...once, ...once].map(({ markdown }) => markdown),
    "the same bytes give the same Markdown, several files at a time"
  )
  for (const [at, { content }] of copies.entries()) {
    assert.ok(Buffer.from(content).equals(files[at]?.content ?? content), "the bytes are left as they are")
  }
})

/** Bytes that no parser can expect. */
const damaged = (content: Uint8Array): ReadonlyArray<readonly [what: string, content: Uint8Array]> => [
  ["no bytes", new Uint8Array()],
  ["its first half", content.slice(0, content.length >> 1)],
  ["its second half", content.slice(content.length >> 1)],
  ["zeros", new Uint8Array(1_000)],
  ["noise", Uint8Array.from({ length: 10_000 }, (_, at) => (Math.imul(at + 1, 0x9e3779b1) >>> 13) & 0xff)],
  ["a picture", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13])],
  ["JSON", new TextEncoder().encode("{\"a\": [1, null, {\"b\": \"c\"}]}")],
  ["HTML", new TextEncoder().encode("<html><body><p>Not found</p></body></html>")]
]

const answersDamage = Effect.fnUntraced(function*({ files, secrets = {} }: ParserFixture, { parse, settings }: Made) {
  for (const { says: _, ...file } of files) {
    for (const [what, content] of damaged(file.content)) {
      const about = `${what} in the place of ${file.path}`
      const exit = yield* Effect.exit(
        Effect.suspend(() => parse({ ...file, content })).pipe(
          Effect.timeoutOrElse({
            duration: settings.maxSeconds * 1_000,
            orElse: () => Effect.sync(() => assert.fail(`${about} takes more than maxSeconds`))
          })
        )
      )
      if (Exit.isSuccess(exit)) {
        const { value } = exit
        assert.equal(typeof (typeof value === "string" ? value : value.markdown), "string", `${about} gives Markdown, or an error`)
        continue
      }
      const error = Cause.squash(exit.cause)
      assert.ok(
        error instanceof DocumentError || error instanceof ServiceError,
        `${about} is a DocumentError or a ServiceError, and no ${inspect(error)}`
      )
      const words = `${inspect(error, { depth: 10, showHidden: true })} ${JSON.stringify(error)}`
      for (const secret of Object.values(secrets)) assert.ok(!words.includes(secret), "no error holds a secret")
    }
  }
})

const checks: ReadonlyArray<
  readonly [says: string, check: (fixture: ParserFixture, made: Made) => Effect.Effect<void, unknown, Scope.Scope>]
> = [
  ["reads its files, and what they say is there", readsItsFiles],
  ["gives the same for the same bytes, and leaves them alone", isRepeatable],
  ["answers what is damaged with text or a typed error, in time", answersDamage]
]
