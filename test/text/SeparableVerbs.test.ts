import { assert, it } from "@effect/vitest"
import { separatedIn } from "../../src/text/SeparableVerbs.ts"

it.each([
  ["Wie lege ich einen Ordner an?", "anlegen"],
  ["wie melde ich mich ab", "abmelden"],
  ["Wie schaltet man die Benachrichtigungen aus?", "ausschalten"],
  ["Welche Dateien lade ich hoch?", "hochladen"],
  ["Richte ich das Konto selbst ein?", "einrichten"],
  ["Wie stellst du den Kran um?", "umstellen"],
  ["Wie kann ich einen Ordner anlegen?", undefined],
  ["Wer ist der Vorgesetzte?", undefined],
  ["Who is the man in?", undefined],
  ["What do I put on?", undefined]
])("%s", (question, verb) => assert.strictEqual(separatedIn(question)?.verb, verb))

it("takes no time for long texts that are no such question", () => {
  const start = performance.now()
  for (const part of ["「と」", "wie lege ich ", "... "]) separatedIn(part.repeat(20_000))
  assert.isBelow(performance.now() - start, 500)
})
