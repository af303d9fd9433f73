/**
 * Scores how likely a text is in the language that suits it best: letters by their frequency in that language, capitals and signs by their
 * place. A wrong charset gives letters of no one language, capitals inside words, and signs in words.
 */

/** Letters beyond ASCII of each language, the most frequent first. Several languages share an alphabet. */
const latin = [
  "éèàêçôîâùûœëïæ",
  "üäößé",
  "áéíóúñü",
  "ãáéíçóâêúàõôü",
  "àèéìòù",
  "äöå",
  "åæøéöä",
  "łąęóżśćńź",
  "áíéěýčžřšůúňťóďö",
  "áíéčýžšúľťôňäóďĺŕ",
  "áéöóőüúíű",
  "ăâîţşșț",
  "čšžćđ",
  "ıüşğöçâİîû",
  "ðáíöéþóúæý",
  "õäöüšž",
  "āīēšūņļģķčž",
  "ėšąįųžūčęž",
  "éëïèöü",
  "àéèçíóòúïü·"
]

const others = [
  "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
  "оанивітерслкдумпяьзгйбчхцжєюшїфщґ",
  "аоиетнрсвлкдпмзгъубячйжцшщхюфь",
  "аоиејнтрсвукдпмлзгбчћшцхжђњљџф",
  "αοιετσνηυρπκμλςίόάέγήδθωχύώφβξζψϊϋ",
  "יוהלאמרתבשנדכעחקפםןצגטסזךףץ",
  "اليمونتربدعسفهكقحجشةطصأخذىئضإظغءآؤ",
  "านรอกเงมยลวดทสตะปบคหแจพชขใไผโถซธศณฉภุูิีึื่้๊๋ั็์ำ"
]

/** Characters that make up half of a text or more. */
const chinese =
  "的一是不了在人有我他这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对小多然于心学么之都好看起发当没成只如事把还用第样道想作种开美总从无情己面最女但现前些所同日手又行意动方期它头经长儿回位分爱老因很给名法间知世什两次使身者被高已亲其进此话常与活正感见明问力理尔点文几定本公特做外孩相西果走将月十实向声车全信重三机工物气每并别真打太新比才便夫再书部水像眼等体却加电主界门利海受听表德少克代员许先口由死安写性马光白或住难望教命花结乐色更拉东神记处让母父应直字场平报友关放至张认接告入笑内英军候民岁往何度山觉路带万男边风解叫任金快原吃妈变通师立象数四失满战远格士音轻目条呢合同签订双方规定管理产品系统服务" +
  "這們來時為說國對開後過學會麼發當沒還樣種總從無動頭經長兒愛給間兩進話與問點幾實將車機氣沒別聽員許寫難樂東記處讓應場報關張認訊資網電單價請選訂購線區種類書館北圖灣聞"
const japanese =
  "日一国人年大十二本中長出三時行見月分後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木聞食車何南万毎白天母火右読友左休父雨会社者事自的業合場員用方都図館力定市内部法関立地新同発体全当理回主代動実明物通最度化強公持野田戦思家世多正安院心界教文元重近考画海売知道集別使以記在問題性要京所目不和機政対作開意手表約取受言経調現面数無情報気店料"
const korean =
  "이다는의에을를가은하고한도지로서기사자나어아인시대해전수그라일정부리스만게장보여있것들과원으주제상면구동공위적조국우성안던마년관비소신경와까지했였실히무더문오거없회간치내생물학진말때요용방모된될계금방식당업중등니습세데개명연음울산행"

const ideograph = /[\p{Script=Han}々〆]/u
const kana = /[\u3041-\u30fc]/
const hangul = /[\uac00-\ud7a3]/
const scripts = ["Latin", "Cyrillic", "Greek", "Hebrew", "Arabic", "Thai"].map((script) => new RegExp(`\\p{Script=${script}}`, "u"))

/** Natural logarithms of a character's probability. */
const likely = {
  first: Math.log(0.11),
  /** From each letter to the next rarer one. */
  step: Math.log(0.91),
  /** A letter that the language does not have. */
  foreign: Math.log(0.0004),
  common: Math.log(0.004),
  rare: Math.log(0.00006),
  kana: Math.log(0.007),
  /** An ideograph that no language uses daily. */
  obscure: Math.log(0.00001),
  /** Quotes, dashes and similar signs where they belong. */
  sign: Math.log(0.02),
  /** Quotes, dashes and similar signs anywhere else. */
  misplaced: Math.log(0.0006),
  never: Math.log(0.000001)
}

/** Cost of a capital that starts a word, stands among capitals, or stands inside a word. */
const capitals = { begins: Math.log(0.1), among: Math.log(0.5), within: Math.log(0.002) }

const placesOf = (letters: string): ReadonlyMap<string, number> => new Map(Array.from(letters, (letter, place) => [letter, place]))
const alphabets = { latin: latin.map(placesOf), other: others.map(placesOf) }
const [chineseSet, japaneseSet, koreanSet] = [chinese, japanese, korean].map((list) => new Set(list))

