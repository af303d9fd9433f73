/**
 * The words and forms that this module knows of natural languages, by language where they are of one: what a question asks with,
 * what a quote answers with, and how sentences and headings read. Patterns of code are in `Listings.ts`.
 */
import { stem } from "./Words.ts"

/** ISO 639-1 codes. */
type Language = "en" | "de" | "fr" | "es" | "it" | "pt" | "nl" | "zh" | "ja"
type ByLanguage = Partial<Readonly<Record<Language, RegExp>>>

/** Chinese and Japanese write no spaces between words, so a cue of theirs has no word boundary. */
const isSpaced = (language: string): boolean => language !== "zh" && language !== "ja"

const sourcesOf = (cues: ByLanguage, spaced: boolean): string =>
  Object.entries(cues).filter(([language]) => isSpaced(language) === spaced).map(([, { source }]) => source).join("|")

const either = (flags: string, ...sources: ReadonlyArray<string>): RegExp =>
  new RegExp(sources.filter((source) => source !== "").join("|"), flags)

/** Matches these words anywhere in a text, in any case. */
const anywhere = (cues: ByLanguage): RegExp => either("iu", `\\b(?:${sourcesOf(cues, true)})\\b`, sourcesOf(cues, false))

/** Matches these words where a question starts, after any punctuation; those of Chinese and Japanese anywhere. */
const asking = (cues: ByLanguage): RegExp => either("iu", `^\\W*(?:${sourcesOf(cues, true)})`, sourcesOf(cues, false))

/** Matches a text that starts with one of these words. */
const starting = (cues: ByLanguage, after = ""): RegExp =>
  either("iu", `^(?:${sourcesOf(cues, true)})\\b${after}`, `^(?:${sourcesOf(cues, false)})`)

/** Matches any of these forms. */
const anyOf = (flags: string, ...forms: ReadonlyArray<RegExp>): RegExp => either(flags, ...forms.map(({ source }) => source))

const wordList = (...lists: ReadonlyArray<string>): ReadonlyArray<string> => lists.flatMap((list) => list.trim().split(/\s+/))

// How a question asks.

/** A word that a question asks with, wherever it stands. */
export const interrogative = anywhere({
  en: /how|what|which|why|where|when|who|whom|whose/,
  de: /wie|was|welche[mnrs]?|warum|wieso|weshalb|wo|wann|wer|wem|wen|wodurch|womit|worauf/,
  fr: /comment|quel(?:le)?s?|pourquoi|où/,
  es: /cómo|qué|cuál(?:es)?|por qué|dónde/,
  it: /come|quale|perché|dove/
})

/** The question is about a point in time. */
export const asksDate = anywhere({
  en: /when|what (?:year|date|day|time|month|century)|which (?:year|day|month|date)|how (?:late|early)/,
  de: /wann|wie (?:früh|spät)|welche[mnrs]? (?:jahr(?:e|en|hundert)?|tag(?:e|en)?|monat|datum|uhrzeit)/,
  fr: /quand|quelle (?:année|date|heure)/,
  es: /cuándo|qué (?:año|fecha|día)/,
  it: /quando/,
  nl: /wanneer/,
  zh: /什么时候|何时|哪(?:一)?年|几(?:月|点|号)/,
  ja: /いつ|何(?:年|月|曜日|日|時)/
})

