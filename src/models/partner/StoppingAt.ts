import { Stream } from "effect"
import type { ChatEvent } from "../../domain/Chat.ts"
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
      const text = held + event.text
      const first = firstOf(sequences, text)
      if (first !== undefined) {
        end = { type: "end", candidate: 0, reason: "stop", stopSequence: first.sequence }
        return [...textEvents(text.slice(0, first.at)), end]
      }
      const kept = beginningAtEnd(sequences, text)
      held = text.slice(text.length - kept)
      return textEvents(text.slice(0, text.length - kept))
    }

    return events.pipe(Stream.map(pass), Stream.takeUntil((passed) => end !== undefined && passed.at(-1) === end), Stream.flattenIterable)
  })

const textEvents = (text: string): ReadonlyArray<ChatEvent> => (text === "" ? [] : [{ type: "text", candidate: 0, text }])

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
