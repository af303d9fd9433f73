/** Questions that compare things: "What is the difference between stored and reflected XSS?", "argon2 vs bcrypt". */

/** Most things that a question compares: more are a list of words. */
const mostThings = 4
/** Characters of a thing's name. */
const maxThingCharacters = 60
/** Characters of a question that compares: matching takes the square of them, and a longer text is no such question. */
const maxQuestionCharacters = 300

/** By form of a question, what it compares, in one group or two, and what stands between the things. */
const forms: ReadonlyArray<readonly [form: RegExp, between: RegExp]> = [
  [
    /\b(?:differences?|distinctions?|distinguish|differentiate) (?:is there )?between (.+)/iu,
    /,\s*(?:and\s+)?|\s+(?:and|or|vs\.?|versus)\s+/iu
  ],
  [/^(?:(?:please|can you) )?(?:compare|comparison of|distinguish) (.+?) (?:and|with|to|from|against|vs\.?|versus) (.+)/iu, /,\s*/u],
  [/\bhow (?:do|does|did|is|are) (.+?) (?:differ|different) from (.+)/iu, /,\s*|\s+and\s+/iu],
  [/\bhow (?:do|are) (.+? and .+?) (?:differ|different)\b/iu, /,\s*(?:and\s+)?|\s+and\s+/iu],
  [/^(.+ (?:vs\.?|versus) .+)/iu, /\s+(?:vs\.?|versus)\s+/iu],
  [/\bunterschied(?:e|et|en)? (?:besteht |gibt es |ist |liegt )?zwischen (.+)/iu, /,\s*|\s+(?:und|oder)\s+/iu],
  [/\bdifférences? (?:y a-t-il |existe-t-il )?entre (.+)/iu, /,\s*|\s+et\s+/iu],
  [/\bdiferencias? (?:hay |existe )?entre (.+)/iu, /,\s*|\s+[ye]\s+/iu],
  [/\bdifferenz[ae] (?:c'è )?(?:tra|fra) (.+)/iu, /,\s*|\s+ed?\s+/iu],
  [/^(.+?[和与與跟同].+?)(?:之间|之間)?(?:的|有什么|有什麼|有何)*(?:区别|區別|差别|差別|差异|差異|不同)/u, /[和与與跟同、]/u],
  [/^(.+?と.+?)の(?:違い|差|相違)/u, /[と、]/u]
]

/** What stands around the name of a thing: how it is asked for, an article, and the word for the difference. */
const around = new RegExp(
  [
    /^\W*(?:what(?:'s|’s| is| are)?(?: the)? (?:differences? (?:of|in) )?|explain |when to use |should i use )(?=[\p{L}\p{N}])/u,
    /^\s*(?:the|an?|der|die|das|dem|den|eine[mnr]?|ein|les?|la|une?|el|los|las|un[ao]?|il|lo|gli|i)\s+(?=\S)/u,
    /^\s*l['’]/u,
    /\s+(?:differences?|comparison)\s*$/u
  ].map(({ source }) => source).join("|"),
  "giu"
)

/** The things that a question compares, as they are written in it; empty where it compares none. */
export const comparedIn = (question: string): ReadonlyArray<string> => {
  if (question.length > maxQuestionCharacters) return []
  const text = question.replace(/[?.!？。\s]+$/u, "")
  for (const [form, between] of forms) {
    const [, ...parts] = form.exec(text) ?? []
    const things = parts.flatMap((part) => part.split(between)).map((thing) => thing.replace(around, "").trim()).filter((thing) =>
      thing !== ""
    )
    if (things.length > 1 && things.length <= mostThings && things.every(({ length }) => length <= maxThingCharacters)) return things
  }
  return []
}
