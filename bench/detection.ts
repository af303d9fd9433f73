/**
 * Measures how often the right analyzer is detected for a short text: without help, with a right hint or prior, and with a wrong
 * prior (English, or German for English texts).
 *
 * Usage: node bench/detection.ts <file with lines of {"lang": ISO 639-1, "text": ...}>
 *
 * Results are by the number of words in a text. For languages without a stemmer, `simple` is right.
 */
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { type AnalyzerId, detect, type Expected, isLanguage } from "../src/search/analysis/Detection.ts"

interface Sample {
  readonly lang: string
  readonly text: string
}

const { positionals: [file] } = parseArgs({ allowPositionals: true })
if (file === undefined) throw new Error("usage: node bench/detection.ts <file>")
const samples = readFileSync(file, "utf8").split("\n").filter((line) => line !== "").map((line): Sample => JSON.parse(line))

const rightOf = ({ lang }: Sample): AnalyzerId => isLanguage(lang) ? lang : "simple"
const ways: Readonly<Record<string, (sample: Sample) => Expected>> = {
  alone: () => ({}),
  "right hint": ({ lang }) => ({ hint: lang }),
  "right prior": (sample) => ({ prior: rightOf(sample) }),
  "wrong prior": ({ lang }) => ({ prior: lang === "en" ? "de" : "en" })
}

for (const [way, expectedOf] of Object.entries(ways)) {
  const right = new Map<string, [right: number, all: number]>()
  const before = process.cpuUsage()
  for (const sample of samples) {
    const words = sample.text.split(/\s+/).length
    const kind = `${isLanguage(sample.lang) ? "analyzed" : "others"}, ${words} words`
    const count = right.get(kind) ?? [0, 0]
    if (detect(sample.text, expectedOf(sample)) === rightOf(sample)) count[0]++
    count[1]++
    right.set(kind, count)
  }
  const { system, user } = process.cpuUsage(before)
  console.log(`${way}, ${((system + user) / samples.length).toFixed(1)} us a text`)
  for (const [kind, [hits, all]] of [...right].sort()) console.log(`  ${kind.padEnd(20)} ${((100 * hits) / all).toFixed(1)}% of ${all}`)
}
