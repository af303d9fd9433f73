import type { Context } from "../../domain/Retrieval.ts"
import { asksOption, holdsType, isDated, type Question, type Term } from "./Question.ts"
import { leaning } from "./Passage.ts"
import type { Unit } from "./Units.ts"
import { type Signs, unitWeights } from "./Coefficients.ts"
import { placesOf, synonymsOf } from "./Synonyms.ts"
import { numberedName, numberedNames } from "../../text/FileNames.ts"
import { explainsOption, hasOption } from "../../text/CommandOptions.ts"
import { commonPrefix, editDistance, foldedWords, normalize, partsOfNames, wordsOfNormal } from "./Words.ts"

/** Credit for a word that says the same as the question's: where documents have that one too, and where they never have. */
const synonym = { beside: 0.7, instead: 0.9 }

/** How well one unit bears on the question. All figures 0..1. */
export interface Evidence {
  readonly unit: Unit
  /** What the order is by. */
  readonly score: number
  /** What the score is made of. */
  readonly signs: Signs
  /**
   * Weighted share of the question's terms in the quote, with what the surroundings add: headings, lead-in, the
   * sentences around, the rest of the context.
   */
  readonly covered: number
  /** How much of each term the quote has, … */
  readonly matches: ReadonlyArray<number>
  /** … and how much with what stands above it. */
  readonly told: ReadonlyArray<number>
  /** … and how much the rest of its paragraph, list or table has. */
  readonly block: ReadonlyArray<number>
  /** … and how much the document's title, name and headings have. */
  readonly titled: ReadonlyArray<number>
  readonly typed: boolean
}

/** Credit for a term found not in the quote but near it. */
const near = { above: 0.7, before: 0.8, heading: 0.7, field: 0.95, opening: 0.5, neighbour: 0.5, context: 0.35 }

/** Characters from a unit's first on that are taken for its passage; to the end of a listing that it leads up to, more. */
const ahead = { instruction: 600, statement: 450, listing: 1200 }

