import type { AnswerView, Quoted } from "../Api.ts"
import { type Address } from "./Address.ts"
import { useData, withQuery } from "./Client.ts"
import { Headings, Marked, milliseconds as inMilliseconds, pagesOf, Shown, Title } from "./Parts.tsx"
import { Asking } from "./Question.tsx"

/** An answer, with each sentence linked to the passages that support it. */
export const Answer = ({ id, query }: { readonly id: string; readonly query: Address["query"] }) => {
  const [q, where, as] = ["q", "where", "as"].map((name) => query.get(name) ?? undefined)
  const asked = useData<AnswerView>(q === undefined ? undefined : withQuery(`/corpora/${id}/answer`, { q, where, as }))
  const here = `/ui/c/${id}/ask`
  const chosen = Number(query.get("sentence") ?? "-1")
  return (
    <>
      <Title>Answer</Title>
      <Asking here={here} label="Answer" query={query} />
      {q !== undefined && (
        <Shown asked={asked}>
          {(answer) => (
            <Answered
              id={id}
              answer={answer}
              chosen={chosen}
              addressOf={(sentence) => withQuery(here, { q, where, as, sentence })}
            />
          )}
        </Shown>
      )}
    </>
  )
}

const Answered = ({ addressOf, answer, chosen, id }: {
  readonly id: string
  readonly answer: AnswerView
  readonly chosen: number
  readonly addressOf: (sentence: number) => string
}) => {
  const { citations, confidence, milliseconds: took, model, nearest, outcome, supports, text, unverified } = answer
  const lit = new Set(supports[chosen]?.citations ?? [])
  const pieces: Array<preact.ComponentChildren> = []
  let at = 0
  supports.forEach(({ end, start }, index) => {
    if (start < at) return
    pieces.push(
      text.slice(at, start),
      <a class="sentence" href={addressOf(index)} aria-current={index === chosen ? "true" : undefined}>{text.slice(start, end)}</a>
    )
    at = end
  })
  return (
    <div class="beside of-passages">
      <section aria-labelledby="said">
        <h2 id="said">
          {outcome === "answered"
            ? "What the documents say"
            : outcome === "refused"
            ? "The documents do not answer it"
            : "Nothing in it is supported"}
        </h2>
        <p class={`answer ${outcome}`}>{pieces}{text.slice(at)}</p>
        {unverified !== undefined && <p class="quiet">Words of the model that nothing in the corpus supports: {unverified}</p>}
        <p class="quiet">
          {model}, {inMilliseconds(took)}
          {confidence === undefined || outcome === "refused" ? "" : `, right with a probability of ${confidence.toFixed(2)}`}
          {supports.length > 0 && ". Choose a sentence to see what supports it."}
        </p>
      </section>
      <section aria-labelledby="evidence">
        <h2 id="evidence">{outcome === "refused" ? "Nearest passages" : "Supporting passages"}</h2>
        <ol class="hits">
          {(outcome === "refused" ? nearest : citations).map((quoted) => (
            <Evidence key={quoted.index} id={id} quoted={quoted} lit={lit.has(quoted.index)} />
          ))}
        </ol>
      </section>
    </div>
  )
}

const Evidence = ({ id, lit, quoted }: { readonly id: string; readonly quoted: Quoted; readonly lit: boolean }) => {
  const { byteEnd, byteStart, document, headings, index, page, passage, path, quote } = quoted
  return (
    <li class={lit ? "lit" : ""} aria-current={lit ? "true" : undefined}>
      <h3>
        <a href={withQuery(`/ui/c/${id}/d/${document}`, { from: byteStart, to: byteEnd })}>[{index}] {path}</a>
      </h3>
      <Headings headings={headings} pages={pagesOf(page, undefined)} />
      <div class="text">
        {passage === undefined ? <mark>{quote}</mark> : <Marked text={passage.text} spans={[passage.span]} />}
      </div>
    </li>
  )
}
