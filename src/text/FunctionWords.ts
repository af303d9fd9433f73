/**
 * Words that carry a question's grammar, not its subject, by ISO 639-1 code: pronouns, articles, auxiliaries and question words, in lower
 * case without accents. Technical terms that happen to be English function words (`while`, `up`, `list`) are left out.
 *
 * There are three sets, because they serve three purposes. `search/analysis/StopWords.ts` holds what the index never stores (Lucene's
 * lists, which change only with a rebuild of the index) and what tells languages apart; these here are the words that a question is not
 * about, most of which the index does store; `models/extractive/StopWords.ts` adds the words that English questions are asked with.
 *
 * Stemming is twofold for the same reason: the index has an exact stemmer for each language, and the extractive model compares a question
 * with a few dozen sentences in any language, where one coarse stemmer finds more.
 */
const lists = {
  en: `a about all also an and any are as at be been being but by can could did do does doing done each ever every for
    from had has have having he her here him his how i if in into is it its itself many me might more most much must
    my no not of on or our s shall she should so some such than that the their them then there these they this those
    to too us very was we were what when where whether which who whom whose why will with would you your`,
  de: `ab aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bitte da dabei dafur damit dann
    das dass davon dazu dem den denn der des die dies diese diesem diesen dieser dieses doch du durch ein eine einem
    einen einer eines er es etwa euch euer fur gab gegen gibt habe haben hat hatte hatten ich ihm ihn ihr ihre ihrem
    ihren ihrer im in ist ja je jede jedem jeden jeder jedes kann konnen konnte man mehr mein meine mich mir mit muss mussen
    nach nicht noch nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie sind so soll sollte uber um
    und uns unser unter viel viele vielen vom von vor wann war waren warum was weil welche welchem welchen welcher
    welches wem wen wenn wer werde werden wessen wie wieso wird wo wofur woher wohin womit worden wurde wurden zu
    zum zur zwischen`,
  fr: `a ai au aux avec c ce ces cette chez ci combien comme comment d dans de des du elle elles en entre est et ete
    etaient etait etre eu fait faut il ils j je l la le les leur leurs lors lui m ma mais mes mon n ne nos notre
    nous on ont ou par pas peut plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses
    si son sont sur t ta te tes ton tous tout toute toutes tu un une vos votre vous y`,
  es: `a al como con cual cuales cuando cuanta cuantas cuanto cuantos cuya cuyo de del donde e el ella ellas ellos en entre
    era eran es esa ese eso esta estan estas este esto estos fue fueron ha hace han hasta hay la las le les lo los
    mas me mi muy no nos o para pero por porque puede que quien quienes se ser si sin sobre son su sus tambien te
    tiene tienen tu un una unas uno unos y ya yo`,
  it: `a ad agli ai al alla alle allo anche c che chi ci come con cosa cui d da dagli dai dal dalla dalle de degli dei del
    della delle dello di dove e ed era erano essere fu furono gli ha hanno i il in io l la le lo ma mi ne negli nei
    nel nella nelle non o per perche piu puo qual quale quali quando quanta quante quanti quanto quella quello
    questa questo qui se si sono su sua sue sugli sui sul sulla suo tra tu un una uno`,
  pt: `a ao aos as com como da das de do dos e ela elas ele eles em entre era eram essa esse esta estao este eu foi foram
    ha isso isto ja mais mas me meu minha na nas nao no nos o onde os ou para pela pelas pelo pelos por porque qual
    quais quando quanta quantas quanto quantos que quem se sem ser seu seus sua suas tem um uma umas uns voce`,
  nl: `aan af al alle als bij dan dat de der deze die dit door een en er ge geen had hadden heb hebben heeft het hij hoe
    hoeveel hun ik in is je kan kunnen maar me meer met mijn moet moeten na naar niet nog nu of om onder ons ook op
    over te ten ter toch tot tussen u uit uw van veel voor waar waarom wanneer waren was wat we welk welke wie wij
    word worden wordt ze zich zij zijn zo zou`
}

/** Function words by ISO 639-1 code; languages without a list are absent. */
export const functionWords: Readonly<Record<string, ReadonlySet<string>>> = Object.fromEntries(
  Object.entries(lists).map(([language, words]) => [language, new Set(words.split(/\s+/))])
)

/** Those of all the languages together. */
export const allFunctionWords: ReadonlySet<string> = new Set(Object.values(functionWords).flatMap((words) => [...words]))
