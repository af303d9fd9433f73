import { Effect } from "effect"
import { type DraftedQuestions, Drafter, type Passage } from "../ports/Drafter.ts"
import { functionWords } from "../text/FunctionWords.ts"
import { blocksOf } from "./extractive/Blocks.ts"
import { leaning, namesTask } from "./extractive/Cues.ts"
import { sentencesOf } from "./extractive/Units.ts"
import { foldedWords } from "./extractive/Words.ts"

type Draft = DraftedQuestions["drafts"][number]

/** Drafts questions without a model, by the forms that sentences and headings have. The same passage gives the same questions. */
export const make = (): Drafter["Service"] =>
  Drafter.of({
    model: "extractive",
    draft: (passage, count) => Effect.sync(() => ({ drafts: draftsOf(passage).slice(0, count) }))
  })

/** Length of a sentence that can answer a question, in UTF-16 units: a shorter one says too little, a longer one too much. */
const [shortest, longest] = [25, 400]

/** The questions that a passage answers in its own words: those of its sentences, and its headings that ask or name what stands under them. */
export const draftsOf = ({ headings, text }: Passage): ReadonlyArray<Draft> => {
  const drafts: Array<Draft> = []
  let heading = headings.at(-1) ?? ""
  let isFirst = true
  for (const block of blocksOf(text)) {
    if (block.kind === "heading") {
      heading = onOneLine(text.slice(block.start, block.end))
      isFirst = true
    }
    if (block.kind !== "paragraph") continue
    for (const { text: raw } of sentencesOf(text, block)) {
      const sentence = onOneLine(raw)
      if (sentence.length < shortest || sentence.length > longest || !/^[\p{Lu}\p{N}"“«`].*[.!。]$/u.test(sentence)) continue
      const headed = isFirst ? askedBy(heading, sentence) : undefined
      isFirst = false
      for (const question of [headed, askedOf(sentence, `${headings.join("\n")}\n${heading}`, text)]) {
        if (question !== undefined) drafts.push({ question, span: sentence })
      }
    }
  }
  return drafts
}

/** What a heading asks: itself where it is a question, how to do the task that it names, or the subject that the sentence takes up. */
const askedBy = (written: string, sentence: string): string | undefined => {
  const heading = written.replace(/^(?:\d+(?:\.\d+)*[.)]?|[A-Z][.):])\s+/, "").trim()
  if (heading.length < 6 || heading.length > 150 || referring.test(heading)) return undefined
  if (/^\p{Lu}.{8,}\?$/u.test(heading)) return heading
  if (heading.split(" ").length < 2 || !/^\p{L}[^?!:|]{5,80}$/u.test(heading)) return undefined
  if (namesTask.test(heading) && !/\b(?:and|or|you|your|an?)$/i.test(heading)) return `How do I ${lowered(heading)}?`
  const said = foldedWords(sentence)
  const isTakenUp = contentOf(heading).some((word) => said.some((other) => other.slice(0, 5) === word.slice(0, 5)))
  return isTakenUp ? heading : undefined
}

