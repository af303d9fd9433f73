import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { command } from "../support/Command.ts"
import { events } from "../support/Finished.ts"
import { sluice } from "../support/Sluice.ts"
import { zipOf } from "../text/parse/support/ZipWriter.ts"
import { root } from "../support/Root.ts"
import { tempFolder, write } from "../support/TempFolder.ts"

const run = (cwd: string, ...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd }))

/** The same by the built program, in a process of its own. */
const built = (cwd: string, ...args: ReadonlyArray<string>) => Effect.promise(() => sluice(args, { cwd }))

describe("parse", () => {
  it.live("shows what is read of a file, how it would be cut, and what changed", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      const paragraph = (word: string) => `${`The ${word} crossed the river again. `.repeat(12)}\n\n`
      write(cwd, {
        "a.md": `# Rivers\n\n${paragraph("otter")}${paragraph("heron")}`,
        "b.md": `# Rivers\n\n${paragraph("otter")}${paragraph("crane")}`,
        "photo.png": "\u0000\u0001\u0002"
      })

      const shown = yield* built(cwd, "parse", "a.md")
      assert.deepStrictEqual([shown.code, shown.stderr], [0, ""])
      assert.match(shown.stdout, /^a\.md {2}markdown, .* title "Rivers"\nheading 1 {2}0-6\n {2}Rivers\nparagraph {2}8-\d+\n {2}The otter/)

      const json = yield* built(cwd, "parse", "a.md", "--size", "120", "--overlap", "0", "--json")
      const [document] = events(json)
      assert.deepInclude(document, { version: 1, name: "a.md", format: "markdown", title: "Rivers", remarks: [] })
      write(cwd, { "before.json": json.stdout })
      assert.deepInclude(JSON.parse(readFileSync(join(cwd, "before.json"), "utf8")), { version: 1 })

      const chunks = yield* built(cwd, "parse", "a.md", "--chunks", "--size", "120", "--overlap", "0")
      assert.match(chunks.stdout, /^chunk 1 0-\d+, \d+ tokens\n {2}Rivers\n/)
      const same = yield* built(cwd, "parse", "a.md", "--size", "120", "--overlap", "0", "--diff", "before.json")
      assert.match(same.stdout, /^\d+ chunks the same, 0 gone, 0 new$/m)
      const other = yield* built(cwd, "parse", "b.md", "--size", "50", "--overlap", "0", "--diff", "a.md")
      assert.match(other.stdout, /^[1-9]\d* chunks? the same, [1-9]\d* gone, [1-9]\d* new$/m)
      assert.match(other.stdout, /^- .*\n(?: {2}.*\n)* {2}.*heron/m)

      const refused = yield* built(cwd, "parse", "photo.png")
      assert.deepStrictEqual([refused.code, refused.stdout], [1, ""])
      assert.match(refused.stderr, /^error: photo\.png: named .png, but its content is no picture/m)
      assert.strictEqual((yield* built(cwd, "parse", "missing.md")).code, 4)
    }).pipe(Effect.scoped))

  it.live("opens no device, which may have no end, and reads a pipe until its writer ends", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      write(cwd, { "a.md": "# Rivers\n\nThe otter crossed the river." })
      for (const args of [["/dev/zero"], ["a.md", "--diff", "/dev/zero"], ["."]]) {
        const refused = yield* run(cwd, "parse", ...args)
        assert.strictEqual(refused.code, 4)
        assert.match(refused.stderr, /cannot be read\n.*name a file, not a folder or device/)
      }
      const pipe = join(cwd, "pipe.md")
      execFileSync("mkfifo", [pipe])
      const [read] = yield* Effect.all([run(cwd, "parse", "pipe.md"), Effect.promise(() => writeFile(pipe, "# Seas\n\nThe otter swam."))], {
        concurrency: 2
      })
      assert.deepStrictEqual([read.code, read.stderr], [0, ""])
      assert.include(read.stdout, "The otter swam.")
    }).pipe(Effect.scoped))

  it.live("lists what a file holds, and reads one of it", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      write(cwd, {
        "a.eml": [
          "From: a@b.c",
          "Subject: Offer",
          "Content-Type: multipart/mixed; boundary=x",
          "",
          "--x",
          "Content-Type: text/plain",
          "",
          "Enclosed.",
          "--x",
          "Content-Type: text/markdown; name=\"terms.md\"",
          "Content-Disposition: attachment; filename=\"terms.md\"",
          "",
          "# Terms",
          "",
          "Thirty days.",
          "--x--"
        ].join("\r\n"),
        "a.zip": zipOf({ "x/one.md": "One.", ".hidden": "Not this." })
      })
      const mail = yield* run(cwd, "parse", "a.eml")
      assert.match(mail.stdout, /Attachment: terms\.md\n\nholds, as documents of their own:\n {2}attachments\/terms\.md {2}\d+ bytes$/m)
      assert.match((yield* run(cwd, "parse", "a.eml", "--part", "attachments/terms.md")).stdout, /heading 1 .*\n {2}Terms\n/)
      const [archive] = events(yield* run(cwd, "parse", "a.zip", "--json"))
      assert.deepInclude(archive, {
        format: "archive",
        chunks: [],
        parts: [{ path: "x/one.md", size: 4 }, {
          path: ".hidden",
          size: 0,
          refused: { reason: "ignored", message: "a hidden file, or one that a system keeps for itself" }
        }]
      })
      const wrong = yield* run(cwd, "parse", "a.zip", "--part", "two.md")
      assert.match(wrong.stderr, /^error: there is no two\.md in a\.zip\nfix: name one of: x\/one\.md/m)
      assert.strictEqual(wrong.code, 1)
    }).pipe(Effect.scoped))

  it.live("reads and cuts a file by the parser and the chunker of one's own that its pipeline names", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      write(cwd, {
        "parsers.ts": `
import { Effect, Redacted } from "effect"
import { defineChunker, defineParser, DocumentError, SecretVersion } from ${JSON.stringify(join(root, "src/ConnectorKit.ts"))}
export const reversed = defineParser({
  kind: "reversed", description: "Reversed.", version: 1, extensions: ["rev"], fields: {},
  make: () => Effect.succeed(({ content }) =>
    content.length < 3
      ? Effect.fail(new DocumentError({ problem: "corrupt", message: "it is too short" }))
      : Effect.succeed({ markdown: "# Turned\\n\\n" + [...Buffer.from(content).toString()].reverse().join(""), remark: "in one line" }))
})
export const sealed = defineParser({
  kind: "sealed", description: "Sealed.", version: 1, extensions: ["seal"], fields: { key: SecretVersion },
  make: ({ key }, { secrets }) => Effect.map(secrets.resolve(key), (value) => () => Effect.succeed("Opened by " + Redacted.value(value).length))
})
export const headings = defineChunker({
  kind: "headings", description: "Headings alone.", version: 1, fields: {},
  make: () => Effect.succeed(({ blocks }) => Effect.succeed(blocks.filter(({ kind }) => kind === "heading")))
})
`,
        "pipeline.yaml":
          "name: p\ncorpus: { displayName: P }\nuse: [./parsers.ts]\nsources: {}\nparsers: [{ reversed: {} }]\nchunking: { chunker: { headings: {} } }\n",
        "sealed.yaml":
          "name: s\ncorpus: { displayName: S }\nuse: [./parsers.ts]\nsources: {}\nparsers: [{ sealed: { key: projects/p/secrets/SEAL/versions/1 } }]\n",
        "c.seal": "?",
        "a.rev": "!xof kciuq ehT",
        "b.rev": "x"
      })
      const [document] = events(yield* run(cwd, "parse", "a.rev", "--pipeline", "pipeline.yaml", "--json"))
      assert.deepInclude(document, { name: "a.rev", title: "Turned", text: "Turned\n\nThe quick fox!" })
      assert.deepInclude(document, { remark: "in one line; chunker headings: 12 of 18 characters are in no chunk" })
      const shown = yield* run(cwd, "parse", "a.rev", "--pipeline", "pipeline.yaml", "--chunks")
      assert.match(shown.stdout, /^chunk 1 0-6, \d+ tokens\n {2}Turned\n*$/)
      const described = yield* run(cwd, "parse", "a.rev", "--pipeline", "pipeline.yaml")
      assert.include(
        described.stdout,
        "left out or uncertain:\n  reported by your own code: in one line\n  reported by your own code: chunker headings: 12 of 18"
      )
      const refused = yield* run(cwd, "parse", "b.rev", "--pipeline", "pipeline.yaml")
      assert.strictEqual(refused.code, 1)
      assert.include(refused.stderr, "parser reversed: it is too short")
      assert.isFalse(existsSync(join(cwd, ".sluice")), "nothing is stored")
      const env = { SLUICE_SECRET_SEAL: "12345" }
      const opened = yield* Effect.promise(() => command(["parse", "c.seal", "--pipeline", "sealed.yaml", "--json"], { cwd, env }))
      assert.deepInclude(events(opened)[0], { text: "Opened by 5" })
      assert.include((yield* run(cwd, "parse", "c.seal", "--pipeline", "sealed.yaml")).stderr, "projects/p/secrets/SEAL/versions/1")
    }).pipe(Effect.scoped))
})
