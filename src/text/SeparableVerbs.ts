/** Verbs of German whose first part stands at the end of a question: "Wie lege ich einen Ordner an?" asks for "anlegen". */

const particles =
  "ab an auf aus bei bereit ein fest frei fort her heraus herein herunter hin hinaus hinein hinzu hoch los mit nach runter um vor weg weiter wieder zu zurück zurueck zusammen"
    .split(" ")

const form = new RegExp(
  `^[^\\p{L}]*(?:und |aber )?(?:(?:wie|wo|wann|warum|wieso|weshalb|womit|wodurch|wohin|woher|wer|was|welche[mnrs]?(?: \\p{L}+)?) )?(\\p{L}{3,})(?= (?:ich|man|wir|du|ihr|sie|er|es|der|die|das|den|dem|ein(?:e[mnrs]?)?|mein(?:e[mnrs]?)?|sich|mich|mir)\\b).* (${
    particles.join("|")
  })\\s*[?.!]*$`,
  "iu"
)

/** The finite verb of a question, and the whole verb as an infinitive; undefined where none is separated. */
export const separatedIn = (question: string): { readonly said: string; readonly verb: string } | undefined => {
  const [, said, particle] = form.exec(question) ?? []
  if (said === undefined || particle === undefined) return undefined
  return { said, verb: `${particle}${said.replace(/(?:es?t|st|[et])$/u, "")}en`.toLowerCase() }
}