/** Scores every unit. `weights` are those of the question's terms, in order. */
export const evidenceFor = (
  question: Question,
  contexts: ReadonlyArray<Context>,
  units: ReadonlyArray<Unit>
): { readonly evidence: ReadonlyArray<Evidence>; readonly weights: ReadonlyArray<number> } => {
  const matcher = matcherOf(question, contexts, units)
  const headedBy = precisionOf(question)
  const numbered = numberedNames(question.text)
  const isNamed = contexts.map(({ sourceDisplayName }) => numbered.has(numberedName(sourceDisplayName) ?? ""))
  // Whoever wrote a document wrote what it is about only where the question names just that.
  const isAsked = contexts.map((context, at) => isNamed[at]! || headedBy(titleOf(context)) >= 0.6)
  const own = units.map((unit) =>
    question.terms.map(({ also }, term) => {
      const match = matcher(term, unit)
      return also === undefined || match === 1 || isAsked[unit.context]! ? match : 0.3 * match
    })
  )
  const weights = weightsOf(question, own)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const share = (matches: ReadonlyArray<number>): number =>
    total === 0 ? 0 : matches.reduce((sum, match, term) => sum + match * weights[term]!, 0) / total

  const matchesOf = (text: string): Array<number> => {
    const normal = normalize(text)
    const words = wordsOfNormal(normal)
    const told = { display: text, normal, words, wordSet: new Set([...words, ...partsOfNames(text)]) }
    return question.terms.map((_, term) => matcher(term, told))
  }
  const byContext = contexts.map((_, context) => units.flatMap((unit, at) => (unit.context === context ? [at] : [])))
  const ofHeadings = contexts.map((context) => matchesOf([...context.headings, nameOf(context), titleOf(context)].join("\n")))
  const ofContext = byContext.map((ats, context) => best([...ats.map((at) => own[at]!), ofHeadings[context]!]))
  const ofBlock = new Map<string, ReadonlyArray<number>>()
  units.forEach((unit, at) => {
    const key = `${unit.context}.${unit.block}`
    ofBlock.set(key, best([own[at]!, ...(ofBlock.has(key) ? [ofBlock.get(key)!] : [])]))
  })
  const ofAbove = new Map([...new Set(units.map(({ above }) => above))].map((above) => [above, matchesOf(above)]))
  const ofOpening = contexts.map((_, context) =>
    matchesOf(byContext[context]?.map((at) => units[at]!.blocks.find(({ kind }) => kind === "heading")?.lines[0]?.text ?? "")[0] ?? "")
  )
  const ofHeading = new Map([...new Set(units.map(({ heading = "" }) => heading))].map((heading) => [heading, matchesOf(heading)]))
  const scores = contexts.map(({ score }) => score)
  const highest = Math.max(1e-9, ...scores)
  const similar = contexts.map(({ distance }) => (distance === undefined ? 0 : 1 - distance))
  const most = Math.max(1e-9, ...similar)
  const names = question.terms.map(({ importance }, term) => (importance > 1 ? weights[term]! : 0))
  const named = names.reduce((sum, weight) => sum + weight, 0)
  const asksAfter = question.kind === "howTo"
  const votes = votesOf(contexts)
  const heaviest = weights.indexOf(Math.max(...weights))

  // The question of a list of questions is the heading of its answer.
  const headingOf = (
    { above, context, heading }: Unit
  ): string => (/[?？]$/u.test(above) ? above : heading ?? contexts[context]!.headings.at(-1) ?? "")

  const reach = ahead[asksAfter ? "instruction" : "statement"]
  const ofPassage = units.map((unit, at) => {
    const said = [...own[at]!]
    for (let next = at + 1; next < units.length; next++) {
      const { block, context, end, kind } = units[next]!
      const isLed = kind === "code" && block === unit.block + 1
      if (context !== unit.context || (block !== unit.block && !isLed) || end - unit.start > (isLed ? ahead.listing : reach)) break
      own[next]!.forEach((match, term) => {
        said[term] = Math.max(said[term]!, match)
      })
    }
    return said
  })

  // What "it" is, the sentence before says.
  const carriedTo = (at: number): ReadonlyArray<number> | undefined =>
    leaning.test(units[at]!.display) && units[at - 1]?.context === units[at]!.context ? own[at - 1] : undefined
  const firstFile = contexts[0]?.file
  const option = asksOption(question) ? question.terms.find(({ option }) => option)?.key : undefined
  // Many commands have a -v: that of the one that the question names is asked for.
  const explaining = units.map((unit) =>
    option !== undefined && (explains(unit, option) || explainsOption(headingOf(unit), option)) ? share(ofHeadings[unit.context]!) : -1
  )
  const mostExplaining = Math.max(0, ...explaining)

  const evidence = units.map((unit, at): Evidence => {
    const mine = own[at]!
    const above = ofAbove.get(unit.above)!
    const heading = ofHeading.get(unit.heading ?? "")!
    const around = [at - 1, at + 1].filter((other) => units[other]?.context === unit.context).map((other) => own[other]!)
    const told = mine.map((match, term) =>
      Math.max(
        match,
        near.above * Math.max(above[term]!, heading[term]!),
        (unit.kind === "key" ? near.field : near.heading) * ofHeadings[unit.context]![term]!,
        near.opening * ofOpening[unit.context]![term]!
      )
    )
    const covered = share(
      told.map((match, term) =>
        Math.max(match, ...around.map((other) => near.neighbour * other[term]!), near.context * ofContext[unit.context]![term]!)
      )
    )
    // The date of one field is not that of another.
    const typed = option === undefined
      ? question.type === "date" && isDated(headingOf(unit)) || holdsType(question, unit.display) &&
          (unit.kind !== "key" || question.type !== "date" || fieldAsked(question, unit.display) > 0)
      : explaining[at]! >= mostExplaining
    const inBlock = ofBlock.get(`${unit.context}.${unit.block}`)!
    const followed = unit.blocks[unit.block + 1]?.kind
    const mineShare = share(mine)
    const toldShare = share(told)
    const carried = carriedTo(at)
    const asksCell = isCellAsked(question, unit)
    const signs: Signs = {
      own: mineShare,
      told: toldShare,
      block: share(told.map((match, term) => Math.max(match, inBlock[term]!))),
      context: share(ofContext[unit.context]!),
      heading: share(heading.map((match, term) => Math.max(match, 0.8 * above[term]!))),
      title: share(ofHeadings[unit.context]!),
      names: named === 0
        ? 1
        : told.reduce((sum, match, term) => sum + Math.max(match, ofHeadings[unit.context]![term]! >= 0.8 ? 1 : 0) * names[term]!, 0) /
          named,
      adjacency: adjacency(question.terms, unit, mine),
      typed: question.type === "other" ? 0 : typed ? 1 : 0,
      first: unit.position === 0 ? 1 : 0,
      rank: 1 / (1 + scores.filter((score) => score > scores[unit.context]!).length),
      score: contexts[unit.context]!.score / highest,
      cosine: similar[unit.context]! / most,
      shape: shapePenalty(unit, contexts[unit.context]!.text),
      listing: unit.kind === "code" ? 1 : 0,
      listingAsked: asksAfter && (unit.kind === "code" ? !isSynopsis(unit.display) : followed === "code" && /[:：]$/u.test(unit.display))
        ? 1
        : 0,
      steps: asksAfter && (unit.kind === "item" || unit.kind === "list") ? 1 : 0,
      instruction: asksAfter && instruction.test(unit.display) ? 1 : 0,
      reason: question.kind === "why" && reason.test(unit.display) ? 1 : 0,
      definition: asksCell ? 1 : question.kind === "definition" || question.kind === "other" || question.terms.some(({ option }) => option)
        ? definition(question, unit)
        : 0,
      field: unit.kind === "key" ? fieldAsked(question, unit.display) : asksCell ? 1 : 0,
      key: unit.kind === "key" || (unit.kind === "row" && !asksCell) ? 1 : 0,
      keyTyped: typed && question.type !== "other" && (unit.kind === "key" || unit.kind === "row") ? 1 : 0,
      keyOdd: unit.kind === "key" && tells(question) ? 1 : 0,
      listingOdd: unit.kind === "code" && (tells(question) ? question.kind !== "howTo" : question.kind !== "other") ? 1 : 0,
      novelty: Math.min(1, unit.words.filter((word) => !question.words.has(word)).length / 8),
      named: isNamed[unit.context]! ? 1 : 0,
      headed: headedBy(headingOf(unit)),
      under: headedBy(contexts[unit.context]!.headings.at(-1) ?? ""),
      titled: headedBy(titleOf(contexts[unit.context]!)),
      early: 1 / (1 + (contexts[unit.context]!.byteStart ?? 4000) / 2000),
      lead: unit.position === 0 || unit.start === 0 ? headedBy(headingOf(unit)) : 0,
      window: closeness(question.terms, unit, mine),
      rarest: Math.max(told[heaviest] ?? 0, inBlock[heaviest] ?? 0),
      least: Math.min(1, ...told.map((match, term) => Math.max(match, inBlock[term]!, 0.7 * ofHeadings[unit.context]![term]!))),
      subject: startsWithTerm(question.terms, unit) ? 1 : 0,
      votes: votes[unit.context]!,
      opening: opening.test(headingOf(unit)) ? 1 : 0,
      aside: [...contexts[unit.context]!.headings, unit.heading ?? ""].some((one) => aside.test(one)) ? 1 : 0,
      length: Math.min(1, unit.words.length / 40),
      both: mineShare * mineShare,
      typedTold: question.type === "other" || !typed ? 0 : toldShare,
      typedNear: question.type === "number" || question.type === "date" ? typedNear(question, unit, mine) : 0,
      ahead: share(told.map((match, term) => Math.max(match, ofPassage[at]![term]!))),
      ownHow: question.kind === "howTo" ? mineShare : 0,
      ownWhy: question.kind === "why" ? mineShare : 0,
      ownDefinition: question.kind === "definition" ? mineShare : 0,
      toldYesNo: question.kind === "yesNo" ? toldShare : 0,
      negative: negation.test(unit.display) ? 1 : 0,
      carried: carried === undefined ? toldShare : share(told.map((match, term) => Math.max(match, near.before * carried[term]!))),
      toldSquared: toldShare * toldShare,
      verb: asksAfter ? told[0] ?? 0 : 0,
      listingNear: asksAfter && (followed === "code" || unit.blocks[unit.block + 2]?.kind === "code") ? 1 : 0,
      firstFile: contexts[unit.context]!.file === firstFile ? 1 : 0
    }
    return { unit, score: weighed(signs), signs, covered, matches: mine, told, block: inBlock, titled: ofHeadings[unit.context]!, typed }
  })
  return { evidence, weights }
}

