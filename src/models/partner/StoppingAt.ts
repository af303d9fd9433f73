import { Stream } from "effect"
import type { ChatEvent, DocumentCitation } from "../../domain/Chat.ts"
import type { ServiceError } from "../../domain/Errors.ts"

/**
 * The events of a model until the first of some stop sequences, which the end then names. Claude reports which one it met, but other
 * models' services mostly do not even report that they met any. So the sequences are searched for here, and the model is stopped.
 */
export const stoppingAt = (
  events: Stream.Stream<ChatEvent, ServiceError>,
  sequences: ReadonlyArray<string>
): Stream.Stream<ChatEvent, ServiceError> =>
  sequences.length === 0 ? events : Stream.suspend(() => {
    /** The end of the text so far, which may be the start of a sequence. */
    let held = ""
    let end: ChatEvent | undefined

    const pass = (event: ChatEvent): ReadonlyArray<ChatEvent> => {
      if (end !== undefined) return []
      if (event.type !== "text") {
        const rest = held
        held = ""
        return [...textEvents(rest), event]
      }
      const before = held.length
      const text = held + event.text
      const first = firstOf(sequences, text)
      if (first !== undefined) {
        end = { type: "end", candidate: 0, reason: "stop", stopSequence: first.sequence }
        return [...passed(text.slice(0, first.at), before, event.citations), end]
      }
      const kept = beginningAtEnd(sequences, text)
      held = text.slice(text.length - kept)
      return passed(text.slice(0, text.length - kept), before, event.citations)
    }

    return events.pipe(Stream.map(pass), Stream.takeUntil((some) => end !== undefined && some.at(-1) === end), Stream.flattenIterable)
  })

const textEvents = (text: string): ReadonlyArray<ChatEvent> => (text === "" ? [] : [{ type: "text", candidate: 0, text }])

/** Text that holds no sequence. Citations are of what stands behind the first `before` units, which were held back of another statement. */
const passed = (text: string, before: number, citations: ReadonlyArray<DocumentCitation> | undefined): ReadonlyArray<ChatEvent> =>
  citations === undefined
    ? textEvents(text)
    : [...textEvents(text.slice(0, before)), ...textEvents(text.slice(before)).map((event) => ({ ...event, citations }))]

/** The sequence that is complete first; of several, the longest. */
const firstOf = (sequences: ReadonlyArray<string>, text: string) => {
  const [first] = sequences
    .map((sequence) => ({ sequence, at: text.indexOf(sequence) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at + a.sequence.length - b.at - b.sequence.length || a.at - b.at)
  return first
}

/** Length, in UTF-16 units, of the longest end of a text that is the start of a sequence. */
const beginningAtEnd = (sequences: ReadonlyArray<string>, text: string): number =>
  Math.max(...sequences.map((sequence) => {
    let length = Math.min(sequence.length - 1, text.length)
    while (length > 0 && !text.endsWith(sequence.slice(0, length))) length--
    return length
  }))
