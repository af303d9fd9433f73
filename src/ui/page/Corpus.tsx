import type { CorpusCard, CorpusView, Run } from "../Api.ts"
import { go } from "./Address.ts"
import { useData, withQuery } from "./Client.ts"
import { type Column, Columns, number, Parts, Shown, Title, when } from "./Parts.tsx"

/** The list of corpora, or the only corpus where there is just one. */
export const Corpora = () => {
  const asked = useData<ReadonlyArray<CorpusCard>>("/corpora")
  const [first, second] = asked.data ?? []
  if (first !== undefined && second === undefined) go(`/ui/c/${first.id}`, true)
  return (
    <>
      <Title>Corpora</Title>
      <Shown asked={asked}>
        {(corpora) =>
          corpora.length === 0 ? <p>There are no corpora yet.</p> : (
            <ul class="cards">
              {corpora.map(({ description, files, id, pipeline, title }) => (
                <li key={id}>
                  <a href={`/ui/c/${id}`}>{title}</a>
                  <p class="quiet">
                    {[files === undefined ? undefined : `${number.format(files)} files`, pipeline, description].filter((each) =>
                      each !== undefined
                    )
                      .join(" · ")}
                  </p>
                </li>
              ))}
            </ul>
          )}
      </Shown>
    </>
  )
}

const outcomes = ["unchanged", "added", "changed", "moved", "skipped", "failed", "quarantined", "pending"] as const

/** Milliseconds between refreshes while a run is going on. */
const lookAgain = 2_000

const isUnderWay = ({ runs: [last] }: CorpusView): boolean => last !== undefined && last.totals === undefined

/** A corpus: the numbers of files by state, and the last runs. */
export const Corpus = ({ id }: { readonly id: string }) => {
  const asked = useData<CorpusView>(`/corpora/${id}`, (corpus) => isUnderWay(corpus) ? lookAgain : undefined)
  return (
    <>
      <Title>{asked.data?.title ?? "Corpus"}</Title>
      <Shown asked={asked}>{(corpus) => <Overview corpus={corpus} />}</Shown>
    </>
  )
}

const Overview = ({ corpus }: { readonly corpus: CorpusView }) => {
  const { accounted, description, files, id, pipeline, principal, runs, states, where } = corpus
  const known = Object.entries(states).map(([name, count]) => ({ name, count }))
  const [last] = runs
  /** Paths skipped while listing. They are counted by the run alone; the ledger has only examined files. */
  const leftOut = (last?.totals?.skipped ?? 0) - (states["skipped"] ?? 0)
  return (
    <>
      {description !== undefined && <p>{description}</p>}
      <dl class="facts">
        {pipeline !== undefined && <Fact name="Pipeline" value={pipeline} />}
        {files !== undefined && <Fact name="Files in the corpus" value={number.format(files)} />}
        {principal !== undefined && <Fact name="Limited to what may be read by" value={principal} />}
        {where !== undefined && <Fact name="Limited to files where" value={where} />}
      </dl>
      {accounted && (
        <section aria-labelledby="states">
          <h2 id="states">Files of the sources</h2>
          {isUnderWay(corpus) && (
            <p class="live" role="status">
              A run began {when(runs[0]?.started ?? "")}{" "}
              and has not ended: it goes on, or it was killed and the next one goes on from there.
            </p>
          )}
          <Parts slices={known} />
          <ul class="legend">
            {known.map(({ count, name }) => (
              <li key={name}>
                <span class={`dot of-${name}`} />
                <a href={withQuery(`/ui/c/${id}/files`, { state: name })}>{number.format(count)} {name}</a>
              </li>
            ))}
          </ul>
          {known.length === 0 && <p>The ledger has no files yet.</p>}
          {leftOut > 0 && (
            <p class="quiet">
              The last run skipped {number.format(leftOut)} more {leftOut === 1 ? "path" : "paths"}{" "}
              as it listed the sources, which have no state here: ignored files, links, files over a limit.
            </p>
          )}
        </section>
      )}
      {runs.length > 0 && <Runs id={id} runs={runs} />}
    </>
  )
}

const Fact = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)