/** Whether a question wants to be told something, which a field or a listing does not do. */
const tells = ({ kind }: Question): boolean => kind === "howTo" || kind === "why" || kind === "yesNo" || kind === "definition"

const weighed = (signs: Signs): number => {
  let sum = 0
  for (const sign of Object.keys(unitWeights) as Array<keyof Signs>) sum += unitWeights[sign] * signs[sign]
  return sum
}

/** Headings under which a text says what it is about, and such under which it says what is not so. */
const opening =
  /^(?:[\d.]+\s*)?(?:abstract|summary|overview|introduction|specification|usage|quick ?start|getting started|how to\b|zusammenfassung|überblick|einleitung|résumé|resumen|概要|摘要|简介)/iu
const aside =
  /\b(?:reject|alternativ|open (?:issue|question)|histor|footnote|acknowledg|appendi|change ?log|related work|future|deferred|copyright|references?$)/iu

/** Of each context, the share of all contexts' scores that those of its file have. */
const votesOf = (contexts: ReadonlyArray<Context>): ReadonlyArray<number> => {
  const total = Math.max(1e-9, contexts.reduce((sum, { score }) => sum + score, 0))
  const byFile = new Map<string, number>()
  for (const { file, score } of contexts) byFile.set(file, (byFile.get(file) ?? 0) + score / total)
  return contexts.map(({ file }) => byFile.get(file)!)
}

