import { isCjkStopWord, stopWordsOf } from "./StopWords.ts"
import { phraseAt } from "./Synonyms.ts"
import { optionsOf } from "../../text/CommandOptions.ts"
import { foldedWords, isCjk, normalize, rawWords, stem } from "./Words.ts"

/** What kind of answer the question's form asks for. */
export type AnswerType = "number" | "date" | "person" | "other"

/** The question's form, which says what its answer must hold beyond a number, a date or a name. */
export type QuestionKind = AnswerType | "howTo" | "why" | "yesNo" | "definition"

export interface Term {
  /** A stem, several of a phrase joined by spaces ("turn off"), or a normalised CJK word. */
  readonly key: string
  readonly cjk: boolean
  /**
   * How much it matters before its rarity counts: 1.5 for names and numbers (an answer about another name is not an
   * answer), 0.5 for words that only say what sort of text is wanted, 1 otherwise.
   */
  readonly importance: number
  /** Of a short number, the name it belongs to: the 8 of "PEP 8" is not any 8. Longer ones, such as years, tell enough. */
  readonly of?: string
  /** The stem of a word that documents have in its place: who wrote a document is its author. */
  readonly also?: string
  /** What documents write in its place: an address is given as street and number, without the word. */
  readonly form?: RegExp
  /** The key is an option of a command, with its dashes, as it is written: `-x` is not `-X`, and `--no-home` is no home. */
  readonly option: boolean
}

export interface Question {
  readonly text: string
  readonly terms: ReadonlyArray<Term>
  /** Every folded word, stop words too: an answer's number or name must not be one of them. */
  readonly words: ReadonlySet<string>
  /** The folded function words of its language: they answer nothing. */
  readonly grammar: ReadonlySet<string>
  readonly type: AnswerType
  readonly kind: QuestionKind
  /** Of what is counted, of the property asked for or of the deed, where the question's form tells it: lifts, the entrance fee, who designed. */
  readonly asked: ReadonlyArray<number>
  /** Terms that are names by their form, without which a document is about something else: Redis, HMAC. German writes all nouns so. */
  readonly names: ReadonlyArray<number>
  /** The term that says what happened, of a question when it did. */
  readonly happened: number | undefined
}

