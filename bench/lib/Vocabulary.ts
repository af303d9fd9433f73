import { Random } from "./Random.ts"

/** Function words, most frequent first, as in English prose: the head of the Zipf curve. */
const functionWords = (
  "the of and to in a is that for it as with be on by this are or from an at not have which will can if you has when " +
  "all each more than must only one other their its before after into between no any where may then also two so our " +
  "but they we these should some most first new such over while because same both until without during under every"
).split(" ")

const nouns = (
  "account address agent alert archive asset audit backup badge balance batch bench board bolt branch bridge budget " +
  "buffer build cable cache calendar camera card cargo case channel charge claim client clock cluster column contract " +
  "controller copper corridor cost crane customer cycle database deadline delivery depot design desk device dispatch " +
  "district document door draft driver edge engine entry error event factory failure fan farm fence field filter fleet " +
  "flow forecast frame freight fuel garden gate gauge glass graph grid harbor heater hinge host image index invoice " +
  "island item job journal junction kernel key label ladder lamp lane lease ledger lens letter lever license light " +
  "limit link load lock logger loop machine magnet manual map margin market mast memory meter mirror module monitor " +
  "motor needle network node notice number nurse object office operator order outlet owner package packet paint panel " +
  "parcel partner patch patient payment pedal permit pipe planet plant plate platform pocket policy port power press " +
  "price printer probe process product project pump quarter query queue quota radio rail range rate reactor reading " +
  "receipt record region register relay release rental repair report request reserve resource response review ring " +
  "river rocket roof room rotor route router rule sample scale scanner schedule school screen seal season sensor server " +
  "service session shelf shift ship signal silo site sketch socket source spindle spool staff stage station steel " +
  "storage storm stream street student summary supplier surface switch system table tank target tariff task team " +
  "tenant ticket timer token tool tower track trade trailer train transfer trench tunnel turbine unit valve vault " +
  "vehicle vendor vessel visitor voltage wagon wall warehouse warranty water wharf wheel window wire worker yard zone"
).split(" ")

const verbs = (
  "adapt adjust allow approve arrange assemble assign attach balance book calibrate carry check clean collect compare " +
  "complete confirm connect convert cover cool count deliver detect direct drain enter estimate examine expand explain " +
  "export extend fasten finish follow forward grant group handle heat import inspect install invite isolate launch " +
  "learn listen measure mix mount move obtain offer open order paint park pass plan polish post prepare print prevent " +
  "protect publish pull push raise reach reject remind remove render replace reset restart restore return scan select " +
  "separate settle sort start stop support test tighten track train transport turn update vent visit wait warm wash weld"
).split(" ")

const adjectives = (
  "annual blue broad calm central clear cold common cool critical daily damp dark deep direct dry early empty equal " +
  "exact final firm flat fresh full general gentle green heavy hidden high hollow idle inner joint large late lean level " +
  "local long loose low main major manual minor modern monthly narrow native normal outer plain prior proper public " +
  "quick quiet rapid rare raw red regular remote rough round secure short silent simple slow small smooth soft solid " +
  "spare stable steep strict strong sudden tall thick thin tight upper urgent valid vivid warm weekly white wide yearly"
).split(" ")

const forms = (stem: string, endings: ReadonlyArray<string>): Array<string> => {
  const silent = stem.endsWith("e") ? stem.slice(0, -1) : stem
  return endings.map((ending) => (/^[aei]/.test(ending) ? silent : stem) + ending)
}

const onsets = "b br d dr f fl g gr h j k kl l m n p r s st t tr v w".split(" ")
const vowels = "a e i o u ai ea ou".split(" ")
const codas = " l n r s t ck ld nd rn".split(" ")

/** A made-up proper name of two or three syllables. */
const properName = (random: Random): string => {
  const syllables = Array.from({ length: random.between(2, 3) }, () => random.pick(onsets) + random.pick(vowels))
  const name = syllables.join("") + random.pick(codas)
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/**
 * About 16,000 words in an order that depends only on the seed: English words, as tokenizers and stemmers expect, then made-up
 * names as the long tail of real text. They are sampled by Zipf's law: the word of rank r in proportion to (r + 2.7) ^ -1.1.
 */
export class Vocabulary {
  /** Content words, any of which may be a page's topic. */
  readonly content: ReadonlyArray<string>
  readonly #words: ReadonlyArray<string>
  readonly #cumulative: Float64Array

  constructor(seed: number) {
    const random = new Random(seed)
    const content = new Set([
      ...nouns.flatMap((noun) => forms(noun, ["", "s", "less"])),
      ...verbs.flatMap((verb) => [...forms(verb, ["", "s", "ed", "ing", "er", "able"]), `re${verb}`]),
      ...adjectives.flatMap((adjective) => forms(adjective, ["", "ly", "ness"])),
      ...adjectives.flatMap((adjective) => random.sample(nouns, 3).map((noun) => `${adjective}-${noun}`))
    ])
    this.content = random.sample([...content], content.size)
    const names = new Set(Array.from({ length: 14_000 }, () => properName(random)))
    this.#words = [...functionWords, ...this.content, ...names]
    this.#cumulative = new Float64Array(this.#words.length)
    let total = 0
    for (let rank = 0; rank < this.#words.length; rank++) {
      total += (rank + 2.7) ** -1.1
      this.#cumulative[rank] = total
    }
  }

  /** A random word, by its frequency. */
  word(random: Random): string {
    const wanted = random.next() * this.#cumulative.at(-1)!
    let low = 0
    let high = this.#cumulative.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#cumulative[middle]! < wanted) low = middle + 1
      else high = middle
    }
    return this.#words[low]!
  }
}
