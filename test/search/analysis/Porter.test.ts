import { assert, describe, it } from "vitest"
import { porter } from "../../../src/search/analysis/Porter.ts"

/** The examples of the paper, its published departures, and everyday words. */
const examples = `
  caresses>caress ponies>poni ties>ti caress>caress cats>cat feed>feed agreed>agre plastered>plaster bled>bled
  motoring>motor sing>sing conflated>conflat troubled>troubl sized>size hopping>hop tanned>tan falling>fall
  hissing>hiss fizzed>fizz failing>fail filing>file happy>happi sky>sky relational>relat conditional>condit
  rational>ration valenci>valenc hesitanci>hesit digitizer>digit conformabli>conform radicalli>radic
  differentli>differ vileli>vile analogousli>analog vietnamization>vietnam predication>predic operator>oper
  feudalism>feudal decisiveness>decis hopefulness>hope callousness>callous formaliti>formal sensitiviti>sensit
  sensibiliti>sensibl triplicate>triplic formative>form formalize>formal electriciti>electr electrical>electr
  hopeful>hope goodness>good revival>reviv allowance>allow inference>infer airliner>airlin gyroscopic>gyroscop
  adjustable>adjust defensible>defens irritant>irrit replacement>replac adjustment>adjust dependent>depend
  adoption>adopt homologou>homolog communism>commun activate>activ angulariti>angular homologous>homolog
  effective>effect bowdlerize>bowdler probate>probat rate>rate cease>ceas controll>control roll>roll
  connect>connect connected>connect connecting>connect connection>connect connections>connect generalizations>gener
  oscillators>oscil apology>apolog assembly>assembl possibly>possibl archaeology>archaeolog knives>knive dying>dy
  lying>ly news>new innings>in skies>ski gently>gentli singly>singli early>earli only>onli being>be bed>bed
  thing>thing string>string kings>king sang>sang is>is be>be at>at yes>ye toy>toi enjoy>enjoi enjoyment>enjoy
  employee>employe employees>employe universe>univers university>univers universal>univers organization>organ
  organize>organ organs>organ policy>polici police>polic general>gener generate>gener generous>gener
  international>intern matrices>matric matrix>matrix multiply>multipli multiplication>multipl multiplied>multipli
  running>run runner>runner runs>run ran>ran easily>easili fairly>fairli rapidly>rapidli quickly>quickli cries>cri
  cried>cri crying>cry created>creat creating>creat creation>creation creative>creativ creator>creator dogs>dog
  boxes>box classes>class horses>hors churches>church houses>hous studies>studi studied>studi studying>studi
  flies>fli flying>fly abilities>abil ability>abil able>abl ably>abli nationally>nation nationality>nation
  nationalize>nation weakness>weak happiness>happi darkness>dark sadness>sad fulfil>fulfil fulfilled>fulfil
  fulfilling>fulfil beginning>begin beginner>beginn controlled>control controlling>control preferred>prefer
  preferring>prefer occurrence>occurr occurred>occur argument>argument arguments>argument argue>argu argued>argu
  arguing>argu hoping>hope hope>hope hoped>hope plotted>plot tipping>tip tipped>tip writing>write written>written
  writes>write played>plai plays>plai player>player retrieval>retriev retrieve>retriev retrieved>retriev
  retrieving>retriev indices>indic index>index indexed>index indexing>index indexes>index queries>queri query>queri
  probability>probabl probabilities>probabl similarity>similar similarities>similar statistical>statist
  statistics>statist mathematics>mathemat mathematical>mathemat physics>physic physical>physic electricity>electr
  sensational>sensat sensitivity>sensit adjustments>adjust necessary>necessari necessarily>necessarili
`

describe("porter", () => {
  it("gives the stems of the reference implementation", () => {
    const pairs = examples.trim().split(/\s+/).map((pair) => pair.split(">"))
    assert.deepStrictEqual(pairs.map(([word = ""]) => porter(word)), pairs.map(([, stem]) => stem))
  })

  it("leaves what is no English word alone", () => {
    for (const word of ["", "a", "is", "3.14", "don't", "café", "foo_bars", "имена"]) assert.strictEqual(porter(word), word)
  })
})
