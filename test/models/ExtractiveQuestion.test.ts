import { assert, describe, it } from "@effect/vitest"
import { blocksOf } from "../../src/models/extractive/Blocks.ts"
import { joined, type Passage } from "../../src/models/extractive/Passage.ts"
import { holdsType } from "../../src/models/extractive/HoldsType.ts"
import { importanceOf, questionOf } from "../../src/models/extractive/Question.ts"
import { stem } from "../../src/models/extractive/Words.ts"

const asked = (text: string): ReadonlyArray<string> => {
  const question = questionOf(text)
  return question.asked.map((term) => question.terms[term]!.key)
}

it("the parts of a German verb are one term", () => {
  const keys = (question: string) => questionOf(question).terms.map(({ key }) => key)
  assert.deepStrictEqual(keys("Wie lege ich einen Ordner an?"), [stem("anlegen"), stem("ordner")])
  assert.deepStrictEqual(keys("Wie lade ich Bilder hoch?"), [stem("hochladen"), stem("bilder")])
})

it("who counts as something is a question for its definition, and names no person", () => {
  const { kind, terms, type } = questionOf("Who counts as a crew lead?")
  assert.deepStrictEqual([kind, type, terms.map(({ key }) => key)], ["definition", "other", ["crew", "lead"]])
  assert.strictEqual(questionOf("Who leads the crew?").type, "person")
})

it("months, days and times of day are dates in five languages", () => {
  const question = questionOf("When is lunch?")
  for (
    const quote of [
      "Lunch is at noon.",
      "Das Büro schließt mittags.",
      "Jusqu'au 31 mars.",
      "Le bureau ferme à midi.",
      "Cierra el miércoles.",
      "Apre il lunedì."
    ]
  ) {
    assert.isTrue(holdsType(question, quote), quote)
  }
  for (const quote of ["Mars is a planet.", "The file is in MIDI."]) assert.isFalse(holdsType(question, quote), quote)
})

it("\"one\" is a number before what it counts and after \"only\", and no number in place of a thing", () => {
  const question = questionOf("How many cranes may a crew use?")
  for (const quote of ["Each crew may use one lift.", "Use only one at a time.", "It has at least one."]) {
    assert.isTrue(holdsType(question, quote), quote)
  }
  for (
    const quote of ["Routers let you open one.", "This one is new.", "Choose the one that fits.", "One can use it.", "Ask one of them."]
  ) {
    assert.isFalse(holdsType(question, quote), quote)
  }
})

describe("the count, property or deed that a question is about", () => {
  it.each<[string, ReadonlyArray<string>]>([
    ["How many eligible voters were there in 2026?", ["eligibl", "vote"]],
    ["What is the entrance fee of the museum?", ["entranc", "fee"]],
    ["What's the salary of a crane driver?", ["salari"]],
    ["Who founded the crane company?", ["found"]],
    ["Wie viele Fenster hat das Museum?", ["fenst"]],
    ["Was ist der Preis für einen Parkplatz?", ["preis"]]
  ])("%s", (question, keys) => assert.deepStrictEqual(asked(question), keys))

  it.each([
    "How many people work in Osaka?",
    "How much faster is the new crane?",
    "What was the outcome of the vote?",
    "What are the consequences of the strike?",
    "What is the crane?",
    "Who is the harbour master?",
    "How do I book the crane?",
    "谁设计了起重机？"
  ])("is not shown by the form of %s", (question) => assert.deepStrictEqual(asked(question), []))

  it("\"long\" of \"how long\" counts less than other terms, and 谁 counts nothing", () => {
    const importance = (text: string) => new Map(questionOf(text).terms.map(({ key, role }) => [key, importanceOf[role]]))
    assert.strictEqual(importance("How long does a release stay in the ring?").get("long"), 0.5)
    assert.strictEqual(importance("Is a long release good?").get("long"), 1)
    assert.strictEqual(importance("Wie hoch ist der Kran?").get("hoch"), 0.5)
    assert.strictEqual(importance("which policy holds for the crane?").get("polici"), 0.5)
    assert.deepStrictEqual([...importance("How does a crane differ from a lift?").keys()], ["crane", "lift"])
    assert.notProperty(Object.fromEntries(importance("谁在1915年收到了标书？")), "谁在")
  })
})

it("stems forms of one word alike, and other words otherwise", () => {
  for (
    const forms of [
      "plan plans",
      "token tokens",
      "code codes coded coder",
      "tag tags tagged tagging",
      "option options",
      "box boxes",
      "fix fixed fixing",
      "key keys",
      "try tries tried trying",
      "move moves moved moving",
      "store stored storing",
      "stop stopped stopping",
      "open opened opening",
      "filter filters filtered filtering",
      "request requests requested",
      "sign signed signing",
      "cancel cancelled canceled cancelling",
      "install installed installing",
      "add added adding",
      "reply replies replied replying",
      "use used using",
      "child children",
      "safe safely"
    ]
  ) {
    assert.lengthOf(new Set(forms.split(" ").map(stem)), 1, forms)
  }
  for (const others of ["car care", "cod code", "rat rate", "plan plane"]) assert.lengthOf(new Set(others.split(" ").map(stem)), 2, others)
})

