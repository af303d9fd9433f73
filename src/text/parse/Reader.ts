import type { ParsedDocument, Remark } from "../../domain/Document.ts"
import { remarkOf } from "../../domain/Document.ts"
import type { Limits } from "../Prepared.ts"
import { oneLine } from "./BlockSink.ts"
import type { PropertyList } from "./PropertyList.ts"
import { ArchiveFound, ReadFailure } from "./ReadFailure.ts"
import type { DocumentBuilder } from "./DocumentBuilder.ts"

/** Reads one family of formats: bytes to text and blocks. Pure apart from time and memory; may be async. */
export type Reader = (input: {
  readonly bytes: Uint8Array
  readonly name: string
  readonly format: string
  readonly limits: Limits
  /** Reads attached and packed files. */
  readonly inner: InnerFiles
  /** Receives the document's properties besides those in the result; absent where they are not wanted. */
  readonly properties?: PropertyList
}) => ParsedDocument | Promise<ParsedDocument>

/** A file attached to another or packed inside it. */
export interface InnerFile {
  readonly name: string
  readonly bytes: Uint8Array
  readonly mimeType?: string
}

export type ReadInner = (file: InnerFile, inner: InnerFiles) => ParsedDocument | Promise<ParsedDocument>

/**
 * Reads files attached to a file or packed inside it, each as a section under its name. All of them share the limits of the outer file, and
 * a file that cannot be read is named and costs nothing else. Where attachments are documents of their own, the text only names them.
 */
export class InnerFiles {
  readonly #limits: Limits
  readonly #read: ReadInner
  readonly #opened: boolean
  readonly #depth: number
  readonly #spent: { files: number; bytes: number }
  readonly remarks: Array<Remark> = []

  constructor(limits: Limits, read: ReadInner, opened = false, depth = 0, spent = { files: 0, bytes: 0 }) {
    this.#limits = limits
    this.#read = read
    this.#opened = opened
    this.#depth = depth
    this.#spent = spent
  }

  /** @param level level of the heading that names the file */
  async add(file: InnerFile, builder: DocumentBuilder, level: number): Promise<void> {
    const name = oneLine(file.name)
    const refused = (why: string): void => {
      if (name !== "") builder.add("paragraph", `Attachment: ${name}`)
      this.remarks.push({ kind: "attachment", text: `${name === "" ? "an attachment" : name} (${why})` })
    }
    if (this.#opened) {
      if (name !== "") builder.add("paragraph", `Attachment: ${name}`)
      return
    }
    this.#spent.files++
    this.#spent.bytes += file.bytes.length
    if (this.#depth >= this.#limits.depth) return refused("packed too deeply")
    if (this.#spent.files > this.#limits.parts) return refused(`more than ${this.#limits.parts} files inside`)
    if (this.#spent.bytes > this.#limits.unpackedBytes) return refused("more bytes inside than the limit")
    const inner = new InnerFiles(this.#limits, this.#read, false, this.#depth + 1, this.#spent)
    let document: ParsedDocument
    try {
      document = await this.#read(file, inner)
    } catch (error) {
      // Nothing is lost with a file that has no text.
      if (error instanceof ReadFailure && error.problem === "empty") return
      return refused(error instanceof ArchiveFound ? error.kind : error instanceof Error ? error.message : "not read")
    }
    const remark = remarkOf(document)
    if (remark !== undefined) this.remarks.push({ kind: "attachment", text: `${name} (${remark})` })
    builder.add("heading", name, level)
    for (const { end, kind, level: own = 1, start } of document.blocks) {
      if (kind !== "pageBreak") builder.add(kind, document.text.slice(start, end), kind === "heading" ? own + level : undefined)
    }
  }
}
