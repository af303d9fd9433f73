import type { Explanation, TermWeight } from "../../domain/Retrieval.ts"
import type { CorpusCard, Hit, SearchView, WhyView } from "../Api.ts"
import { type Address, fieldsOf, go } from "./Address.ts"
import { useData, withQuery } from "./Client.ts"
import { Bar, Headings, Marked, milliseconds as inMilliseconds, number, pagesOf, Shown, Title } from "./Parts.tsx"

/** The form of a question, for searches and for answers. */
export const Asking = ({ children, here, label, query }: {
  readonly here: string
  readonly label: string
  readonly query: Address["query"]
  readonly children?: preact.ComponentChildren
}) => (
  <form
    class="row"
    role="search"
    key={query.toString()}
    onSubmit={(event) => {
      event.preventDefault()
      go(withQuery(here, fieldsOf(event.currentTarget)))
    }}
  >
    <label class="wide">
      Question<input type="search" name="q" required value={query.get("q") ?? ""} />
    </label>
    <label>
      Only files where<input name="where" placeholder={"team == \"ops\""} value={query.get("where") ?? ""} />
    </label>
    <label>
      As<input name="as" placeholder="user:ann@acme.com; group:eng" value={query.get("as") ?? ""} />
    </label>
    {children}
    <button>{label}</button>
  </form>
)

/** The passages that a question finds, and why each has its rank. */
export const Question = ({ id, query }: { readonly id: string; readonly query: Address["query"] }) => {
  const of = (name: string): string | undefined => query.get(name) ?? undefined
  const [q, where, as, alpha, path, beside] = [of("q"), of("where"), of("as"), of("alpha"), of("path"), of("beside")]
  const corpora = useData<ReadonlyArray<CorpusCard>>("/corpora").data ?? []
  const asked = useData<SearchView>(q === undefined ? undefined : withQuery(`/corpora/${id}/search`, { q, where, as, alpha }))
  return (
    <>
      <Title>Question</Title>
      <Asking here={`/ui/c/${id}/search`} label="Find" query={query}>
        <label>
          Words against meaning
          <select name="alpha" value={alpha ?? ""}>
            <option value="">as usual</option>
            <option value="0">words only</option>
            <option value="0.25">mostly words</option>
            <option value="0.5">half and half</option>
            <option value="0.75">mostly meaning</option>
            <option value="1">meaning only</option>
          </select>
        </label>
        {corpora.length > 1 && (
          <label>
            Beside
            <select name="beside" value={beside ?? ""}>
              <option value="">nothing</option>
              {corpora.filter((corpus) => corpus.id !== id).map((corpus) => (
                <option key={corpus.id} value={corpus.id}>{nameOf(corpus)}</option>
              ))}
            </select>
          </label>
        )}
      </Asking>
      {q !== undefined && (
        <>
          {beside !== undefined && asked.data !== undefined && (
            <Beside
              query={withQuery("", { q, where, as, alpha })}
              corpora={[id, beside].map((each) => corpora.find((corpus) => corpus.id === each) ?? { id: each, title: each })}
              here={asked.data.hits}
            />
          )}
          <Shown asked={asked}>{(found) => <Found id={id} found={found} />}</Shown>
          <Why id={id} query={query} path={path} asked={{ q, where, as }} />
        </>
      )}
    </>
  )
}

const nameOf = ({ pipeline, title }: CorpusCard): string => pipeline === undefined || pipeline === title ? title : `${title} (${pipeline})`

/** Compares what two corpora, and so two pipelines, find for a question: the documents, and their rank in the other corpus. */
const Beside = ({ corpora, here, query }: {
  readonly corpora: ReadonlyArray<CorpusCard>
  readonly here: ReadonlyArray<Hit>
  readonly query: string
}) => {
  const asked = useData<SearchView>(`/corpora/${corpora[1]?.id}/search${query}`)
  return (
    <>
      <h2>Side by side</h2>
      <Shown asked={asked}>
        {({ hits }) => (
          <div class="beside">
            {[{ corpus: corpora[0], mine: here, theirs: hits }, { corpus: corpora[1], mine: hits, theirs: here }].map((
              { corpus, mine, theirs }
            ) =>
              corpus === undefined ? null : (
                <section key={corpus.id} aria-label={`Found in ${nameOf(corpus)}`}>
                  <h3>{nameOf(corpus)}</h3>
                  <ol class="places">
                    {mine.map(({ document, path, score }, at) => {
                      const there = theirs.findIndex((hit) => hit.path === path) + 1
                      return (
                        <li key={at}>
                          <a href={`/ui/c/${corpus.id}/d/${document}`}>{path}</a>
                          <span class="quiet">{score.toFixed(3)}, {there === 0 ? "not in the other" : `number ${there} in the other`}</span>
                        </li>
                      )
                    })}
                  </ol>
                </section>
              )
            )}
          </div>
        )}
      </Shown>
    </>
  )
}