const opening = /[«„“‘‚(（「『《〈【\u00bf\u00a1]/
const closing = /[»”’›…)）」』》〉】。，、；：！？‰®™©°]/
const inside = /[’'‑·\u00ad]/
const dashes = /[–—・〇％＋－／￥～〜＝○●■□◆◇★☆※]/
/** Signs that stand before or after numbers, or alone. */
const beside = /[→§•€£¥×±÷½¼¾№]/
const boxes = /[\u2500-\u259f]/
const never = /[\ufffd\u0080-\u009f\ue000-\uf8ff\uff61-\uff9f]|\p{Cn}/u

export interface Likelihood {
  /** Bytes of all characters beyond ASCII. */
  readonly bytes: number
  /** Natural logarithm of the probability of all of them together. */
  readonly sum: number
}

/** Most characters examined: more of them add nothing. */
const mostCharacters = 4_000

/** @param width bytes of a character beyond ASCII in the charset that the text was decoded with */
export const likelihoodOf = (text: string, width: number): Likelihood => {
  let characters = 0
  let base = 0
  const sums = { latin: alphabets.latin.map(() => 0), other: alphabets.other.map(() => 0), chinese: 0, japanese: 0, korean: 0 }
  const all = Array.from(text)
  for (let at = 0; at < all.length && characters < mostCharacters; at++) {
    const character = all[at]!
    if (character <= "\u007f") continue
    characters++
    const [before = " ", after = " "] = [all[at - 1], all[at + 1]]
    const score = letterScores(character)
    if (score === undefined) {
      base += signScore(character, before, after)
      continue
    }
    base += placeScore(character, before, after)
    score.latin.forEach((one, i) => (sums.latin[i]! += one))
    score.other.forEach((one, i) => (sums.other[i]! += one))
    sums.chinese += score.chinese
    sums.japanese += score.japanese
    sums.korean += score.korean
  }
  // The language must share a script with the text: signs alone suit any.
  const best = Math.max(...sums.latin, ...sums.other, sums.chinese, sums.japanese, sums.korean)
  return { bytes: characters * width, sum: best + base }
}

interface Scores {
  readonly latin: ReadonlyArray<number>
  readonly other: ReadonlyArray<number>
  readonly chinese: number
  readonly japanese: number
  readonly korean: number
}

const known = new Map<string, Scores | undefined>()

/** How likely a letter is in each language; `undefined` for a character that is not a letter. */
const letterScores = (character: string): Scores | undefined => {
  if (known.has(character)) return known.get(character)
  const isLetter = !never.test(character) && /[\p{L}\p{M}]/u.test(character)
  const lower = character.toLowerCase()
  const script = scriptOf(character)
  const of = (places: ReadonlyMap<string, number>): number => {
    const place = places.get(lower) ?? places.get(character)
    return place !== undefined ? likely.first + place * likely.step : script < 0 ? likely.obscure : likely.foreign
  }
  const isIdeograph = ideograph.test(character)
  const among = (set: ReadonlySet<string> | undefined): number =>
    set?.has(character) === true ? likely.common : character >= "一" && character <= "龥" && isIdeograph ? likely.rare : likely.obscure
  const scores = isLetter
    ? {
      latin: alphabets.latin.map(of),
      other: alphabets.other.map(of),
      chinese: isIdeograph ? among(chineseSet) : likely.obscure,
      japanese: kana.test(character) ? likely.kana : isIdeograph ? among(japaneseSet) : likely.obscure,
      korean: hangul.test(character) ? koreanSet?.has(character) === true ? likely.common : likely.rare : likely.obscure
    }
    : undefined
  known.set(character, scores)
  return scores
}

const isCapital = (character: string): boolean => character !== character.toLowerCase()
const isSmall = (character: string): boolean => character !== character.toUpperCase()

const scriptOf = (character: string): number => scripts.findIndex((script) => script.test(character))

/** Cost of a letter's neighbours: capitals inside words, words of two scripts. */
const placeScore = (character: string, before: string, after: string): number => {
  const script = scriptOf(character)
  if (script < 0) return 0
  let score = 0
  for (const neighbour of [before, after]) {
    const other = /\p{L}/u.test(neighbour) ? scriptOf(neighbour) : script
    if (other !== script && other >= 0) score += likely.misplaced
  }
  if (isSmall(character) && isCapital(after)) score += capitals.within
  if (!isCapital(character) || !isSmall(character.toLowerCase())) return score
  if (isSmall(before)) return score + capitals.within
  if (isCapital(before)) return score + (isSmall(after) ? capitals.within : capitals.among)
  return score + (isCapital(after) ? capitals.among : capitals.begins)
}

const isWord = (character: string): boolean => /[\p{L}\p{N}]/u.test(character)

const signScore = (character: string, before: string, after: string): number => {
  if (never.test(character)) return likely.never
  const [left, right] = [isWord(before), isWord(after)]
  if (inside.test(character) && left) return likely.sign
  if (opening.test(character)) return left && before <= "\u024f" ? likely.misplaced : likely.sign
  if (closing.test(character)) return right && after <= "\u024f" && left ? likely.misplaced : likely.sign
  if (dashes.test(character)) return likely.sign
  if (beside.test(character)) return /\p{L}/u.test(before) || /\p{L}/u.test(after) ? likely.misplaced : likely.sign
  if (character === "\u00a0") return before === " " || after === " " ? likely.rare : likely.sign
  if (boxes.test(character)) return left || right ? likely.misplaced : likely.sign
  return left || right ? likely.misplaced : likely.rare
}