describe("terms of a question", () => {
  it.each<[string, ReadonlyArray<string>]>([
    ["How do promotions work?", ["promot"]],
    ["How do cranes work together?", ["crane", "work", "togeth"]],
    ["Who runs on-call?", ["run", "on call"]],
    ["What is opt-out?", ["opt out"]],
    ["Is the crane load-tested?", ["crane", "load", "test"]],
    ["Who approves a crane over $5,000?", ["approv", "crane", "5000"]],
    ["Could you tell me who approves cranes?", ["approv", "crane"]],
    ["Explain the crane policy", ["crane", "polici"]],
    ["What is meant by a crane load?", ["crane", "load"]],
    ["What counts as a crane?", ["crane"]],
    ["How long does a lift take?", ["long", "lift"]],
    ["How long does it take to lift a crane?", ["long", "lift", "crane"]],
    ["Wie lange dauert der Versand?", ["lang", "versand"]],
    ["Isn't the crane locked?", ["crane", "lock"]],
    ["Is crane leave paid out?", ["crane", "leav", "pay"]],
    ["How do I leave it out?", ["leav"]]
  ])("%s", (question, keys) => assert.deepStrictEqual(questionOf(question).terms.map(({ key }) => key), keys))

  it.each<[string, ReadonlyArray<string> | undefined]>([
    ["How do I leave it out?", ["leav", "out"]],
    ["Is crane leave paid out?", undefined]
  ])(
    "%s has a word with its particle, or a noun",
    (question, phrasal) => assert.deepStrictEqual(questionOf(question).terms.find(({ key }) => key === "leav")?.phrasal, phrasal)
  )
})

it("what an apostrophe leaves of \"not\" is no term of a question", () => {
  assert.deepStrictEqual(questionOf("Which cranes can't be moved?").terms.map(({ key }) => key), ["crane", "move"])
})

describe("the answer that a question asks for", () => {
  it.each<[string, string]>([
    ["When does the crane rest?", "date"],
    ["Since when has the crane rested?", "date"],
    ["In the harbour, when does the crane rest?", "date"],
    ["Do you know when the crane rests?", "date"],
    ["How early can I lift?", "date"],
    ["Who lifts the crane?", "person"],
    ["For whom is the crane?", "person"],
    ["If it rains, who do I call?", "person"],
    ["How soon is the crane free?", "number"],
    ["What is the maximum load of a crane?", "other"],
    ["what's the max size of a crane", "number"],
    ["What is the price per lift?", "number"],
    ["Is a lift paid when it rains?", "other"],
    ["When it rains, do I need to stop?", "other"],
    ["rope breaks when lifting", "other"],
    ["Can people who rent a crane lift it?", "other"],
    ["What is the size parameter for?", "other"],
    ["Wie früh muss ich den Kran buchen?", "date"],
    ["Was kostet ein Kran?", "number"],
    ["Können Sie mir sagen, wann der Kran ruht?", "date"]
  ])("%s", (question, type) => assert.strictEqual(questionOf(question).type, type))

  it.each<[string, string]>([
    ["Am I allowed to lift?", "yesNo"],
    ["Isn't the crane locked?", "yesNo"],
    ["Can't I lift?", "yesNo"],
    ["The rope broke. What should I do?", "howTo"],
    ["Show me how to lift a crane", "howTo"],
    ["The rope broke when I lifted. Is it insured?", "yesNo"],
    ["Was the crane locked?", "yesNo"],
    ["Was passiert, wenn der Kran klemmt?", "other"],
    ["Was muss ich tun, wenn der Kran klemmt?", "howTo"],
    ["Was versteht man unter Hub?", "definition"],
    ["Bekomme ich einen Kran?", "yesNo"],
    ["Puis-je lever ?", "yesNo"],
    ["¿Puedo levantar?", "yesNo"],
    ["Posso sollevare?", "yesNo"]
  ])("in the form of %s", (question, kind) => assert.strictEqual(questionOf(question).kind, kind))
})

describe("a task without a question word", () => {
  it("is not about a time, though it contains when", () => {
    const { kind, type } = questionOf("stop the crane when the load is not fixed")
    assert.deepStrictEqual([kind, type], ["howTo", "other"])
    assert.strictEqual(questionOf("stop of the crane, when is it?").type, "date")
  })
  it.each(["convert a plan to PDF", "set up a crane", "delete old plans", "I want to move the crane"])(
    "is about how to do it: %s",
    (text) => assert.strictEqual(questionOf(text).kind, "howTo")
  )
  it.each(["crane weight", "update of the plan", "Move the crane?", "plan"])(
    "is not what this is: %s",
    (text) => assert.notStrictEqual(questionOf(text).kind, "howTo")
  )
})

it("names what documents write as a figure or an address, where the question is about one", () => {
  const formOf = (question: string, key: string) => questionOf(question).terms.find((term) => term.key === key)?.form
  assert.isTrue(formOf("Which port does it use?", "port")?.test("http://crane:3000"))
  assert.isTrue(formOf("what's the max size of a crane", "max")?.test("up to 99 MB"))
  assert.isTrue(formOf("What is the address of the server?", stem("address"))?.test("on localhost"))
  assert.isUndefined(formOf("How do I open the port?", "port"))
})

describe("an option of a command", () => {
  it("is one term, to the letter", () => {
    const keys = questionOf("what does lift -x do, and --no-home?").terms.map(({ key }) => key)
    assert.includeMembers(keys, ["lift", "-x", "--no-home"])
    assert.notInclude(keys, "x")
    assert.notInclude(keys, "home")
  })
  it("is not what follows a hyphen within a word", () => {
    assert.deepStrictEqual(questionOf("well-known e-mail").terms.filter(({ option }) => option), [])
  })
})

describe("two passages that are joined", () => {
  it("keep the spaces between the sentences of a paragraph", () => {
    const text = "The crane has a crew. It works by day. Twins add four weeks."
    const at = (said: string): Passage => {
      const start = text.indexOf(said)
      const part = { start, end: start + said.length, text: said, listing: false }
      return { start, end: part.end, parts: [part] }
    }
    const whole = joined(at("The crane has a crew."), at("Twins add four weeks."), text, blocksOf(text))
    assert.deepStrictEqual(whole.parts.map((part) => part.text), [text])
  })
})