/** Share of a heading's words that the question has, by its own terms. */
const precisionOf = (question: Question): (heading: string) => number => {
  const known = new Map<string, number>()
  const keys = question.terms.filter(({ cjk }) => !cjk).map(({ key }) => key)
  return (heading) => {
    const found = known.get(heading)
    if (found !== undefined) return found
    const words = foldedWords(heading).filter((word) => word.length > 2)
    const has = words.filter((word) =>
      keys.some((key) =>
        key === word || (Math.min(key.length, word.length) >= 4 && commonPrefix(key, word) >= 0.7 * Math.max(key.length, word.length))
      )
    )
    const share = words.length === 0 ? 0 : has.length / words.length
    known.set(heading, share)
    return share
  }
}

/** Terms that the quote has, over the words of the shortest stretch that has them all; 0 for fewer than two. */
const closeness = (terms: ReadonlyArray<Term>, unit: Unit, own: ReadonlyArray<number>): number => {
  const wanted = new Map<string, number>()
  terms.forEach(({ cjk, key }, term) => {
    if (!cjk && own[term] === 1) wanted.set(key, 0)
  })
  if (wanted.size < 2) return 0
  let least = Infinity
  let missing = wanted.size
  let from = 0
  unit.words.forEach((word, at) => {
    const count = wanted.get(word)
    if (count === undefined) return
    wanted.set(word, count + 1)
    if (count === 0) missing--
    while (missing === 0) {
      least = Math.min(least, at - from + 1)
      const first = wanted.get(unit.words[from]!)
      if (first !== undefined) {
        wanted.set(unit.words[from]!, first - 1)
        if (first === 1) missing++
      }
      from++
    }
  })
  return least === Infinity ? 0 : (wanted.size / least) * (wanted.size / terms.length)
}

const startsWithTerm = (terms: ReadonlyArray<Term>, unit: Unit): boolean =>
  unit.words.slice(0, 4).some((word) => terms.some(({ cjk, key }) => cjk ? word.startsWith(key) : key === word))

/** How near to a term of the question a number or a month stands that the question has not: 1 beside it. */
const typedNear = (question: Question, unit: Unit, own: ReadonlyArray<number>): number => {
  const keys = new Set(question.terms.flatMap(({ key }, term) => (own[term]! >= 0.8 ? [key] : [])))
  const places = unit.words.flatMap((word, at) => (keys.has(word) ? [at] : []))
  let nearest = Infinity
  unit.words.forEach((word, at) => {
    if (question.words.has(word) || !holdsType(question, word)) return
    for (const place of places) nearest = Math.min(nearest, Math.abs(place - at))
  })
  return nearest === Infinity ? 0 : 1 / (1 + nearest / 4)
}

