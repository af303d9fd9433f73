/** Words and phrases that stand for each other: documents have one of a group where questions have another. */
import type { Synonyms } from "../../domain/Synonyms.ts"
import { english } from "./thesaurus/English.ts"
import { french } from "./thesaurus/French.ts"
import { german } from "./thesaurus/German.ts"
import { italian } from "./thesaurus/Italian.ts"
import { spanish } from "./thesaurus/Spanish.ts"
import { normalize, stem } from "./Words.ts"

/** What else of the same groups there is for a word or phrase. */
export interface Others {
  /** Stems of single words. */
  readonly words: ReadonlyArray<string>
  /** Phrases, each a list of stems that stand side by side. */
  readonly phrases: ReadonlyArray<ReadonlyArray<string>>
}

type Group = ReadonlyArray<string>

/**
 * Groups whose members stand for each other; a member may be in several groups. Keys are stems, those of a phrase joined by spaces.
 */
export class Thesaurus {
  /** The groups of each key, as keys. */
  readonly #groups = new Map<string, Array<Group>>()
  /** Phrases by their first stem. */
  readonly #phrases = new Map<string, Array<ReadonlyArray<string>>>()

  constructor(groups: ReadonlyArray<ReadonlyArray<string>>) {
    for (const members of groups) {
      const group: Array<string> = []
      for (const member of members) {
        const stems = normalize(member).trim().split(/[\s-]+/).map(stem)
        const key = stems.join(" ")
        group.push(key)
        if (stems.length > 1 && !this.#groups.has(key)) append(this.#phrases, stems[0]!, stems)
        append(this.#groups, key, group)
      }
    }
  }

  /** What stands for a key. */
  othersOf(key: string): Others {
    const others = (this.#groups.get(key) ?? []).flat().filter((other) => other !== key)
    return {
      words: others.filter((other) => !other.includes(" ")),
      phrases: others.filter((other) => other.includes(" ")).map((phrase) => phrase.split(" "))
    }
  }

  /**
   * The phrases of several stems that start at an index of `words`, each with its places there. A word may stand between two of a phrase:
   * "turn it off" is "turn off".
   */
  phrasesAt(words: ReadonlyArray<string>, at: number): ReadonlyArray<PhraseAt> {
    return (this.#phrases.get(words[at]!) ?? []).flatMap((phrase) => {
      const places = placesOf(phrase, words, at)
      return places === undefined ? [] : [{ key: phrase.join(" "), places }]
    })
  }
}

const append = <A>(lists: Map<string, Array<A>>, key: string, value: A): void => {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

export interface PhraseAt {
  readonly key: string
  readonly places: ReadonlyArray<number>
}

let known: Thesaurus | undefined

/** The thesaurus that every question is read with, made for the first: general words of manuals, guides and handbooks. */
export const general = (): Thesaurus =>
  known ??= new Thesaurus(
    [english, german, french, spanish, italian].flatMap((groups) => groups.trim().split("\n").map((line) => line.split(",")))
  )

const made = new WeakMap<Synonyms, Thesaurus>()

/** The thesaurus of a pipeline's own synonyms, made once. */
export const thesaurusOf = (synonyms: Synonyms): Thesaurus => {
  let thesaurus = made.get(synonyms)
  if (thesaurus === undefined) made.set(synonyms, thesaurus = new Thesaurus(synonyms))
  return thesaurus
}

/** The indexes of a phrase's stems in `words`: the first is `at`, and each is at most two after the one before. Undefined where absent. */
export const placesOf = (phrase: ReadonlyArray<string>, words: ReadonlyArray<string>, at: number): ReadonlyArray<number> | undefined => {
  if (words[at] !== phrase[0]) return undefined
  const places = [at]
  for (const part of phrase.slice(1)) {
    const last = places.at(-1)!
    const next = words[last + 1] === part ? last + 1 : words[last + 2] === part ? last + 2 : undefined
    if (next === undefined) return undefined
    places.push(next)
  }
  return places
}
