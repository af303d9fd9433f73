import type { FilesPage } from "../Api.ts"
import { type Address, fieldsOf, go } from "./Address.ts"
import { useData, withQuery } from "./Client.ts"
import { breakable, Shown, size, Title } from "./Parts.tsx"

const states = ["done", "skipped", "failed", "quarantined", "pending"]

/** The files of a corpus with their states, in pages. */
export const Files = ({ id, query }: { readonly id: string; readonly query: Address["query"] }) => {
  const [state, path, after] = [query.get("state") ?? "", query.get("path") ?? "", query.get("after") ?? undefined]
  const here = `/ui/c/${id}/files`
  const asked = useData<FilesPage>(withQuery(`/corpora/${id}/files`, { state, path, after }))
  return (
    <>
      <Title>Files</Title>
      <form
        class="row"
        role="search"
        key={`${state} ${path}`}
        onSubmit={(event) => {
          event.preventDefault()
          go(withQuery(here, fieldsOf(event.currentTarget)))
        }}
      >
        <label>
          Path has<input type="search" name="path" value={path} />
        </label>
        <label>
          State
          <select name="state" value={state}>
            <option value="">any</option>
            {states.map((each) => <option key={each} value={each}>{each}</option>)}
          </select>
        </label>
        <button>Show</button>
      </form>
      <Shown asked={asked}>
        {({ files, next }) => (
          <>
            {files.length === 0 && <p>No file matches{after === undefined ? "" : " after the last page"}.</p>}
            {files.length > 0 && (
              <table class="stacked">
                <thead>
                  <tr>
                    <th scope="col">file</th>
                    <th scope="col">state</th>
                    <th scope="col">why</th>
                    <th scope="col" class="n">size</th>
                  </tr>
                </thead>
                <tbody>
                  {files.map(({ bytes, id: document, message, path, reason, source, state }) => (
                    <tr key={`${source ?? ""} ${path} ${document ?? ""}`}>
                      <th scope="row">
                        {document === undefined ? breakable(path) : <a href={`/ui/c/${id}/d/${document}`}>{breakable(path)}</a>}{" "}
                        {source !== undefined && <span class="quiet">{source}</span>}
                      </th>
                      <td>
                        <span class={`dot of-${state}`} />
                        {state}
                      </td>
                      <td>
                        {[reason, message].filter((each) =>
                          each !== undefined
                        ).join(": ")}
                      </td>
                      <td class="n">{size(bytes)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
            <nav class="pages" aria-label="Pages of files">
              {after !== undefined && <a href={withQuery(here, { state, path })}>First page</a>}
              {next !== undefined && <a rel="next" href={withQuery(here, { state, path, after: next })}>Next page</a>}
            </nav>
          </>
        )}
      </Shown>
    </>
  )
}