const Found = ({ found: { hits, milliseconds: took, removed }, id }: { readonly found: SearchView; readonly id: string }) => {
  const terms = hits[0]?.explanation?.terms ?? []
  return (
    <>
      <p class="quiet">
        {hits.length === 0 ? "Nothing was found" : hits.length === 1 ? "1 passage" : `${hits.length} passages`} in {inMilliseconds(took)}
      </p>
      {terms.length > 0 && <Terms terms={terms} />}
      {hits.some(({ explanation }) => explanation !== undefined) && <Scores hits={hits} />}
      <h2 class={hits.length === 0 ? "away" : ""}>Passages</h2>
      <ol class="hits">
        {hits.map((hit, at) => (
          <li key={`${hit.document} ${hit.byteStart ?? at}`} id={`hit-${at + 1}`}>
            <h3>
              <a href={withQuery(`/ui/c/${id}/d/${hit.document}`, { from: hit.byteStart, to: hit.byteEnd })}>{hit.path}</a>
            </h3>
            <Headings headings={hit.headings} pages={pagesOf(hit.firstPage, hit.lastPage)} />
            <div class="text">
              <Marked text={hit.text} spans={hit.marks} />
            </div>
          </li>
        ))}
      </ol>
      {removed.length > 0 && (
        <>
          <h2>Left out</h2>
          <p>These passages would be among the first without the restrictions of the question.</p>
          <ul class="cards">
            {removed.map(({ by, document, headings, path, place }) => (
              <li key={`${document} ${place}`}>
                <a href={`/ui/c/${id}/d/${document}`}>{path}</a>
                <Headings headings={headings} />
                <p class="quiet">
                  would be number {place}: {by === "as"
                    ? "who asks may not read it"
                    : by === "where"
                    ? "its metadata does not pass the filter"
                    : "other passages rank before it"}
                </p>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

const Terms = ({ terms }: { readonly terms: ReadonlyArray<TermWeight> }) => {
  const asked = terms.filter(({ shared }) => shared !== true)
  // Terms of the question are listed already.
  const shared = terms.filter((each) => each.shared === true && !asked.some(({ term }) => term === each.term))
  return (
    <>
      <h2>Search terms</h2>
      <ul class="terms">
        {asked.map(({ corrected, documentFrequency, factor, from, term }) => (
          <li key={term}>
            <strong>{from ?? term}</strong>
            <span class="quiet">
              {from !== undefined && from !== term ? `as ${term}, ` : ""}
              {corrected === true ? "corrected, " : ""}in {number.format(documentFrequency)} {documentFrequency === 1 ? "chunk" : "chunks"}
              {factor === undefined ? "" : `, counts ${factor}`}
            </span>
          </li>
        ))}
      </ul>
      {shared.length > 0 && <p class="quiet">and, weaker, what the best of those share: {shared.map(({ term }) => term).join(", ")}</p>}
    </>
  )
}

/** The explanations of the first hits side by side. Bars in a column have one scale. */
const Scores = ({ hits }: { readonly hits: ReadonlyArray<Hit> }) => {
  const explained = hits.flatMap(({ explanation }) => explanation === undefined ? [] : [explanation])
  const most = (of: (each: Explanation) => number): number => Math.max(1e-9, ...explained.map(of))
  const [words, meaning, fused] = [most(({ sparse }) => sparse), most(({ cosine }) => cosine), most(({ fused }) => fused)]
  return (
    <>
      <h2>Why in this order</h2>
      <table class="scores">
        <thead>
          <tr>
            <th scope="col">passage</th>
            <th scope="col">words, BM25</th>
            <th scope="col">meaning, cosine</th>
            <th scope="col">together</th>
          </tr>
        </thead>
        <tbody>
          {hits.map(({ explanation, path }, at) => (
            <tr key={at}>
              <th scope="row">
                <a href={`#hit-${at + 1}`}>{at + 1}. {path}</a>
              </th>
              {explanation === undefined ? <td colSpan={3}>not explained</td> : (
                <>
                  <td>
                    <Bar kind="words" share={explanation.sparse / words} />
                    {explanation.sparse.toFixed(2)}
                  </td>
                  <td>
                    <Bar kind="meaning" share={explanation.cosine / meaning} />
                    {explanation.cosine.toFixed(3)}
                  </td>
                  <td>
                    <Bar kind="fused" share={explanation.fused / fused} />
                    {explanation.fused.toFixed(3)}
                    <span class="quiet">{aside(explanation)}</span>
                  </td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {explained[0] !== undefined && (
        <p class="quiet">
          together = {(1 - explained[0].alpha).toFixed(2)} × words + {explained[0].alpha.toFixed(2)}{" "}
          × meaning, each from 0 to 1 among what was found
        </p>
      )}
    </>
  )
}

const aside = ({ file, named, ranked, title }: Explanation): string =>
  [
    ...(file === undefined ? [] : [`file ${file.toFixed(2)}`]),
    ...(title === undefined || title === 0 ? [] : [`title ${(title * 100).toFixed(0)}%`]),
    ...(named === true ? ["named by its number"] : []),
    ...(ranked === undefined ? [] : [`ranked ${ranked.score.toFixed(3)}, from place ${ranked.from + 1}`])
  ].map((each) => ` · ${each}`).join("")

const Why = ({ asked: { as, q, where }, id, path, query }: {
  readonly id: string
  readonly query: Address["query"]
  readonly path: string | undefined
  readonly asked: { readonly q: string; readonly where: string | undefined; readonly as: string | undefined }
}) => {
  const asked = useData<WhyView>(path === undefined ? undefined : withQuery(`/corpora/${id}/why`, { q, where, as, path }))
  return (
    <section aria-labelledby="why">
      <h2 id="why">Why is a file not here?</h2>
      <form
        class="row"
        key={path ?? ""}
        onSubmit={(event) => {
          event.preventDefault()
          go(withQuery(`/ui/c/${id}/search`, { ...Object.fromEntries(query), ...fieldsOf(event.currentTarget) }))
        }}
      >
        <label class="wide">
          Path of the file<input name="path" required value={path ?? ""} />
        </label>
        <button>Ask</button>
      </form>
      {path !== undefined && <Shown asked={asked}>{({ why }) => <p class="answer">{path}: {why}.</p>}</Shown>}
    </section>
  )
}