const generic = new Set(
  `between certain details difference differences guideline guidelines happen happened happens information passiert policies policy procedure
  procedures process regel regeln requirements richtlinie richtlinien rule rules say says something steps support supported supports
  versus vs way ways`.split(/\s+/)
)
/** Of questions after persons. */
const synonyms = new Map(
  [["write", "author"], ["creat", "author"], ["invent", "author"], ["schreib", "autor"]].map((
    [verb = "", noun = ""]
  ): [string, string] => [stem(verb), stem(noun)])
)
/** Of what is given without being named, the form in which it is written. */
const forms = new Map<string, RegExp>(
  ([
    [
      "address adresse anschrift",
      /\b(?:Street|Road|Avenue|Lane|Drive|Square|Boulevard|Highway|Plaza|Terrace|Quay) \d|\b\d+[a-z]?,? (?:\p{Lu}[\p{L}'’.]* ){1,4}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Square|Way|Boulevard|Blvd|Highway|Place|Court|Terrace|Quay)\b|(?:[Ss]tra(?:ß|ss)e|[Ss]tr\.|[Ww]eg|[Pp]latz|[Gg]asse|[Aa]llee|[Dd]amm|[Uu]fer|gatan|vägen) \d|\b(?:[Rr]ue|[Aa]venue|[Bb]oulevard|[Cc]alle|[Aa]venida|[Pp]aseo|Via|Piazza|Viale) (?:\p{L}+ ){1,4},? ?\d|\d+,? (?:rue|avenue|boulevard|place) |\bP\.? ?O\.? Box\b/u
    ],
    ["email mail e-mail", /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/u],
    ["phone telephone fax telefon telefonnummer rufnummer", /(?:\+|\b0)\d[\d ()/-]{5,}\d|\bext(?:ension|\.)? ?\d/iu],
    ["website url link webseite", /\bhttps?:\/\/|\bwww\.\p{L}/u],
    ["option flag switch schalter", /^--?[A-Za-z][\w-]*(?![\w-])/],
    ["price cost fee preis kosten", /[$€£¥] ?\d|\d ?(?:[€£¥$]|(?:eur|usd|gbp|chf|sek|euros?|dollars?|pounds?)\b)/iu]
  ] as const).flatMap(([words, form]) => words.split(" ").map((word): [string, RegExp] => [stem(word), form]))
)

/** Of who sent a mail, the line of its head. */
const senders = new Map(["send", "write"].map((word): [string, RegExp] => [stem(word), /^(?:From|Von|De): /u]))

const cjkWords = new Intl.Segmenter("zh", { granularity: "word" })

/** "What does AMR mean?" asks for AMR: no definition says that it means something. */
const meaning = /^(\W*what (?:do|does|did)\b.*?)\s+(?:mean|stand for)\b/isu

/** UTF-16 units of a question that are read; what is longer is no question. */
const maxQuestion = 2000

export const questionOf = (asked: string): Question => {
  const text = asked.slice(0, maxQuestion)
  const raw = rawWords(text.replace(meaning, "$1"))
  const type = isTask(text) ? "other" : typeOf(text)
  const stop = stopWordsOf(raw.map(({ word }) => word))
  const terms = new Map<string, Term>()
  const stemmed = raw.map(({ word }) => stem(normalize(word)))
  const inPhrase = new Set<number>()
  let name: { readonly key: string; readonly end: number } | undefined
  const options = optionsOf(text)
  raw.forEach(({ word, at }, index) => {
    const normal = normalize(word)
    if (isContracted(text, at, normal)) return
    const option = options.find(({ end, start }) => start < at && at < end)
    if (option !== undefined) {
      terms.set(option.text, { key: option.text, cjk: false, importance: 1.5, option: true })
      return
    }
    if (isCjk(normal)) {
      for (const { segment } of cjkWords.segment(normal)) {
        if (!isCjkStopWord(segment) && !cjkAsking.test(segment)) {
          terms.set(segment, { key: segment, cjk: true, importance: 1, option: false })
        }
      }
      return
    }
    if (inPhrase.has(index)) return
    const phrase = phraseAt(stemmed, index)
    if (phrase !== undefined) { for (const place of phrase.places) inPhrase.add(place) }
    else if (stop.has(normal.replace(/['’]s$/, ""))) return
    const key = phrase?.key ?? stem(normal)
    const capital = index > 0 && /^\p{Lu}/u.test(word) && !/[.?!]\s*$/.test(text.slice(0, at))
    const importance = generic.has(normal) || isMeasure(text, at, normal) ? 0.5 : capital || /\p{N}/u.test(word) ? 1.5 : 1
    const of = /^\p{N}{1,3}$/u.test(word) && name !== undefined && /^[\s-]$/.test(text.slice(name.end, at)) ? { of: name.key } : {}
    const also = type === "person" ? synonyms.get(key) : undefined
    const form = (type === "person" ? senders : forms).get(key) ?? forms.get(key)
    terms.set(key, {
      key,
      cjk: false,
      option: false,
      importance: Math.max(importance, terms.get(key)?.importance ?? 0),
      ...of,
      ...(also === undefined ? {} : { also }),
      ...(form === undefined ? {} : { form })
    })
    name = capital ? { key, end: at + word.length } : undefined
  })
  const wanted = new Set(askedOf(text, raw, stop))
  const all = [...terms.values()]
  const plain = all.flatMap(({ cjk, importance }, term) => (!cjk && importance === 1 ? [term] : []))
  return {
    text,
    terms: all,
    words: new Set(foldedWords(text)),
    grammar: new Set([...stop].map(stem)),
    type,
    kind: kindOf(text, type),
    asked: [...terms.keys()].flatMap((key, term) => (wanted.has(key) ? [term] : [])),
    names: stop.has("und") && !stop.has("and")
      ? []
      : all.flatMap(({ importance, key }, term) => (importance > 1 && !/^\d+$/.test(key) ? [term] : [])),
    happened: ofThePast.test(text) ? plain.at(-1) : undefined
  }
}

/** What is left of a verb behind an apostrophe: "can't" asks for no t. */
const isContracted = (text: string, at: number, normal: string): boolean =>
  /['’]/.test(text[at - 1] ?? "") && /^(?:t|re|ve|ll|d|m)$/.test(normal)

/** Segments that begin with "who" and go on with a function word. */
const cjkAsking = /^[谁誰].$/u

/** "Long" of "how long" says only what sort of answer is wanted: few texts that give a length say so. */
const measures = new Set(
  "long old far often tall high large big fast deep wide heavy lange oft hoch gross alt weit teuer schnell tief breit schwer".split(" ")
)
const isMeasure = (text: string, at: number, normal: string): boolean =>
  measures.has(normal) && /\b(?:how|wie)\s+$/iu.test(text.slice(Math.max(0, at - 8), at))

/** After these stands what is counted, … */
const counting = /\b(?:how (?:many|much)|wie ?viele?|combien d(?:e |['’])|cuánt[oa]s?|quant[oaie]s?|hoeveel)\s*$/iu
/** … the property of something (of several, it is rather what the text says of them), … */
const property = /^\W*(?:what|who)(?:['’]s| is| was) the\s+$|^\W*(?:was|wer|wie) (?:ist|war|lautet|hoch (?:ist|war)) (?:der|die|das)\s+$/iu
const ofSomething = /^\s+(?:of|for|in|per|von|der|des|für|im)\b/iu
/** … or what somebody did. */
const deed = /^\W*(?:who|wer)\s+(?:first |originally )?$/iu
/** These a text counts, tells and has done without naming them. */
const unnamed = new Set(
  `people person menschen personen leute money geld time zeit mal percent percentage prozent prozentsatz share anteil name namen number anzahl zahl amount kind sort default
  value way role title contents contribution nature focus fate purpose goal aim reason cause origin result outcome consequence effect impact
  meaning difference advantage disadvantage benefit drawback problem characteristic zweck ziel grund ursache folge ergebnis wirkung bedeutung
  unterschied vorteil nachteil inhalt make become count`.split(/\s+/).map(stem)
)

/** The keys of what is asked for: "entrance" and "fee". */
const askedOf = (text: string, raw: ReturnType<typeof rawWords>, stop: ReadonlySet<string>): ReadonlyArray<string> => {
  const isTerm = (index: number): boolean => raw[index] !== undefined && !isCjk(raw[index].word) && !stop.has(normalize(raw[index].word))
  const endOf = (index: number): number => raw[index]!.at + raw[index]!.word.length
  for (const [index, { at, word }] of raw.entries()) {
    if (!isTerm(index)) continue
    const before = text.slice(0, at)
    const isDeed = deed.test(before) && !/^\p{Lu}/u.test(word)
    const isProperty = property.test(before)
    if (!isDeed && !isProperty && !counting.test(before)) continue
    let last = index
    const goesOn = (): boolean => isTerm(last + 1) && text.slice(endOf(last), raw[last + 1]!.at).trim() === ""
    if (!isDeed) { while (goesOn()) last++ }
    if (isProperty && !ofSomething.test(text.slice(endOf(last)))) return []
    // "How much faster" counts nothing.
    if (!isDeed && !isProperty && /\bmuch\s*$/i.test(before) && word.endsWith("er")) return []
    const keys = raw.slice(index, last + 1).map(({ word }) => stem(normalize(word)))
    return unnamed.has(keys[0]!) || unnamed.has(keys.at(-1)!) ? [] : keys
  }
  return []
}

const kinds: ReadonlyArray<readonly [QuestionKind, RegExp]> = [
  [
    "howTo",
    /^\W*(?:how (?:do|does|did|can|could|should|would|must|to|is|are|am|may|might)\b|what (?:should|must|do) (?:i|we|you|one)\b|what do i have to|steps? (?:to|for)\b|wie (?!viele?\b|lange\b|oft\b|hoch\b|alt\b|weit\b|gro|teuer\b|schnell\b)|comment\b|cómo\b|como\b|come (?:si|posso|faccio)\b)|怎(?:样|么)|如何|どうやって|どのように|方法/iu
  ],
  [
    "why",
    /\b(?:why|what (?:is|was|are|were) the reasons?|how come|warum|wieso|weshalb|weswegen|wodurch|pourquoi|por qué|perché|por que)\b|为什么|为何|なぜ|どうして/iu
  ],
  [
    "definition",
    /^\W*(?:what(?:'s|’s| is| are| was| were| does| do)\b(?=.{0,60}$)|was (?:ist|sind|bedeutet|heißt)\b|define\b|qu'est-ce\b|qué (?:es|son|significa)\b|che cos)|是什么|什么是|とは/iu
  ],
  [
    "yesNo",
    /^\W*(?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have|had|ist|sind|war|kann|können|darf|dürfen|muss|müssen|gibt|hat|haben|wird|werden|bezahlt|gilt|est-ce)\b|吗[？?]?$|(?:です|ます)か[？?]?$/iu
  ]
]

/** "Convert a schema to JSON" asks how to. These are what a task is named by; few of them begin a name of a thing. */
const task =
  /^\W*(?:(?:i (?:want|need|would like|have) to|trying to|want to|need to|to) )?(?:add|allow|apply|authenticate|avoid|block|bind|build|calculate|cancel|change|clean|clear|clone|compare|compile|compute|configure|connect|convert|copy|create|customi[sz]e|decode|decrypt|define|delete|deploy|detect|disable|display|download|edit|enable|encode|encrypt|escape|exclude|export|extract|fetch|fix|flatten|force|forward|generate|handle|hide|ignore|import|increase|insert|install|integrate|limit|load|make|merge|migrate|modify|mount|move|open|override|parse|prevent|print|publish|reboot|recover|redirect|reduce|register|reload|remove|rename|renew|reset|resize|restart|restore|retry|revert|run|save|send|serve|set(?: ?up)?|show|skip|speed up|split|start|stop|switch|sync|throw|trace|transform|translate|truncate|turn (?:on|off)|undo|uninstall|unlock|unmount|update|upgrade|upload|validate|verify|wait|write) +(?!of\b|by\b|is\b|are\b|was\b)\S/iu

/** "Throw when the exit code is not zero" asks for no time. */
const isTask = (text: string): boolean => task.test(text) && !/[?？]\s*$/u.test(text)

const kindOf = (text: string, type: AnswerType): QuestionKind =>
  type !== "other"
    ? type
    : kinds.find(([, form]) => form.test(text))?.[0] ?? (isTask(text) ? "howTo" : "other")

const cues: ReadonlyArray<readonly [AnswerType, RegExp]> = [
  [
    "date",
    /\b(?:when|what (?:year|date|day|time|month|century)|which (?:year|day|month|date)|wann|welche[mnrs]? (?:jahr(?:e|en|hundert)?|tag(?:e|en)?|monat|datum|uhrzeit)|quand|quelle (?:année|date|heure)|cuándo|qué (?:año|fecha|día)|quando|wanneer)\b|什么时候|何时|哪(?:一)?年|几(?:月|点|号)|いつ|何(?:年|月|曜日|日|時)/iu
  ],
  [
    "number",
    /\b(?:how (?:many|much|long|old|far|often|tall|high|large|big|fast|deep|wide|heavy)|(?:what|which) (?:[\p{L}\p{N}.]+ ){0,3}(?:versions?|port)|what (?:percentage|percent|number|amount|rate|price|cost|size|is the (?:price|cost|number|limit|maximum|minimum|percentage|population))|wie (?:viele?|lange|oft|hoch|gro(?:ß|ss)|alt|weit|teuer|schnell)|wieviele?|wievielfache|combien|cuánt[oa]s?|quant[oaie]s?|hoeveel)\b|多少|几[个位名次天年人种]|多[久长大高远]|いくつ|いくら|何(?:人|個|回|件|%|パーセント|円|歳|本|枚)|どのくらい|どれくらい/iu
  ],
  ["person", /\b(?:who|whom|whose|wer|wem|wen|qui|quién|quiénes|chi|quem)\b|谁|誰|だれ/iu]
]

/** What a question begins to ask with. */
const interrogative =
  /\b(?:how|what|which|why|where|when|who|whom|whose|wie|was|welche[mnrs]?|warum|wieso|weshalb|wo|wann|wer|wem|wen|wodurch|womit|worauf|comment|quel(?:le)?s?|pourquoi|où|cómo|qué|cuál(?:es)?|por qué|dónde|come|quale|perché|dove)\b/iu

/** By the question word that comes first: "Who do I call when …" is not about a time, nor is "What happens when …". */
const typeOf = (text: string): AnswerType => {
  const asked = interrogative.exec(text)?.index ?? Infinity
  let first: { readonly type: AnswerType; readonly at: number } | undefined
  for (const [type, cue] of cues) {
    const at = text.search(cue)
    if (at !== -1 && at <= asked && at < (first?.at ?? Infinity)) first = { type, at }
  }
  return first?.type ?? "other"
}

const spelledNumber =
  /\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?|hundred|thousand|million|billion|half|third|quarter|once|twice|dozen|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|(?:drei|vier|fünf|sech|sieb|acht|neun)zehn|(?:\p{L}+und)?(?:zwan|drei|vier|fünf|sech|sieb|acht|neun)(?:zig|ßig)|hundert|tausend|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|quinze|vingt|trente|cent|mille|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|quince|veinte|treinta|cien|mil)\b|[一二三四五六七八九十百千万億亿两]/iu
const absoluteDate =
  /\bmay \d|\d(?:st|nd|rd|th)? may\b|\b(?:1\d{3}|20\d\d)\b|\b\d{1,2}:\d{2}\b|\b\d{1,2}\.\d{2} ?(?:am|pm|uhr)\b|\b\d{1,2}\/\d{1,2}\b|\b\d{1,2}\. ?\d{1,2}\. ?(?:\d{4}|\d{2})\b|\b(?:am|vom|bis|zum|ab|seit|de[mnr]) \d{1,2}\. ?\d{1,2}\.(?!\d)|\b(?:jan|feb|mar|apr|june?|july?|aug|sep|oct|nov|dec|mon|tues|wednes|thurs|fri|satur|sun)(?:uary|ruary|ch|il|ust|tember|ober|ember|day)?\b|\b(?:januar|februar|märz|april|mai|juni|juli|oktober|dezember|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)s?\b|[\d一二三四五六七八九十百]\s*(?:年|月|日|時|时|点)|\d\s*(?:am|pm|uhr)|世纪|世紀|century|jahrhundert/iu
const relativeDate =
  /\b(?:daily|weekly|monthly|annually|yearly|every|before|after|until|within|immediately|täglich|jährlich|monatlich|sobald|nachdem|bevor)\b|\d+ (?:\p{L}+ )?(?:days?|weeks?|months?|years?|hours?|minutes?|seconds?|tagen?|wochen?|monaten?|stunden?|minuten?)\b|毎|每/iu
/** Of software, when something came or went is told by its version. */
const release =
  /\b(?:(?:version|release) |(?:in|since|until|from|with|before|after|by|as of) (?:[\p{L}.]+ )?v?)\d+\.(?:\d+|x)(?!\d|:)|\bv\d+(?:\.\d+)*\b/iu
const asksVersion = /\bv?\d+\.(?:\d+|x)\b.*\b(?:released?|come out|came out|published|available|veröffentlicht|erschien\w*)\b/iu
/** When something is done as a rule, is told by a condition. */
const condition =
  /\b(?:when(?:ever)?|if|once|unless|as soon as|during|upon|while|in case|provided that|requires?|required|wenn|falls|sobald|während)\b/iu
const asksOften =
  /\b(?:when (?:is|are|do|does|should|can|may|must|would|will)|wann (?:ist|sind|muss|müssen|darf|dürfen|kann|können|soll\p{L}*|wird|werden|gilt|gelten))\b/iu
/** Whether a question is after an option of a command, what it does or how it is used. */
export const asksOption = ({ terms, type }: Question): boolean => type === "other" && terms.some(({ option }) => option)

/** Whether "when" may ask for the circumstances, as "When is a permit needed?" does. */
export const asksCondition = ({ text, type }: Question): boolean => type === "date" && asksOften.test(text)
/** What happened has a date of its own; "after the review" is when something happens. */
const ofThePast = /\b(?:when (?:was|were|did)|wann (?:wurden?|waren?|hat|haben|begann|starb|endete)|quand .{0,20}\ba été)\b/iu

const frequency =
  /\b(?:every|daily|weekly|monthly|quarterly|annual(?:ly)?|yearly|forever|unlimited|infinite(?:ly)?|any number|no (?:limit|more|maximum|minimum)|as (?:many|much|long|often) as|zero|täglich|wöchentlich|monatlich|jährlich)\b|毎|每/iu
/** Names of several words, and those who act in a document that names nobody. */
const fullName = /\p{Lu}[\p{Ll}'’]+(?:[ -](?:\p{Lu}\.|\p{Lu}[\p{Ll}'’]+|van|von|de|der|da|del|bin|al))*[ -]\p{Lu}[\p{Ll}'’]+/gu
const actor =
  /\b(?:anyone|anybody|everyone|everybody|whoever|someone|council|committee|team|board|members?|managers?|developers?|maintainers?|authors?|editors?|owners?|users?|administrators?|delegates?|company|department|office|president|director|jeder|alle|mitglied\p{L}*|leiter\p{L}*)\b/giu

/** Whether a heading is a date, as those of a log of changes are: what stands under it is of that day. */
export const isDated = (heading: string): boolean => heading.length <= 60 && absoluteDate.test(heading)

/** Whether a quote holds an answer of the type that the question did not bring along itself. */
export const holdsType = (question: Question, quote: string): boolean => {
  switch (question.type) {
    case "number":
      return spelledNumber.test(quote) || frequency.test(quote) || bringsNumber(question, quote)
    case "date":
      // Asked when a version came, another version is no date.
      return absoluteDate.test(quote) || (release.test(quote) && !asksVersion.test(question.text)) ||
        (relativeDate.test(quote) && !ofThePast.test(question.text)) ||
        (asksCondition(question) && condition.test(quote))
    case "person": {
      const isNew = (words: string): boolean => foldedWords(words).every((word) => !question.words.has(word))
      if ([...quote.matchAll(fullName)].some(([name]) => isNew(name))) return true
      // A work has authors with names.
      if (question.terms.some(({ also }) => also !== undefined)) return /^\S+:\s/u.test(quote) && !/^\S+:\s+\P{L}/u.test(quote)
      if ([...quote.matchAll(actor)].some(([name]) => isNew(name))) return true
      // A single word with a capital may be anything, unless it stands beside what is asked. So may the first of a sentence.
      const keys = new Set(question.terms.map(({ key }) => key))
      return rawWords(quote).some(({ at, word }, index, words) =>
        isCjk(word) ||
        (/^\p{Lu}\p{Ll}/u.test(word) && !question.words.has(stem(normalize(word))) &&
          !/(?:^|[.!?:;]\s*)["'“(\s]*$/u.test(quote.slice(0, at)) &&
          words.slice(Math.max(0, index - 3), index + 4).some((other) => keys.has(stem(normalize(other.word)))))
      )
    }
    case "other":
      return true
  }
}

const bringsNumber = (question: Question, quote: string): boolean =>
  foldedWords(quote).some((word) => /\p{N}/u.test(word) && !question.words.has(word))
