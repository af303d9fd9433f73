import { functionWords } from "../../text/FunctionWords.ts"
import { normalize } from "./Words.ts"

/** Further words that English questions are asked with. In a query of keywords, they may be the subject. */
const askedWith = `am anybody anyone anything describe else explain find get gets getting give given go got just kind like may need needed
  needs now one out over per please somebody someone sort tell tells through under up upon use used using while within`.split(/\s+/)
/** Words that are stop words only at the start of a question: "List the ports", but "a list of integers". */
const imperatives = new Set(["list", "name"])

const sets = Object.entries(functionWords).map(([language, words]) => language === "en" ? new Set([...words, ...askedWith]) : words)

/**
 * The stop words to leave out of a question: those of the language with the most stop words in it (of several on a tie), so that German
 * `die` is dropped and English `die` stays.
 */
export const stopWordsOf = (words: ReadonlyArray<string>): ReadonlySet<string> => {
  const normal = words.map(normalize)
  const hits = sets.map((set) => normal.filter((word) => set.has(word)).length)
  const most = Math.max(...hits)
  const stop = new Set<string>()
  sets.forEach((set, index) => {
    if (hits[index] === most) { for (const word of set) stop.add(word) }
  })
  if (imperatives.has(normal[0] ?? "")) stop.add(normal[0]!)
  return stop
}

const cjkStop = new Set(
  `的 了 是 在 和 与 及 或 有 被 为 于 中 上 下 里 从 到 对 把 将 由 向 以 用 之 其 这 那 哪 谁 什么 多少 几 怎么 怎样 如何 为什么 何时
  何 哪里 哪些 哪个 哪一 哪 一个 一些 一 个 位 名 种 些 吗 呢 吧 啊 着 过 得 地 所 也 都 就 还 会 能 可以 可 要 应该 需要 他 她 它
  他们 她们 我 我们 你 你们 请 请问 时候 什麼 誰 哪裡 幾 個 這 那個 為 與 從 對 會 們 的話
  誰 何 何処 年 月 日 人 時 こと もの ため とき`.split(/\s+/)
)

/** Whether a word is a function word of Chinese or Japanese; any word in hiragana alone counts as one. */
export const isCjkStopWord = (word: string): boolean => cjkStop.has(word) || /^[\p{Script=Hiragana}ー]+$/u.test(word)