/** The forms that a command has, with what may be left out in brackets: how to do anything with it, that does not tell. */
const isSynopsis = (listing: string): boolean => (listing.match(/\[(?:-|<|\(-)/g)?.length ?? 0) > 1

const instruction =
  /^(?:to |use |set |add |run |call |click |open |enter |type |create |install |choose |select |press |go to |navigate |write |make sure |ensure |tell |ask |put |copy |sign |send |start |add |define |declare |pass |include |provide )|\b(?:you (?:can|may|must|should|need)|(?:can|may|must|should) be \w+(?:ed|en|t)\b|must|should|is done by|by (?:\w+ing)|using)\b|\b(?:muss|müssen|kann|können|bitte|sollte)\b|必须|可以|请|してください/iu
const negation = /\b(?:not|never|cannot|no|nicht|nie|kein\w*)\b|n['’]t\b/iu
const reason =
  /\b(?:because|since|so that|due to|therefore|reasons?|why|in order to|as a result|leads? to|causes?|caused|problem|avoid|otherwise|weil|da|denn|deshalb|damit|wegen|parce que|porque|perché)\b|因为|由于|所以|ため|ので|から/iu

const fieldAsked = (question: Question, display: string): number => {
  const name = foldedWords((/^[^:]*/.exec(display)?.[0] ?? "").replace(/(?<=\p{Ll})(?=\p{Lu})/gu, " "))
  const asked = new Set(question.terms.flatMap(({ also, key }) => (also === undefined ? [key] : [key, also])))
  return name.length === 0 ? 0 : name.filter((word) => asked.has(word)).length / name.length
}

/** Whether a question asks for a cell of a row: it has the words of the first cell, and those of the name of a column. */
const isCellAsked = (question: Question, { cells = [], columns = [] }: Unit): boolean => {
  const shareOf = (name = ""): number => {
    const words = foldedWords(name)
    return words.length === 0 ? 0 : words.filter((word) => question.words.has(word)).length / words.length
  }
  if (shareOf(cells[0]) < 1 || cells.length > columns.length) return false
  return columns.some((name, at) => at > 0 && (cells[at] ?? "") !== "" && shareOf(name) === 1)
}

/** Whether a quote begins with an option, as what explains it does. */
const explains = ({ cells, display }: Unit, option: string): boolean => explainsOption(cells?.join(" | ") ?? display, option)

/** Whether a quote begins with what is asked for and says what it is. */
const definition = (question: Question, unit: Unit): number => {
  const option = question.terms.find(({ option }) => option)?.key
  if (option !== undefined) return explains(unit, option) || (unit.position === 0 && explainsOption(unit.heading ?? "", option)) ? 1 : 0
  const subject = question.terms.filter(({ importance }) => importance >= 1)
  if (subject.length === 0) return 0
  // Under a heading that is just what is asked for, the first thing said is what it is: so glossaries and lists of terms are set.
  const headed = unit.kind === "sentence" && unit.position === 0 && unit.heading !== undefined && !/\w\(/.test(unit.heading) &&
      sameness(subject, unit.heading) === 1 ?
    1 :
    0
  const line = glossed(unit)
  const split = line !== undefined ?
    [line, line] :
    /^(?:(?:an?|the|der|die|das|eine?)\s)?(.{1,80}?)(?::\s|\s\(|,?\s(?:which\s|that\s)?(?:is|are|was|were|means?|stands? for|refers? to|denotes?|ist|sind|bedeutet)\s|\s[-–—]\s|是|とは|は)/iu
      .exec(unit.display)
  if (split === null) return headed
  return Math.max(headed, sameness(subject, split[1]!))
}

/** The share of terms that a name has, of its words as many as there are terms; how a name is shortened does not count. */
const sameness = (subject: ReadonlyArray<Term>, name: string): number => {
  const words = new Set(foldedWords(name.replace(/\s\([^)]*\)\s*$/, "")))
  const found = subject.filter(({ cjk, key }) => (cjk ? normalize(name).includes(key) : words.has(key))).length
  return (found / subject.length) * Math.min(1, subject.length / Math.max(1, words.size))
}

/** What a glossary explains, where the unit begins with a line of it. */
const glossed = ({ block, blocks, kind, start }: Unit): string | undefined => {
  const [first, second] = blocks[block]!.lines
  return kind === "sentence" && first !== undefined && second !== undefined && first.start === start && first.text.length <= 60 &&
      (second.indent > first.indent || (first.text.length < 40 && /^\p{Lu}/u.test(second.text))) && !/[.,;:!?]$/.test(first.text)
    ? first.text
    : undefined
}

/** Of the file, without its ending and the zeros that make names sort: what `rule-0008.md` says of itself is "rule 8". */
const nameOf = ({ sourceDisplayName }: Context): string => sourceDisplayName.replace(/\.\w+$/, "").replace(/(?<!\d)0+(?=\d)/g, "")

const titleOf = ({ metadata }: Context): string => metadata?.["title"]?.toString() ?? ""

/** Best of each term over several units. */
const best = (rows: ReadonlyArray<ReadonlyArray<number>>): Array<number> =>
  (rows[0] ?? []).map((_, term) => Math.max(...rows.map((row) => row[term]!)))

/** A term's importance, doubled as it goes from being in every unit to being in none. */
const weightsOf = (question: Question, own: ReadonlyArray<ReadonlyArray<number>>): Array<number> =>
  question.terms.map((term, at) => {
    const frequency = own.filter((matches) => matches[at]! >= 0.8).length
    const rarity = Math.log((own.length + 1) / (frequency + 1)) / Math.log(own.length + 1.001)
    return (1 + rarity) * term.importance
  })

/**
 * How much of a term a text has: 1 for the word, less for a relative of it (a longer or shorter form, a part
 * of a compound) or, when no context has the word, a probable misspelling.
 */
const matcherOf = (question: Question, contexts: ReadonlyArray<Context>, units: ReadonlyArray<Unit>) => {
  const vocabulary = new Set<string>()
  for (const unit of units) for (const word of unit.wordSet) vocabulary.add(word)
  for (const context of contexts) for (const word of foldedWords(context.headings.join("\n"))) vocabulary.add(word)
  const relatives = question.terms.map((
    term
  ) => (term.cjk || term.option ? new Map<string, number>() : relativesOf(term, vocabulary)))
  const phrases = question.terms.map(({ cjk, key }) => cjk ? [] : phrasesOf(key, vocabulary))
  return (at: number, { display, normal, words, wordSet }: Pick<Unit, "display" | "normal" | "words" | "wordSet">): number => {
    const term = question.terms[at]!
    if (term.cjk) return cjkMatch(term.key, normal)
    if (term.option) return hasOption(display, term.key) ? 1 : 0
    if (wordSet.has(term.key)) return term.of === undefined || isBeside(words, term.key, term.of) ? 1 : 0
    let credit = (term.also !== undefined && wordSet.has(term.also)) || term.form?.test(display) ? 0.9 : 0
    for (const [word, value] of relatives[at]!) if (value > credit && wordSet.has(word)) credit = value
    for (const [phrase, value] of phrases[at]!) {
      if (value > credit && wordSet.has(phrase[0]!) && words.some((_, place) => placesOf(phrase, words, place) !== undefined)) {
        credit = value
      }
    }
    return credit
  }
}

/** Whether a number stands within two words of its name: "8 May" has May 8, and so has "May 7 and 8". */
const isBeside = (words: ReadonlyArray<string>, number: string, name: string): boolean =>
  words.some((word, at) => word === number && words.slice(Math.max(0, at - 2), at + 3).includes(name))

/** The term where it is a phrase itself, and phrases that say the same. */
const phrasesOf = (key: string, vocabulary: ReadonlySet<string>): ReadonlyArray<readonly [ReadonlyArray<string>, number]> => [
  ...(key.includes(" ") ? [[key.split(" "), 0.95] as const] : []),
  // RFC 8878 is RFC8878.
  ...(/^[a-z]{2,}\d{2,}$/.test(key) ? [[key.split(/(?<=[a-z])(?=\d)/), 0.95] as const] : []),
  ...(synonymsOf(key)?.phrases ?? []).map((phrase) => [phrase, creditOf(key, vocabulary)] as const)
]

const creditOf = (key: string, vocabulary: ReadonlySet<string>): number => vocabulary.has(key) ? synonym.beside : synonym.instead

const relativesOf = (term: Term, vocabulary: ReadonlySet<string>): Map<string, number> => {
  const found = new Map<string, number>()
  const key = term.key
  for (const word of synonymsOf(key)?.words ?? []) if (vocabulary.has(word)) found.set(word, creditOf(key, vocabulary))
  if (key.includes(" ")) return found
  if (/^\d[\d.]*$/.test(key)) {
    // 3.14 has 3.14.0, and 15.3.2020 has 2020.
    for (const word of vocabulary) {
      if (word === `v${key}`) found.set(word, 1)
      else if (word.startsWith(`${key}.`) || word.startsWith(`v${key}.`)) found.set(word, 0.9)
      else if (key.length === 4 && word.endsWith(`.${key}`)) found.set(word, 1)
    }
    return found
  }
  if (key.length < 4 || /\p{N}/u.test(key)) return found
  const misspelt = !vocabulary.has(key)
  for (const word of vocabulary) {
    if (word === key || word.length < 4) continue
    const longer = Math.max(word.length, key.length)
    const prefix = commonPrefix(word, key)
    if (prefix >= 4 && prefix >= 0.7 * longer) found.set(word, 0.8)
    else if (found.has(word)) continue
    else if (key.length >= 5 && word.length >= 5 && (word.includes(key) || key.includes(word))) found.set(word, 0.6)
    else if (misspelt && word[0] === key[0]) {
      const limit = key.length >= 8 ? 2 : 1
      if (editDistance(word, key, limit) <= limit) found.set(word, 0.8)
    }
  }
  return found
}

/** The word itself, or the share of its character pairs when it is long enough to have several. */
const cjkMatch = (key: string, normal: string): number => {
  if (normal.includes(key)) return 1
  if (key.length < 3) return 0
  let pairs = 0
  for (let at = 0; at + 2 <= key.length; at++) if (normal.includes(key.slice(at, at + 2))) pairs++
  return (0.8 * pairs) / (key.length - 1)
}

/** Share of neighbouring question terms that stand within three words of each other, in order. */
const adjacency = (terms: ReadonlyArray<Term>, unit: Unit, own: ReadonlyArray<number>): number => {
  if (terms.length < 2) return 0
  let close = 0
  for (let at = 0; at + 1 < terms.length; at++) {
    if (own[at] !== 1 || own[at + 1] !== 1) continue
    const [left, right] = [terms[at]!, terms[at + 1]!]
    if (left.cjk || right.cjk) {
      const first = unit.normal.indexOf(left.key)
      const second = unit.normal.indexOf(right.key, first)
      if (second >= 0 && second - first <= left.key.length + 4) close++
    } else if (unit.words.some((word, place) => word === left.key && unit.words.slice(place + 1, place + 4).includes(right.key))) close++
  }
  return close / (terms.length - 1)
}

/** Fragments at a chunk's edges, stubs, code, menus and walls of text answer badly. */
const shapePenalty = (unit: Unit, text: string): number => {
  let penalty = 0
  if (unit.start === 0 && /^\p{Ll}/u.test(unit.display)) penalty += 0.15
  if (unit.kind === "code") return unit.end - unit.start > 1500 ? 0.2 : 0
  if (unit.kind === "sentence") {
    if (unit.end === text.trimEnd().length && !/[.!?。！？"”』」)]$/u.test(unit.display)) penalty += 0.1
    if (unit.display.length < 20 && !/[\u3040-\u9fff]/.test(unit.display)) penalty += 0.1
  }
  if (unit.display.length > 350) penalty += 0.1
  if (/^\S+:?\s+https?:\S+$|^https?:\S+$/.test(unit.display)) penalty += 0.5
  if ((unit.display.match(/[{}[\]<>=_\\|$#`]/g)?.length ?? 0) > 0.03 * unit.display.length) penalty += 0.15
  if (unit.kind === "sentence" && unit.display.length > 120 && !/[.!?:。！？：]["'”’»」』)\]]*$/u.test(unit.display)) penalty += 0.15
  return penalty
}