/** The question is about a count, a measure or a version. */
export const asksNumber = anywhere({
  en:
    /how (?:many|much|long|old|far|often|tall|high|large|big|fast|deep|wide|heavy|soon|quickly)|(?:what|which) (?:[\p{L}\p{N}.]+ ){0,3}(?:versions?|port)|what (?:percentage|percent|number|amount|rate|price|cost|size)|what(?:['’]s| is| was| are) the (?:[\p{L}-]+ ){0,3}?(?:price|cost|number|limit|max(?:imum)?|min(?:imum)?|percentage|population|size|duration|fee|budget|allowance|quota|capacity)(?= (?:of|for|in|on|per|to|at|an?|the|when|if|is|i|we|you|size|number|length|amount|time)\b|\W*$)/u,
  de: /wie (?:viele?|lange|oft|hoch|gro(?:ß|ss)|alt|weit|teuer|schnell)|wieviele?|wievielfache|was kost(?:et|en)/,
  fr: /combien/,
  es: /cuánt[oa]s?/,
  it: /quant[oaie]s?/,
  nl: /hoeveel/,
  zh: /多少|几[个位名次天年人种]|多[久长大高远]/,
  ja: /いくつ|いくら|何(?:人|個|回|件|%|パーセント|円|歳|本|枚)|どのくらい|どれくらい/
})

/** The question is about a person. */
export const asksPerson = anywhere({
  en: /who(?! (?:counts|qualifies) as\b)|whom|whose/,
  de: /wer|wem|wen/,
  fr: /qui/,
  es: /quién|quiénes/,
  it: /chi/,
  pt: /quem/,
  zh: /谁/,
  ja: /誰|だれ/
})

/** The question is about how something is done. */
export const asksHowTo = asking({
  en:
    /how (?:do|does|did|can|could|should|would|must|to|is|are|am|may|might)\b|what (?:should|must|do) (?:i|we|you|one)\b|what do i have to|what now\b|now what\b|steps? (?:to|for)\b/,
  de:
    /wie (?!viele?\b|lange\b|oft\b|hoch\b|alt\b|weit\b|gro|teuer\b|schnell\b|früh\b|spät\b)|was (?:muss|soll(?:te)?|kann) (?:ich|man|wir)\b/,
  fr: /comment\b/,
  es: /cómo\b|como\b/,
  it: /come (?:si|posso|faccio)\b/,
  zh: /怎(?:样|么)|如何/,
  ja: /どうやって|どのように|方法/
})

/** The question is about a reason. */
export const asksWhy = anywhere({
  en: /why|what (?:is|was|are|were) the reasons?|how come/,
  de: /warum|wieso|weshalb|weswegen|wodurch/,
  fr: /pourquoi/,
  es: /por qué/,
  it: /perché/,
  pt: /por que/,
  zh: /为什么|为何/,
  ja: /なぜ|どうして/
})

/** The question is about what a thing is. */
export const asksDefinition = asking({
  en:
    /what(?:'s|’s| is| are| was| were| does| do)\b(?=.{0,60}$)|(?:what|who) (?:counts|qualifies) as\b|define\b|(?:definition|meaning) of\b/,
  de: /was (?:ist|sind|bedeutet|heißt|versteht man)\b/,
  fr: /qu'est-ce\b/,
  es: /qué (?:es|son|significa)\b/,
  it: /che cos/,
  zh: /是什么|什么是/,
  ja: /とは/
})

/** The question is about whether something is so. */
export const asksYesNo = asking({
  en:
    // "Was" of German asks what.
    /(?:am|is|are|was(?! (?:bedeutet|brauch|darf|fehlt|geh|geschieht|gib|gil|ha[bt]|hei|hilft|ist|kann|kommt|kost|machen?\b|macht\b|muss|passiert|sagt|sind|soll|steht|versteht|war|wird|zählt)\p{L}*\b)|were|do|does|did|can|could|may|must|need|shall|should|will|would|has|have|had)(?:n['’]t)?\b|(?:can|won)['’]t\b|cannot\b/u,
  de:
    /(?:ist|sind|war|bin|kann(?:st)?|können|könnte(?:n|st)?|darf(?:st)?|dürfen|muss|müssen|soll(?:en|te|ten)?|gibt|habe|hat|haben|hast|wird|werden|wurden?|bekomm(?:e|en|t)|brauch(?:e|en|t)|bezahlt|gilt|gelten|gehört|reicht)\b/,
  fr: /est-ce\b|(?:puis-je|peut-on|pouvons-nous|dois-je|doit-on|faut-il|ai-je|y a-t-il|existe-t-il)\b/,
  es: /(?:puedo|puede[ns]?|podemos|debo|debe[ns]?|hay|está[ns]?|tengo|tiene[ns]?|necesito)\b/,
  it: /(?:posso|può|possiamo|devo|deve|dobbiamo|c['’]è|ci sono)\b/,
  zh: /吗[？?]?$/,
  ja: /(?:です|ます)か[？?]?$/
})

/** What a text starts with before a question word that asks. */
export const beforeAsking = /(?:^|[.?!:;]\s)\W*(?:(?:and|but|or|exactly|since|until|till|by|from|to|for|with|of|at|on)\W+){0,2}$/iu

const auxiliary = "(?:am|is|are|was|were|do|does|did|will|would|can|could|shall|should|must|may|might|has|have|had)\\b"
/** A question word before its verb. */
export const verbFirst = new RegExp(`^\\w+ ${auxiliary}`, "iu")
/** "When I leave, …": a clause, and what the question is about comes after it. */
export const clauseFirst = new RegExp(`^\\w+ (?!${auxiliary})[^,?]{3,80}, \\p{L}`, "iu")

/**
 * A task without a question word, "Convert a schema to JSON", asks how to do it. These verbs are what tasks start with; few names of
 * things start with them.
 */
export const namesTask =
  /^\W*(?:(?:i (?:want|need|would like|have) to|trying to|want to|need to|to) )?(?:add|allow|apply|authenticate|avoid|block|bind|build|calculate|cancel|change|clean|clear|clone|compare|compile|compute|configure|connect|convert|copy|create|customi[sz]e|decode|decrypt|define|delete|deploy|detect|disable|display|download|edit|enable|encode|encrypt|escape|exclude|export|extract|fetch|fix|flatten|force|forward|generate|handle|hide|ignore|import|increase|insert|install|integrate|limit|load|make|merge|migrate|modify|mount|move|open|override|parse|prevent|print|publish|reboot|recover|redirect|reduce|register|reload|remove|rename|renew|reset|resize|restart|restore|retry|revert|run|save|send|serve|set(?: ?up)?|show|skip|speed up|split|start|stop|switch|sync|throw|trace|transform|translate|truncate|turn (?:on|off)|undo|uninstall|unlock|unmount|update|upgrade|upload|validate|verify|wait|write) +(?!of\b|by\b|is\b|are\b|was\b)\S/iu

/** "When" of a rule, not of an event: "When is a permit needed?" may be answered by a condition. */
export const asksWhenAsRule = anywhere({
  en: /when (?:is|are|do|does|should|can|may|must|would|will)/,
  de: /wann (?:ist|sind|muss|müssen|darf|dürfen|kann|können|soll\p{L}*|wird|werden|gilt|gelten)/u
})

/** "When" of an event: it has a date of its own, where "after the review" is a rule. */
export const asksWhenOfEvent = anywhere({
  en: /when (?:was|were|did)/,
  de: /wann (?:wurden?|waren?|hat|haben|begann|starb|endete)/,
  fr: /quand .{0,20}\ba été/
})

/** The question is about when a version was released. */
export const asksRelease = /\bv?\d+\.(?:\d+|x)\b.*\b(?:released?|come out|came out|published|available|veröffentlicht|erschien\w*)\b/iu

/**
 * "What does AMR mean?" and "How do promotions work?" are about AMR and promotions: no definition says that it means something. The first
 * group is the question without the verb.
 */
export const asksMeaning =
  /^(\W*(?:what (?:do|does|did)\b.*?(?=\s+(?:mean|stand for)\b)|how (?:do|does|did)\b.*?(?=\s+work\W*$)))\s+(?:mean|stand for|work)\b/isu
/** "How long does shipping take?" and "Wie lange dauert der Versand?" are about shipping: the verb only asks for a length. */
export const lastingVerb =
  /(?<=\bhow (?:long|soon|quickly)\b.*)\b(?:takes?|taken?|last(?:s|ed)?|stay)\b(?=\W*$)|(?<=\bhow long )(?:does|do|did|will) it take\b|(?<=\bwie lange )(?:dauer(?:t|n|te)|gilt|gelten)\b/giu
/** What comes before the thing that a question wants defined: "What is meant by ", "Explain the ". Its words name nothing in the text. */
export const beforeDefined =
  /^\W*(?:what do (?:you|we|they) mean by|what is meant by|what (?:is|are) considered|(?:what|who) (?:counts|qualifies) as|(?:definition|meaning) of|define|(?:explain|describe)(?= (?:the|an?|how|what|why|when)\b)|(?:show|tell|give|explain|teach)(?: to)? (?:me|us)(?: about| an? (?:example|overview|summary) of)?|show how|was versteht man unter|erklär(?:e|en sie)?(?: mir| uns)?)\s+/iu
/** Courtesy before a question: "Hi, do you know when …", "Could you tell me who …". */
export const courtesy =
  /^\W*(?:(?:please|hi|hello|hey|ok|okay|so)\b[\s,.!]*)+(?=\p{L})|^\W*(?:(?:(?:can|could|would|will) you|please)(?: please)? (?:tell|show|explain|say)(?: to)?(?: me| us)?|(?:do|does) (?:you|anyone|anybody|someone) (?:know|remember)|(?:tell|show) (?:me|us)|(?:i|we)(?:'d|’d| would)? (?:want|like|need) to know|i (?:was|am) wondering),? (?=(?:who|whom|whose|when|how|what|which|why|where|whether|if)\b)|^\W*(?:(?:können|könnten) sie|kannst du|könntest du|wissen sie|weißt du)(?: bitte)?(?: mir| uns)?(?: bitte)?(?: sagen| erklären)?, (?=(?:wer|wen|wem|wann|wie|was|welche[mnrs]?|warum|wo|ob)\b)/iu

/** A Chinese segment that consists of "who" and one more character is taken for a function word. */
export const cjkAsking = /^[谁誰].$/u

/** The text before what a question counts. */
export const beforeCounted = /\b(?:how (?:many|much)|wie ?viele?|combien d(?:e |['’])|cuánt[oa]s?|quant[oaie]s?|hoeveel)\s*$/iu
/** The text before the property that a question is about: "what is the ". */
export const beforeProperty =
  /^\W*(?:what|who)(?:['’]s| is| was) the\s+$|^\W*(?:was|wer|wie) (?:ist|war|lautet|hoch (?:ist|war)) (?:der|die|das)\s+$/iu
/** The text after a property, naming the thing it is a property of. Of several, the question is rather about what the text says of them. */
export const afterProperty = /^\s+(?:of|for|in|per|von|der|des|für|im)\b/iu
/** The text before the verb that says what somebody did. */
export const beforeDeed = /^\W*(?:who|wer)\s+(?:first |originally )?$/iu
/** The text before a measure: "how " of "how long". */
export const beforeMeasure = /\b(?:how|wie)\s+$/iu

/** Measures of "how long" and the like: they only say what sort of answer is wanted, and few texts that state a length contain them. */
export const measures: ReadonlySet<string> = new Set(wordList(
  "long old far often tall high large big fast deep wide heavy soon quickly",
  "lange oft hoch gross alt weit teuer schnell tief breit schwer"
))

/** Words of a question that only say what sort of text is wanted. */
export const genericWords: ReadonlySet<string> = new Set(wordList(
  `between certain details difference differences guideline guidelines happen happened happens information policies policy procedure
  procedures process requirements rule rules say says something steps support supported supports versus vs way ways`,
  "passiert regel regeln richtlinie richtlinien"
))

/** Stems of things that a text counts, states or does without naming them: a text with a person's age need not say "age of the person". */
export const unnamed: ReadonlySet<string> = new Set(
  wordList(
    `people person money time percent percentage share name number amount kind sort default value way role title contents contribution
    nature focus fate purpose goal aim reason cause origin result outcome consequence effect impact meaning difference advantage
    disadvantage benefit drawback problem characteristic make become count`,
    `menschen personen leute geld zeit mal prozent prozentsatz anteil namen anzahl zahl zweck ziel grund ursache folge ergebnis wirkung
    bedeutung unterschied vorteil nachteil inhalt`
  ).map(stem)
)

/** By the stem of a verb in a question about a person, the stem of the noun that documents have in its place: who wrote is the author. */
export const agents: ReadonlyMap<string, string> = new Map(
  ([["write", "author"], ["creat", "author"], ["invent", "author"], ["schreib", "autor"]] as const).map(
    ([verb, noun]): [string, string] => [stem(verb), stem(noun)]
  )
)

const streetAddress = anyOf(
  "u",
  /\b(?:Street|Road|Avenue|Lane|Drive|Square|Boulevard|Highway|Plaza|Terrace|Quay) \d/,
  /\b\d+[a-z]?,? (?:\p{Lu}[\p{L}'’.]* ){1,4}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Square|Way|Boulevard|Blvd|Highway|Place|Court|Terrace|Quay)\b/u,
  // German and Swedish, then the Romance languages.
  /(?:[Ss]tra(?:ß|ss)e|[Ss]tr\.|[Ww]eg|[Pp]latz|[Gg]asse|[Aa]llee|[Dd]amm|[Uu]fer|gatan|vägen) \d/,
  /\b(?:[Rr]ue|[Aa]venue|[Bb]oulevard|[Cc]alle|[Aa]venida|[Pp]aseo|Via|Piazza|Viale) (?:\p{L}+ ){1,4},? ?\d/u,
  /\d+,? (?:rue|avenue|boulevard|place) /,
  /\bP\.? ?O\.? Box\b/
)

/** An amount of money, or none. */
export const money =
  /(?:[$€£¥]|\b(?:eur|usd|gbp|chf|sek|nok|dkk)\b:?) ?\d|\d ?(?:[€£¥$]|(?:eur|usd|gbp|chf|sek|nok|dkk|kr|euros?|dollars?|pounds?|cents?|credits?)\b)|\bfree of charge\b|\b(?:for|is|are) free\b(?! to\b)|\bno (?:extra |additional )?(?:cost|charge|fee)\b|\bkostenlos/iu

/** Forms by the stems of the words that they are given for. */
const formsOf = (forms: ReadonlyArray<readonly [words: string, form: RegExp]>): ReadonlyMap<string, RegExp> =>
  new Map(forms.flatMap(([words, form]) => wordList(words).map((word): [string, RegExp] => [stem(word), form])))

/** By the stem of a word, the form in which documents write what it names, without the word: an address is a street and a number. */
export const writtenForms = formsOf([
  ["address adresse anschrift", anyOf("u", streetAddress, /\blocalhost\b|\b\d{1,3}(?:\.\d{1,3}){3}\b/)],
  ["email mail e-mail", /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/u],
  ["phone telephone fax telefon telefonnummer rufnummer", /(?:\+|\b0)\d[\d ()/-]{5,}\d|\bext(?:ension|\.)? ?\d/iu],
  ["website url link webseite", /\bhttps?:\/\/|\bwww\.\p{L}/u],
  ["option flag switch schalter", /^--?[A-Za-z][\w-]*(?![\w-])/],
  ["price cost fee salary wage stipend preis kosten kostet gehalt lohn", money]
])

/** The same where the question is about a number: an allowance is an amount of money, and what is allowed at most is "up to 99 MB". */
export const quantityForms = formsOf([
  ["allowance amount budget betrag", money],
  ["port", /\bport\W{0,3}\d{2,5}\b|:\d{2,5}\b(?!:)/iu],
  ["size", /\d ?(?:[kmgt]i?b|bytes?|(?:mega)?pixels?|px)\b|\d ?[x×] ?\d/iu],
  ["max maximum limit", /\b(?:up to|at most|(?:no|not) more than|exceed|no larger than|no longer than) [^.]{0,12}\d/iu],
  ["min minimum", /\b(?:at least|no(?:t)? (?:less|fewer) than) [^.]{0,12}\d/iu]
])

/** By the stem of a verb in a question about who sent a mail, the line of the mail's head that names the sender. */
export const senderLines: ReadonlyMap<string, RegExp> = new Map(
  ["send", "write"].map((verb): [string, RegExp] => [stem(verb), /^(?:From|Von|De): /u])
)

// What a quote answers with.

export const spelledNumber = anywhere({
  // "One" is a number before what it counts, and after "only"; not in "open one", "this one" or "one can".
  en:
    /(?<=\b(?:only|just|exactly|least|most|than|up to) )one|(?<!\b(?:the|this|that|which|another|new|other|each) )one(?=[ -](?!(?:of|another|can|could|should|must|may|might|would|will|is|was|has|who|that|which|or|to|in|on|for|at|by|with|from|and|but|as|if|when|where)\b)\p{L})|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?|hundred|thousand|million|billion|half|third|quarter|once|twice|dozen/u,
  de:
    /zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|(?:drei|vier|fünf|sech|sieb|acht|neun)zehn|(?:\p{L}+und)?(?:zwan|drei|vier|fünf|sech|sieb|acht|neun)(?:zig|ßig)|hundert|tausend/u,
  fr: /deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|quinze|vingt|trente|cent|mille/,
  es: /dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|quince|veinte|treinta|cien|mil/,
  zh: /[一二三四五六七八九十百千万億亿两]/
})

/** How often, or without a limit: an answer to "how many" that has no figure. */
export const frequency = anywhere({
  en:
    /every|daily|weekly|monthly|quarterly|annual(?:ly)?|yearly|forever|unlimited|infinite(?:ly)?|any number|no (?:limit|more|maximum|minimum)|as (?:many|much|long|often) as|zero/,
  de: /täglich|wöchentlich|monatlich|jährlich/,
  zh: /每/,
  ja: /毎/
})

const duration = new RegExp(
  `(?:\\d|\\b(?:an?|several|ein(?:en?)?)|${spelledNumber.source})[ -](?:\\p{L}+ )?` +
    "(?:milliseconds?|seconds?|minutes?|hours?|days?|weeks?|months?|quarters?|years?|decades?|sekunden?|minuten?|stunden?|tage?n?|wochen?|monaten?|jahren?)\\b",
  "iu"
)
/** How long: a length of time, also as in 15d, or of a text or a way, or without an end. */
export const lasting = anyOf(
  "iu",
  duration,
  /\d ?(?:ms|min|[smhdwy])\b/,
  /\d ?(?:characters?|bytes?|lines?|pages?|words?|met(?:re|er)s?|kilomet(?:re|er)s?|km|miles?|feet|ft|inch(?:es)?|cm|mm|zeichen|seiten|zeilen|metern?)\b/,
  /\b(?:forever|unlimited|infinite(?:ly)?|indefinite(?:ly)?|permanent(?:ly)?|until|unbegrenzt|dauerhaft|bis)\b/
)
/** How soon: a length of time, or at once. */
const promptly = anyOf(
  "iu",
  duration,
  /\b(?:at once|immediate(?:ly)?|right away|straight away|same day|next (?:business |working )?day|as soon as|overnight|instant(?:ly)?)\b/
)
/** How often: an interval. */
const recurring = anyOf("iu", frequency, /\b(?:once|twice|times|per|each|einmal|zweimal|mal|pro|jede[nrsm]?)\b/)

/** By the stem of a measure, the form in which texts state it: how long is six weeks, how often is every Friday. */
export const measuredForms = formsOf([
  ["long far lange weit", lasting],
  ["soon quickly schnell", promptly],
  ["often oft", recurring],
  ["old alt", duration]
])

/** The words that an abbreviation stands for: the Cloud Native Computing Foundation for CNCF. */
export const initialsOf = (word: string): RegExp | undefined =>
  /^\p{Lu}{3,6}$/u.test(word)
    ? new RegExp(`\\b${[...word].map((letter) => `${letter}\\p{L}+`).join("[ -](?:(?:and|for|of|the) )*")}`, "u")
    : undefined

/** A date, a time of day, a year or a century. */
export const absoluteDate = anyOf(
  "iu",
  /\bmay \d|\d(?:st|nd|rd|th)? may\b/,
  /\b(?:1\d{3}|20\d\d)\b/,
  // Not the line and column of a file: "index.js:6:22".
  /(?<!:)\b\d{1,2}:\d{2}\b|\b\d{1,2}\.\d{2} ?(?:am|pm|uhr)\b|\d\s*(?:am|pm|uhr)/,
  /\b\d{1,2}\/\d{1,2}\b|\b\d{1,2}\. ?\d{1,2}\. ?(?:\d{4}|\d{2})\b|\b(?:am|vom|bis|zum|ab|seit|de[mnr]) \d{1,2}\. ?\d{1,2}\.(?!\d)/,
  /\b(?:jan|feb|mar|apr|june?|july?|aug|sep|oct|nov|dec|mon|tues|wednes|thurs|fri|satur|sun)(?:uary|ruary|ch|il|ust|tember|ober|ember|day)?\b/,
  /\b(?:januar|februar|märz|april|mai|juni|juli|oktober|dezember|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)s?\b/,
  /\b(?:\d+(?:er|º|°)?|premier|primero?) (?:de )?(?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)\b/,
  /\b(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)\b/,
  /\b(?:gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|novembre|dicembre)\b/,
  /\b(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)s?\b/,
  /\b(?:lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica)(?![\p{L}\p{N}])/u,
  /(?<!\p{L})à midi\b/u,
  /\b(?:noon|midday|midnight|mittags?|mitternacht|minuit|mediodía|medianoche|mezzogiorno|mezzanotte)\b/,
  /[\d一二三四五六七八九十百]\s*(?:年|月|日|時|时|点)/,
  /century|jahrhundert|世纪|世紀/
)

/** A time that depends on another, or a length of time. */
export const relativeDate = anyOf(
  "iu",
  /\b(?:daily|weekly|monthly|annually|yearly|every|before|after|until|within|immediately)\b/,
  /\b(?:täglich|jährlich|monatlich|sobald|nachdem|bevor)\b/,
  /\d+ (?:\p{L}+ )?(?:days?|weeks?|months?|years?|hours?|minutes?|seconds?|tagen?|wochen?|monaten?|stunden?|minuten?)\b/u,
  /毎|每/
)

/** A version: the time at which something came to a piece of software, or left it. */
export const release =
  /\b(?:(?:version|release) |(?:in|since|until|from|with|before|after|by|as of) (?:[\p{L}.]+ )?v?)\d+\.(?:\d+|x)(?!\d|:)|\bv\d+(?:\.\d+)*\b/iu

/** A condition: it says when something is done as a rule. */
export const condition = anywhere({
  en: /when(?:ever)?|if|once|unless|as soon as|during|upon|while|in case|provided that|requires?|required/,
  de: /wenn|falls|sobald|während/
})

/** A name of several words. Global, for `matchAll`. */
export const fullName = /\p{Lu}[\p{Ll}'’]+(?:[ -](?:\p{Lu}\.|\p{Lu}[\p{Ll}'’]+|van|von|de|der|da|del|bin|al))*[ -]\p{Lu}[\p{Ll}'’]+/gu

/** Those who act in a document that names nobody. Global, for `matchAll`. */
export const actor = anyOf(
  "giu",
  /\b(?:anyone|anybody|everyone|everybody|whoever|someone|council|committee|team|board|members?|managers?|developers?|maintainers?|authors?|editors?|owners?|users?|administrators?|delegates?|company|department|office|president|director|jeder|alle|mitglied\p{L}*|leiter\p{L}*)\b/u
)

/** A sentence that says what to do. */
export const instruction = anyOf(
  "iu",
  /^(?:to |use |set |add |run |call |click |open |enter |type |create |install |choose |select |press |go to |navigate |write |make sure |ensure |tell |ask |put |copy |sign |send |start |add |define |declare |pass |include |provide )/,
  anywhere({
    en: /you (?:can|may|must|should|need)|(?:can|may|must|should) be \w+(?:ed|en|t)\b|must|should|is done by|by (?:\w+ing)|using/,
    de: /muss|müssen|kann|können|bitte|sollte/,
    zh: /必须|可以|请/,
    ja: /してください/
  })
)

/** A sentence that says what is not so. */
export const negation = anyOf("iu", /\b(?:not|never|cannot|no)\b|n['’]t\b/, /\b(?:nicht|nie|kein\w*)\b/)

/** A sentence that gives a reason. */
export const reason = anywhere({
  en: /because|since|so that|due to|therefore|reasons?|why|in order to|as a result|leads? to|causes?|caused|problem|avoid|otherwise/,
  de: /weil|da|denn|deshalb|damit|wegen/,
  fr: /parce que/,
  es: /porque/,
  it: /perché/,
  zh: /因为|由于|所以/,
  ja: /ため|ので|から/
})

/** A sentence that starts with what it defines, which is the first group: "A crane is …", "Crane: …", "Crane – …". */
export const definitionOf =
  /^(?:(?:an?|the|der|die|das|eine?)\s)?(.{1,80}?)(?::\s|\s\(|,?\s(?:which\s|that\s)?(?:is|are|was|were|means?|stands? for|refers? to|denotes?|ist|sind|bedeutet)\s|\s[-–—]\s|是|とは|は)/iu

/** What says outright that it defines. */
export const outright = anyOf(
  "iu",
  /^(?:definition|meaning|bedeutung|définition|definición|definizione|定义|定義)\s*[:：]/,
  /\b(?:is|are|may be|can be) defined as\b|\b(?:stands? for|refers? to|denotes?) |\b(?:is|are) the (?:process|practice|act|ability|method|art) of\b/,
  /\b(?:ist|sind) definiert als\b|\bversteht man\b/
)

/** A quote that answers a question with a word. */
export const polarity = starting({
  en: /yes|no/,
  de: /ja|nein/,
  fr: /oui|non/,
  es: /sí/,
  it: /sì/,
  zh: /是的|不/,
  ja: /はい|いいえ/
}, "(?! one)")

// How sentences and headings read.

/** A sentence that starts with what the sentence before it named, or with a word that answers it. */
export const leaning = starting({
  en:
    /this|that|these|those|it|its|they|their|he|she|such|then|however|but|therefore|thus|so|otherwise|instead|also|in this case|doing so|no|yes/,
  de: /dies|diese[rsmn]?|das|er|sie|es|damit|dann|aber/,
  fr: /cela|ceci/,
  es: /eso|esto/,
  it: /questo/,
  zh: /这|那|它|他|她|因此|其/,
  ja: /これ|それ|その|この/
})

/** A heading under which a text says what it is about. */
export const openingHeading =
  /^(?:[\d.]+\s*)?(?:abstract|summary|overview|introduction|specification|usage|quick ?start|getting started|how to\b|zusammenfassung|überblick|einleitung|résumé|resumen|概要|摘要|简介)/iu

/** The heading of a table of contents. */
export const contentsHeading =
  /^(?:(?:table of )?contents|toc|on this page|in this (?:article|page|section|document|guide)|inhalt(?:sverzeichnis)?|table des matières|sommaire|(?:tabla de )?contenidos?|[íi]ndice|sommario|目[录錄次])$/iu

/** Stems of the words by which a question compares things; they name none of them. */
export const comparing: ReadonlySet<string> = new Set(
  wordList(
    "compare compared comparison differ differs different differentiate distinct distinction distinguish unterscheiden unterscheidet unterschied unterschiede différence différences diferencia diferencias differenza differenze 区别 區別 差别 不同 差异 違い 違う"
  ).map(stem)
)

/** A sentence that says how things differ. */
export const contrast =
  /\b(?:differ(?:s|ed|ent|ently|ence|ences)?|distinct(?:ion)?|unlike|whereas|while|in contrast|as opposed to|compared (?:to|with)|rather than|instead of|on the other hand|in addition to|versus|vs|not to be confused|unterscheide[nt]|unterschied|während|im gegensatz|dagegen|hingegen|contrairement|tandis que|différen\p{L}+|a diferencia|mientras|difieren?|diferencia|a differenza|mentre|invece)\b|不同|区别|區別|而|違い|異なり|一方/iu

/** A heading under which a text says what is not so, or what is beside the subject. */
export const asideHeading =
  /\b(?:reject|alternativ|open (?:issue|question)|histor|footnote|acknowledg|appendi|change ?log|related work|future|deferred|copyright|references?$)/iu

/** A line that ends so is neither a whole sentence nor a heading: it ends in a comma or a function word. */
export const unfinishedLine =
  /(?:,|\b(?:a|an|the|of|and|or|with|by|from|for|to|in|as|that|which|after|before|than|der|die|das|und|oder|von|mit|des|de|la|le|et|y|los|las))$/u

/** A sentence that points at what stands below it. */
export const pointsBelow = /\b(?:this|these|following|below|like so|as follows)\b/iu

/** A sentence that says to run, write or install something, after an introductory clause or none. */
export const saysToRun =
  /^(?:(?:to|then|for|if|when|after|before|next|first|now|finally|alternatively|instead)\b[^.]*?,? )?(?:please |just |simply )?(?:run|use|try|type|enter|execute|call|issue|do|add|write|put|set|install|start)\b/iu

/** A text that ends in an abbreviation, whose point does not end the sentence. */
export const endsInAbbreviation =
  /(?:^|[\s(])(?:\p{Lu}|Mrs?|Ms|Dr|Prof|Rev|Gen|Col|Capt|Lt|Sgt|Gov|Sen|Rep|Hon|Mt|St|Jr|Sr|vs|etc|e\.g|i\.e|cf|No|Nos|Fig|Eq|Sec|Art|approx|ca|al|Inc|Ltd|Co|Corp|z\.B|d\.h|u\.a|bzw|Nr|Abs|Abb|vgl|ggf|usw|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.\s*$/u

/** The text after a German ordinal number, whose point does not end the sentence: "18. Jahrhundert", "7. Januar". */
export const afterOrdinal =
  /^(?:Jahrh|Jahrt|Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Geburts|Präsident|Platz|Weltkrieg|Klasse|Tag|Woche|Monat|Auflage|Band|Kapitel|Absatz|Artikel)/u
