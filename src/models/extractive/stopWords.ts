import { normalize } from "./words.ts"

/** Words that carry a question's grammar, not its subject. Kept in the folded spelling of `normalize`. */
const lists: ReadonlyArray<string> = [
  // English
  `a about all also an and any are as at be been being but by can could describe did do does doing done each else
  ever every explain find for from get gets getting give given go had has have having he her here him his how i if
  in into is it its itself just kind like list many may me might more most much must my name need needed no not of
  on one or our out over please s shall she should so some sort such tell than that the their them then there these
  they this those through to too under up upon us use used using very was we were what when where whether which
  while who whom whose why will with within would you your`,
  // German
  `ab aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bitte da dabei dafur damit dann
  das dass davon dazu dem den denn der des die dies diese diesem diesen dieser dieses doch du durch ein eine einem
  einen einer eines er es etwa euch euer fur gab gegen gibt habe haben hat hatte hatten ich ihm ihn ihr ihre ihrem
  ihren ihrer im in ist ja je jede jedem jeden jeder jedes kann konnen konnte man mehr mein meine mit muss mussen
  nach nicht noch nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie sind so soll sollte uber um und
  uns unser unter viel viele vielen vom von vor wann war waren warum was weil welche welchem welchen welcher welches
  wem wen wenn wer werde werden wessen wie wieso wird wo wofur woher wohin womit worden wurde wurden zu zum zur
  zwischen`,
  // French
  `a ai au aux avec c ce ces cette chez ci combien comme comment d dans de des du elle elles en entre est et ete
  etaient etait etre eu fait faut il ils j je l la le les leur leurs lors lui m ma mais mes mon n ne nos notre nous on
  ont ou par pas peut plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont
  sur t ta te tes ton tous tout toute toutes tu un une vos votre vous y`,
  // Spanish
  `a al como con cual cuales cuando cuanta cuantas cuanto cuantos cuya cuyo de del donde e el ella ellas ellos en
  entre era eran es esa ese eso esta estan estas este esto estos fue fueron ha hace han hasta hay la las le les lo los
  mas me mi muy no nos o para pero por porque puede que quien quienes se ser si sin sobre son su sus tambien te tiene
  tienen tu un una unas uno unos y ya yo`,
  // Italian
  `a ad agli ai al alla alle allo anche c che chi ci come con cosa cui d da dagli dai dal dalla dalle de degli dei del
  della delle dello di dove e ed era erano essere fu furono gli ha hanno i il in io l la le lo ma mi ne negli nei nel
  nella nelle non o per perche piu puo qual quale quali quando quanta quante quanti quanto quella quello questa questo
  qui se si sono su sua sue sugli sui sul sulla suo tra tu un una uno`,
  // Portuguese
  `a ao aos as com como da das de do dos e ela elas ele eles em entre era eram essa esse esta estao este eu foi foram
  ha isso isto ja mais mas me meu minha na nas nao no nos o onde os ou para pela pelas pelo pelos por porque qual quais
  quando quanta quantas quanto quantos que quem se sem ser seu seus sua suas tem um uma umas uns voce`,
  // Dutch
  `aan af al alle als bij dan dat de der deze die dit door een en er ge geen had hadden heb hebben heeft het hij hoe
  hoeveel hun ik in is je kan kunnen maar me meer met mijn moet moeten na naar niet nog nu of om onder ons ook op over
  te ten ter toch tot tussen u uit uw van veel voor waar waarom wanneer waren was wat we welk welke wie wij word worden
  wordt ze zich zij zijn zo zou`
]

const sets = lists.map((words) => new Set(words.split(/\s+/)))

/**
 * The stop words to leave out of a question: those of the language whose grammar it uses most (several on a tie), so
 * that German `die` is dropped and English `die` stays.
 */
export const stopWordsOf = (words: ReadonlyArray<string>): ReadonlySet<string> => {
  const normal = words.map(normalize)
  const hits = sets.map((set) => normal.filter((word) => set.has(word)).length)
  const most = Math.max(...hits)
  const stop = new Set<string>()
  sets.forEach((set, index) => {
    if (hits[index] === most) for (const word of set) stop.add(word)
  })
  return stop
}

const cjkStop = new Set(
  `的 了 是 在 和 与 及 或 有 被 为 于 中 上 下 里 从 到 对 把 将 由 向 以 用 之 其 这 那 哪 谁 什么 多少 几 怎么 怎样 如何 为什么 何时
  何 哪里 哪些 哪个 哪一 哪 一个 一些 一 个 位 名 种 些 吗 呢 吧 啊 着 过 得 地 所 也 都 就 还 会 能 可以 可 要 应该 需要 他 她 它
  他们 她们 我 我们 你 你们 请 请问 时候 什麼 誰 哪裡 幾 個 這 那個 為 與 從 對 會 們 的話
  誰 何 何処 年 月 日 人 時 こと もの ため とき`.split(/\s+/)
)

/** Function words of Chinese and Japanese; whatever is written in hiragana alone counts as one. */
export const isCjkStopWord = (word: string): boolean => cjkStop.has(word) || /^[\p{Script=Hiragana}ー]+$/u.test(word)