/** A noun phrase of up to five words at the start of a sentence, with its article. */
const term = /((?:An?|The|Eine?|Der|Die|Das) )?([\p{L}\p{N}`][\p{L}\p{N}'’`./+_()-]*(?: [\p{L}\p{N}'’`./+_()-]+){0,4}?)/u.source
/** What a purpose names: a verb and at least two words. */
const purpose = /([a-z]+(?:-[a-z]+)?(?: [^\s,;:()]+){2,12})/.source

interface Form {
  readonly form: RegExp
  /** Whether the first two groups are an article and a term, which has to be a name; the question is given both as one. */
  readonly named?: true
  readonly question: (...groups: ReadonlyArray<string>) => string
}

const ofTerm = (predicate: string, question: Form["question"]): Form => ({
  form: new RegExp(`^${term} ${predicate}`, "u"),
  named: true,
  question
})

/** Forms of sentences, and the questions that they answer; the first that fits is taken. Other languages have only their headings. */
const forms: ReadonlyArray<Form> = [
  ofTerm("(?:is|refers to) (?:an?|one of) ", (named) => `What is ${named}?`),
  ofTerm("are (?:an?|the|those|kinds of|types of|sets of) ", (named) => `What are ${named}?`),
  ofTerm("(?:stands for|is short for) ", (named) => `What does ${named} stand for?`),
  ofTerm("means ", (named) => `What does ${named} mean?`),
  ofTerm("is used (?:to|for|by|in) ", (named) => `What is ${named} used for?`),
  ofTerm("are used (?:to|for|by|in) ", (named) => `What are ${named} used for?`),
  ofTerm("(return|require|support|represent)s ", (named, verb) => `What does ${named} ${verb}?`),
  ofTerm("specifies ", (named) => `What does ${named} specify?`),
  ofTerm("(consist|default|depend)s (of|to|on) ", (named, verb, word) => `What does ${named} ${verb} ${word}?`),
  ofTerm(
    "was (?:first |originally |officially )?(founded|released|introduced|published|established|built|opened|invented|discovered|launched|completed|adopted|signed) .*\\b(?:1\\d|20)\\d\\d\\b",
    (named, verb) => `When was ${named} ${verb}?`
  ),
  {
    form: /^The ((?:default|maximum|minimum|recommended|total|largest|smallest|average) [^,;.]{3,60}?) (is|are) (?!not\b|also\b|used\b)/u,
    question: (what = "", is = "") => `What ${is} the ${what}?`
  },
  {
    form: new RegExp(
      `^To ${purpose}, (?:simply |first |please |just )?(?:you (?:can|must|need|should|have)|use|run|set|call|click|open|select|add|choose|go|press|pass|put|type|enter|create|install|write|execute|specify|make|send|start|follow|contact) `,
      "u"
    ),
    question: (task = "") => `How do I ${task}?`
  },
  {
    form: new RegExp(`^(?:You|Users|Administrators|Developers) can (?:also |then |easily )?${purpose} (?:by|using|via) `, "u"),
    question: (task = "") => `How can I ${task}?`
  },
  ofTerm("ist (?:eine?|der|die|das) ", (named) => `Was ist ${named}?`),
  ofTerm("bedeutet ", (named) => `Was bedeutet ${named}?`)
]

/** The question that a sentence answers by its form. `above` are the headings over it, `text` the whole passage. */
const askedOf = (sentence: string, above: string, text: string): string | undefined => {
  if (leaning.test(sentence)) return undefined
  for (const { form, named, question } of forms) {
    const groups = form.exec(sentence)?.slice(1)
    if (groups === undefined) continue
    if (named === undefined) return groups.some((group) => pointing.test(group)) ? undefined : question(...groups)
    const [article = "", name = "", ...rest] = groups
    const isDefinite = /^(?:The|Der|Die|Das) $/.test(article)
    if (!isName(name) || (isDefinite && !above.toLowerCase().includes(name.toLowerCase()) && !delimiting.test(sentence))) return undefined
    return question(`${article.toLowerCase()}${article === "" && text.includes(lowered(name)) ? lowered(name) : name}`, ...rest)
  }
  return undefined
}

/** What sets a kind of thing apart: with it also a definite term is any of its kind, not the one that was just spoken of. */
const delimiting =
  / is (?:an?|one of) (?:[^\s,]+ ){1,4}(?:that|which|whose|where)\b| ist (?:eine?) [^,]+, (?:die|das|der|den|dem|mit|in)\b/u

/** Words that point at what was said before. */
const referring = /\b(?:this|that|these|those|its?|they|them|their|such|above|below|here|so|same|other|another)\b/i
/** These, and words that point at whoever writes or reads. */
const pointing = new RegExp(`${referring.source}|\\b(?:one|we|our|us|you|your|my|i)\\b`, "i")

/** Words of grammar that a name may have inside. */
const inNames = new Set(["of", "and", "for", "in", "to", "with", "on", "von", "und", "des", "für"])
/** Words that a name has after one of these only: "the size of a page", not "suppose the page". */
const articles = new Set(["the", "a", "an", "der", "die", "das"])
/** Words that start or fill a clause and are no words of grammar. */
const clausal = new Set([
  "only",
  "once",
  "currently",
  "often",
  "usually",
  "both",
  "either",
  "neither",
  "even",
  "here",
  "because",
  "while",
  "since",
  "until",
  "hier",
  "dort"
])

/** Whether words at the start of a sentence are the name of something, not a clause, a task or something said before. */
const isName = (words: string): boolean => {
  const all = words.toLowerCase().split(" ")
  const isGrammar = (word: string): boolean => clausal.has(word) || functionWords["en"]!.has(word) || functionWords["de"]!.has(word)
  const [first = ""] = all
  const last = all.at(-1)!
  return !isGrammar(first) && !isGrammar(last) &&
    all.every((word, at) => articles.has(word) ? isGrammar(all[at - 1]!) : inNames.has(word) || !isGrammar(word)) && words.length > 1 &&
    !(all.length > 1 && first.endsWith("ing")) && !/(?:ly|ed)$/.test(first) && !/(?:ly|ed)$/.test(last) && !namesTask.test(`${words} x`)
}

/** Words that say what a heading is about: not those of grammar, and of four letters or more. */
const contentOf = (text: string): ReadonlyArray<string> =>
  foldedWords(text).filter((word) => word.length >= 4 && !functionWords["en"]!.has(word) && !functionWords["de"]!.has(word))

const onOneLine = (text: string): string => text.replace(/\s+/g, " ").trim()

/** A text with a small first letter, unless its first word has further capitals or digits. */
const lowered = (text: string): string => /^\p{Lu}\p{Ll}*(?![\p{L}\p{N}])/u.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