const Runs = ({ id, runs }: { readonly id: string; readonly runs: ReadonlyArray<Run> }) => {
  const oldestFirst = runs.toReversed()
  const columns = (slices: (run: Run) => Column["slices"]) => oldestFirst.map((run) => ({ label: when(run.started), slices: slices(run) }))
  /** Outcomes that occurred in at least one run; the others get no column. */
  const had = outcomes.filter((name) => runs.some(({ totals }) => (totals?.[name] ?? 0) > 0))
  const [last] = runs.filter(({ totals }) => totals !== undefined)
  return (
    <section aria-labelledby="runs">
      <h2 id="runs">Last runs</h2>
      <div class="charts">
        <Columns
          title="Outcomes"
          unit="files"
          columns={columns(({ totals }) => outcomes.map((name) => ({ name, count: totals?.[name] ?? 0 })))}
        />
        <Columns
          title="Embedded"
          unit="tokens"
          columns={columns(({ embeddedTokens = 0 }) => [{ name: "tokens", count: embeddedTokens }])}
        />
        <Columns
          title="Time"
          unit="seconds"
          columns={columns(({ seconds = 0 }) => [{ name: "seconds", count: Math.round(seconds * 10) / 10 }])}
        />
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="The last runs as a table">
        <table>
          <thead>
            <tr>
              <th scope="col">began</th>
              <th scope="col">ended</th>
              {had.map((name) => (
                <th key={name} scope="col" class="n">
                  <span class={`dot of-${name}`} />
                  {name}
                </th>
              ))}
              <th scope="col" class="n">deleted</th>
              <th scope="col" class="n">tokens</th>
              <th scope="col" class="n">seconds</th>
            </tr>
          </thead>
          <tbody>
            {runs.map(({ embeddedTokens, ended, seconds, started, totals, why }) => (
              <tr key={started}>
                <th scope="row">{when(started)}</th>
                <td title={why}>{ended ?? "not yet"}</td>
                {had.map((name) => <td key={name} class="n">{totals === undefined ? "" : number.format(totals[name])}</td>)}
                <td class="n">{totals === undefined ? "" : number.format(totals.deleted)}</td>
                <td class="n">{embeddedTokens === undefined ? "" : number.format(embeddedTokens)}</td>
                <td class="n">{seconds?.toFixed(1)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {last !== undefined && <Sources run={last} />}
      {last?.reasons !== undefined && last.reasons.length > 0 && (
        <>
          <h2>Why files were not stored</h2>
          <div class="scroll" tabIndex={0} role="region" aria-label="Reasons as a table">
            <table>
              <thead>
                <tr>
                  <th scope="col">outcome</th>
                  <th scope="col">reason</th>
                  <th scope="col">type</th>
                  <th scope="col" class="n">files</th>
                  <th scope="col">such as</th>
                </tr>
              </thead>
              <tbody>
                {last.reasons.map(({ count, message, outcome, path, reason, type }) => (
                  <tr key={`${outcome} ${reason} ${type}`}>
                    <td>
                      <span class={`dot of-${outcome}`} />
                      {outcome}
                    </td>
                    <td>{reason}</td>
                    <td>{type}</td>
                    <td class="n">{number.format(count)}</td>
                    <td>
                      <a href={withQuery(`/ui/c/${id}/files`, { path })}>{path}</a>
                      {message !== undefined && <span class="quiet">{message}</span>}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  )
}

const Sources = ({ run: { sources = [] } }: { readonly run: Run }) => (
  <>
    <h2>Sources, in the last run</h2>
    <ul class="cards">
      {sources.map(({ complete, counts, error, heldBecause, kind, note, source, warning }) => (
        <li key={source}>
          <strong>{source}</strong>{" "}
          <span class="quiet">{kind}, {number.format(counts.listed)} listed{complete ? "" : ", not to its end"}</span>
          <Parts slices={outcomes.map((name) => ({ name, count: counts[name] }))} />
          {[error, heldBecause, warning, note].filter((each) => each !== undefined).map((each) => <p key={each}>{each}</p>)}
        </li>
      ))}
    </ul>
  </>
)
