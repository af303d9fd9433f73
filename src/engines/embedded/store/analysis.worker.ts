import { type MessagePort, parentPort, workerData } from "node:worker_threads"
import { DocumentTerms } from "../../../search/analysis/DocumentTerms.ts"
import { Vocabulary } from "../../../search/analysis/Vocabulary.ts"
import { readerOf } from "../kernel/TextKernel.ts"
import { analyzeChunks, type AnalyzedFile, buffersOf } from "./AnalyzedFile.ts"
import type { AnalyzedCommand, AnalyzedMessage, PutFileMessage } from "./Commands.ts"
import { FileWords } from "./FileWords.ts"

/**
 * Runs in the thread that analyzes files on their way to the writer's thread. Words, vectors and packed pages need no database, and take
 * longer than everything that does.
 */

const port = parentPort
if (port === null) throw new Error("analysis.worker runs as a worker thread")
// Set by Writer.ts, which starts this thread.
const { writer } = workerData as { readonly writer: MessagePort }

/**
 * Largest file that is analyzed here, in UTF-16 units. The writer reads a larger one chunk by chunk, as its analysis
 * would not be small.
 */
const largest = 1 << 20

/** Chunks after which finished files are sent to the writer, which works meanwhile. */
const chunksAtOnce = 64

// The writer makes the terms, as they depend on the language of most of the corpus.
const documents = new DocumentTerms(new Vocabulary(), undefined, readerOf)

let ready: Array<AnalyzedCommand> = []
let chunksReady = 0
/** Number of words that the writer was sent. */
let told = 0

const analyze = ({ payload: { elsewhere, file, vectors } }: PutFileMessage): AnalyzedFile | undefined => {
  const characters = file.chunks.reduce((sum, { text }) => sum + text.length, 0)
  if (elsewhere !== undefined || characters > largest) return undefined
  try {
    const withVectors = vectors === "hashed"
    return analyzeChunks(file.chunks, new FileWords(documents, file.chunks, file.title, withVectors), withVectors)
  } catch {
    // The writer will meet the same failure, and refuse the file.
    return undefined
  }
}

const send = (): void => {
  if (ready.length === 0) return
  const { surfaces } = documents
  const message: AnalyzedMessage = { told, surfaces: surfaces.slice(told), commands: ready }
  writer.postMessage(message, ready.flatMap(({ analyzed }) => analyzed === undefined ? [] : buffersOf(analyzed)))
  told = surfaces.length
  ready = []
  chunksReady = 0
  if (documents.forgetIfFull()) told = 0
}

const take = (command: PutFileMessage): void => {
  const analyzed = analyze(command)
  const { file } = command.payload
  chunksReady += file.chunks.length
  ready.push({
    analyzed,
    command: analyzed === undefined ? command : { ...command, payload: { ...command.payload, file: { ...file, chunks: [] } } }
  })
  if (chunksReady >= chunksAtOnce) send()
}

port.on("message", (message: ReadonlyArray<PutFileMessage> | "close") => {
  if (message === "close") {
    writer.close()
    port.close()
    return
  }
  for (const command of message) take(command)
  send()
})
