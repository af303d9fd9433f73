import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { RecursiveCharacterTextSplitter } from "@langchain/textsplitters"

/** A piece of a file, for databases without a splitter. */
export interface Piece {
  readonly id: string
  readonly source: string
  readonly text: string
}

/** Splits every text file below a folder into pieces of `chunkSize` characters, as LangChain.js splits Markdown. */
export const piecesOf = async (folder: string, chunkSize: number, chunkOverlap: number): Promise<Array<Piece>> => {
  const splitter = RecursiveCharacterTextSplitter.fromLanguage("markdown", { chunkSize, chunkOverlap })
  const pieces: Array<Piece> = []
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const source = join(entry.parentPath, entry.name)
    for (const text of await splitter.splitText(readFileSync(source, "utf8"))) {
      pieces.push({ id: String(pieces.length), source, text })
    }
  }
  return pieces
}
