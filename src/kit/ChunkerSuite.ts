import { Cause, Effect, Exit, Schema, type Scope } from "effect"
import assert from "node:assert/strict"
import { inspect } from "node:util"
import type { TextSpan, TextToCut } from "../domain/Chunking.ts"
import { DocumentError, ServiceError } from "../domain/Errors.ts"
import type { Chunker, CommonChunkerSettings, CutText } from "../ports/Chunker.ts"
import { brokenSpan, leftOut } from "../text/chunk/Given.ts"
import { parse as readDocument } from "../text/ReadDocument.ts"
import { TokenIndex } from "../text/Tokens.ts"
import { secretsOf } from "./ParserSuite.ts"
import { runnerOf, type TestRunner } from "./Suite.ts"

/** A chunker, and documents for it to cut. */
export interface ChunkerFixture {
  /** The chunker with its settings, as a pipeline has it: `turns({})`. */
  readonly chunker: Chunker
  /** At least one file, read as an import reads it. */
  readonly files: ReadonlyArray<{ readonly name: string; readonly content: Uint8Array }>
  /** Most tokens of a chunk. Default 256. */
  readonly size?: number
  /** Most tokens that a chunk shares with the one before it. Default 32. */
  readonly overlap?: number
  /** Whether the chunker leaves out text on purpose. Default false. */
  readonly leavesOut?: boolean
  /** Values of the secret versions that its settings name. */
  readonly secrets?: Readonly<Record<string, string>>
}

type Make = Effect.Effect<ChunkerFixture, unknown, Scope.Scope>

/**
 * Tests that every chunker must pass, written with the `describe` and `it` of your test runner (default: the global ones): its spans keep
 * the rules, all of the text is in them, and the same text is always cut alike.
 *
 * @example
 * ```ts
 * import { describe, it } from "node:test"
 * chunkerSuite("turns", Effect.succeed({ chunker: turns({}), files: [{ name: "a.md", content }] }), { describe, it })
 * ```
 */
export const chunkerSuite = (name: string, make: Make, options: Partial<TestRunner> = {}): void => {
  const { describe, it } = runnerOf(options)
  describe(`${name}, as every chunker`, () => {
    for (const [says, check] of checks) {
      it(says, () =>
        Effect.runPromise(Effect.scoped(Effect.gen(function*() {
          const fixture = yield* make
          const { chunker: { definition, settings: written }, secrets } = fixture
          const settings = yield* Schema.decodeUnknownEffect(definition.settings)(written)
          const cut = yield* definition.make(settings as never, { secrets: secretsOf(secrets) })
          yield* check(fixture, { cut, settings: settings as CommonChunkerSettings }) // every chunker's settings have them
        }))))
    }
  })
}

interface Made {
  readonly cut: CutText
  readonly settings: CommonChunkerSettings
}

const textOf = Effect.fnUntraced(function*(
  { name, content }: ChunkerFixture["files"][number],
  { overlap = 32, size = 256 }: ChunkerFixture
) {
  const { blocks, format, language, text, title } = yield* readDocument({ name, content })
  const index = new TokenIndex(text)
  return { text, blocks, format, title, language, size, overlap, tokens: (start, end) => index.count(start, end) } satisfies TextToCut
})

const ruled = (name: string, text: string, spans: ReadonlyArray<TextSpan>): void => {
  const broken = brokenSpan(text, spans)
  if (broken !== undefined) assert.fail(`${name}: ${broken}`)
}

const keepsTheRules = Effect.fnUntraced(function*(fixture: ChunkerFixture, { cut }: Made) {
  assert.ok(fixture.files.length > 0, "the fixture has a file")
  for (const file of fixture.files) {
    const document = yield* textOf(file, fixture)
    const { size, text, tokens } = document
    const spans = yield* cut(document)
    assert.ok(spans.length > 0, `${file.name} has chunks`)
    ruled(file.name, text, spans)
    for (const [at, { end, start }] of spans.entries()) {
      assert.ok(tokens(start, end) <= size, `chunk ${at + 1} of ${file.name} has ${size} tokens at most`)
    }
    if (fixture.leavesOut !== true) assert.equal(leftOut(text, spans), 0, `all of ${file.name} is in its chunks`)
  }
})

const isRepeatable = Effect.fnUntraced(function*(fixture: ChunkerFixture, { cut }: Made) {
  const documents = yield* Effect.forEach(fixture.files, (file) => textOf(file, fixture))
  const once = yield* Effect.forEach(documents, (document) => cut(document))
  const again = yield* Effect.forEach([...documents, ...documents], (document) => cut(document), { concurrency: "unbounded" })
  assert.deepEqual(again, [...once, ...once], "the same text is cut alike, several at a time")
})

/** Texts that authors of chunkers rarely think of. */
const odd: Readonly<Record<string, string>> = {
  "one character": "a",
  "a heading alone": "# Leave",
  "headings alone": "# A\n\n## B\n\n### C",
  "a line without a blank": "0123456789".repeat(400),
  "a long paragraph": "Five unused days of leave carry over into the next year. ".repeat(200),
  "a large table": `| a | b |\n| --- | --- |\n${"| one | two |\n".repeat(300)}`,
  "a long listing": `\`\`\`\n${"const a = 1\n".repeat(400)}\`\`\``,
  "emoji": "\u{1F469}\u200D\u{1F4BB} ".repeat(300),
  "Thai": "\u0E27\u0E31\u0E19\u0E25\u0E32\u0E1E\u0E31\u0E01\u0E1C\u0E48\u0E2D\u0E19".repeat(200)
}

const takesAnyText = Effect.fnUntraced(function*(fixture: ChunkerFixture, { cut, settings }: Made) {
  for (const [name, markdown] of Object.entries(odd)) {
    const document = yield* textOf({ name: "odd.md", content: new TextEncoder().encode(markdown) }, fixture)
    const exit = yield* Effect.exit(
      Effect.suspend(() => cut(document)).pipe(
        Effect.timeoutOrElse({
          duration: settings.maxSeconds * 1_000,
          orElse: () => Effect.sync(() => assert.fail(`${name} takes more than maxSeconds`))
        })
      )
    )
    if (Exit.isSuccess(exit)) {
      ruled(name, document.text, exit.value)
      for (const { end, start } of exit.value) {
        assert.ok(document.tokens(start, end) <= document.size, `chunks of ${name} have ${document.size} tokens at most`)
      }
      continue
    }
    const error = Cause.squash(exit.cause)
    assert.ok(
      error instanceof DocumentError || error instanceof ServiceError,
      `${name} gives spans, or a DocumentError or ServiceError, and no ${inspect(error)}`
    )
  }
})

const checks: ReadonlyArray<
  readonly [says: string, check: (fixture: ChunkerFixture, made: Made) => Effect.Effect<void, unknown, Scope.Scope>]
> = [
  ["cuts its documents by the rules, and leaves nothing out", keepsTheRules],
  ["cuts the same text alike", isRepeatable],
  ["cuts any text by the rules, or says why not, in time", takesAnyText]
]
