import { type AnalyzerId, analyze } from "../../../search/analysis/Analyzer.ts"
import { detect } from "../../../search/analysis/Detection.ts"
import type { NewFile } from "../store/Commands.ts"
import { indexedText, sampleOf } from "../store/FileWords.ts"

/** The terms of a file's chunks, with the analyzers that made them. */
export const termsOf = ({ chunks, language, title }: Pick<NewFile, "chunks" | "language" | "title">) => {
  const hint = language ?? (chunks.length < 2 ? undefined : detect(sampleOf(chunks)))
  const analyzers = new Set<AnalyzerId>()
  const terms = chunks.map((chunk) => {
    const text = indexedText(chunk, title)
    const analyzer = detect(text, { hint })
    analyzers.add(analyzer)
    return analyze(text, analyzer)
  })
  return { analyzers: [...analyzers], terms }
}
