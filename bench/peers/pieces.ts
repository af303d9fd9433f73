import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { RecursiveCharacterTextSplitter } from "@langchain/textsplitters"

/** A piece of a file, as a database that cuts nothing itself is given it. */
export interface Piece {
  readonly id: string
  readonly source: string
  readonly text: string
}

/** Every text file below a folder in pieces of so many characters, cut as LangChain.js cuts Markdown. */
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
