import type { EvaluationCard, EvaluationView } from "../Api.ts"
import { useData } from "./Client.ts"
import { milliseconds, number, Parts, Shown, Title, when } from "./Parts.tsx"

const tally = ({ failed, passed }: Pick<EvaluationCard, "failed" | "passed">) => [
  { name: "done", count: passed },
  { name: "failed", count: failed }
]

/** The saved results of the pipeline's tests. */
export const Evaluations = ({ id }: { readonly id: string }) => {
  const asked = useData<ReadonlyArray<EvaluationCard>>(`/corpora/${id}/evaluations`)
  return (
    <>
      <Title>Tests</Title>
      <Shown asked={asked}>
        {(all) =>
          all.length === 0 ?
            (
              <p>
                No result was saved yet: <code>sluice eval --save</code>
              </p>
            ) :
            (
              <ul class="cards">
                {all.map((each) => (
                  <li key={each.name}>
                    <a href={`/ui/c/${id}/tests/${encodeURIComponent(each.name)}`}>{when(each.started, "medium")}</a>
                    <Parts slices={tally(each)} />
                    <p>{number.format(each.passed)} passed, {number.format(each.failed)} failed</p>
                    <p class="quiet">{Object.entries(each.measures).map(([name, mean]) => `${name} ${mean.toFixed(3)}`).join(", ")}</p>
                  </li>
                ))}
              </ul>
            )}
      </Shown>
    </>
  )
}

/** A saved result: the changes since the one before, and each question with its checks. */
export const Evaluation = ({ evaluation, id }: { readonly id: string; readonly evaluation: string }) => {
  const asked = useData<EvaluationView>(`/corpora/${id}/evaluations/${evaluation}`)
  return (
    <>
      <Title>{asked.data === undefined ? "Tests" : `Tests of ${when(asked.data.started, "medium")}`}</Title>
      <Shown asked={asked}>
        {(view) => (
          <>
            <Parts slices={tally(view)} />
            <p>
              {number.format(view.passed)} passed, {number.format(view.failed)} failed; half of the questions within{" "}
              {milliseconds(view.p50)}, 95% within {milliseconds(view.p95)}
            </p>
            {view.judge !== undefined && <Judge judge={view.judge} />}
            {view.drift !== undefined && <Drift drift={view.drift} />}
            <h2>Questions</h2>
            <ul class="hits">
              {view.results.map(({ checks, error, otherwise, passed, principal, question }, at) => (
                <li key={at}>
                  <h3>
                    <span class={`dot of-${passed ? "done" : "failed"}`} />
                    <a
                      href={`/ui/c/${id}/search?q=${encodeURIComponent(question)}${
                        principal === undefined ? "" : `&as=${encodeURIComponent(principal)}`
                      }`}
                    >
                      {question}
                    </a>
                  </h3>
                  {error !== undefined && <p>{error}</p>}
                  <ul class="checks">
                    {checks.map(({ expected, found, passed }) => (
                      <li key={expected}>
                        {passed ? "held" : "did not hold"}: {expected}
                        {found !== undefined && <span class="quiet">instead: {found}</span>}
                      </li>
                    ))}
                  </ul>
                  {otherwise !== undefined && <p>The judge calls the answer {otherwise ? "right" : "wrong"}.</p>}
                </li>
              ))}
            </ul>
          </>
        )}
      </Shown>
    </>
  )
}

const Judge = ({ judge: { agreed, model, of, right, without, wrong } }: { readonly judge: NonNullable<EvaluationView["judge"]> }) => (
  <p>
    {model} calls {number.format(right)} answers right and {number.format(wrong)} wrong
    {without > 0 && `, without a verdict on ${number.format(without)}`}
    {of > 0 && `; of ${number.format(of)} with exact checks too, it agrees with them on ${number.format(agreed)}`}.
  </p>
)

const Drift = ({ drift: { measures, since, tests } }: { readonly drift: NonNullable<EvaluationView["drift"]> }) => (
  <>
    <h2>Since {when(since, "medium")}</h2>
    {tests.length === 0 && <p>Every question came out as before.</p>}
    <ul class="checks">
      {tests.map(({ change, documents, id }) => (
        <li key={id}>
          <span class={`dot of-${change === "broken" ? "failed" : change === "fixed" ? "done" : "pending"}`} />
          {change}: {id}
          {documents.length > 0 && <span class="quiet">edited since: {documents.join(", ")}</span>}
        </li>
      ))}
    </ul>
    <table class="measures">
      <thead>
        <tr>
          <th scope="col">measure</th>
          <th scope="col" class="n">before</th>
          <th scope="col" class="n">now</th>
          <th scope="col">which is</th>
        </tr>
      </thead>
      <tbody>
        {measures.map(({ after, before, chance, measure, significant, worse }) => (
          <tr key={measure}>
            <th scope="row">{measure}</th>
            <td class="n">{before.toFixed(3)}</td>
            <td class="n">{after.toFixed(3)}</td>
            <td>
              {before === after
                ? "the same"
                : `${worse ? "worse" : "better"}${significant ? "" : `, and may be noise (chance ${chance.toFixed(2)})`}`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </>
)
