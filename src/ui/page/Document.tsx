import { useEffect, useRef } from "preact/hooks"
import type { CorpusCard, DocumentChunk, DocumentFacts, DocumentPage, Version } from "../Api.ts"
import { type Address } from "./Address.ts"
import { useData, withQuery } from "./Client.ts"
import { Headings, Marked, number, pagesOf, Shown, size, Title, when } from "./Parts.tsx"

/** A document: its facts, and its text divided into chunks. */
export const Document = ({ document, id, query }: { readonly id: string; readonly document: string; readonly query: Address["query"] }) => {
  const [chunk, from, to] = ["chunk", "from", "to"].map((name) => query.get(name) ?? undefined)
  const asked = useData<DocumentPage>(withQuery(`/corpora/${id}/documents/${document}`, { chunk, from, to }))
  const here = `/ui/c/${id}/d/${document}`
  return (
    <>
      <Title>{asked.data?.document.path ?? "Document"}</Title>
      <Shown asked={asked}>
        {({ chunks, document, next, versions }) => (
          <>
            <Facts facts={document} />
            {versions.length > 0 && <Versions id={id} versions={versions} />}
            <h2>Text, in chunks</h2>
            {chunks[0] !== undefined && chunks[0].ordinal > 0 && (
              <p>
                <a href={here}>From the start</a>
              </p>
            )}
            <Chunks chunks={chunks} />
            <nav class="pages" aria-label="Parts of the document">
              {next !== undefined && <a rel="next" href={withQuery(here, { chunk: next })}>Next chunks</a>}
            </nav>
          </>
        )}
      </Shown>
    </>
  )
}

const Facts = ({ facts }: { readonly facts: DocumentFacts }) => {
  const { address, bytes, chunks, metadata = {}, pages, permissions, tokens, updated } = facts
  const known: ReadonlyArray<readonly [string, string | undefined]> = [
    ["Address", address],
    ["Size", bytes === undefined ? undefined : size(bytes)],
    ["Chunks", chunks === undefined ? undefined : number.format(chunks)],
    ["Tokens", tokens === undefined ? undefined : number.format(tokens)],
    ["Pages", pages === undefined ? undefined : number.format(pages)],
    ["Updated", updated === "" ? undefined : when(updated)],
    [
      "Readable by",
      permissions === undefined || permissions.public
        ? "everyone who may read the corpus"
        : permissions.principals.join(", ") || "the owner only"
    ],
    ...Object.entries(metadata)
  ]
  return (
    <dl class="facts">
      {known.map(([name, value]) =>
        value !== undefined && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        )
      )}
    </dl>
  )
}

/** The versions of the file in the generations of the corpus. Versions in a corpus that is shown here can be opened. */
const Versions = ({ id, versions }: { readonly id: string; readonly versions: ReadonlyArray<Version> }) => {
  const corpora = useData<ReadonlyArray<CorpusCard>>("/corpora").data ?? []
  const [newest] = versions
  return (
    <>
      <h2>Versions</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Versions as a table">
        <table>
          <thead>
            <tr>
              <th scope="col">generation</th>
              <th scope="col">begun</th>
              <th scope="col">last try</th>
              <th scope="col">content</th>
              <th scope="col" class="n">size</th>
              <th scope="col">revision</th>
            </tr>
          </thead>
          <tbody>
            {versions.map(({ bytes, content, corpus, document, generation, made, message, revision, role, state }) => (
              <tr key={generation}>
                <th scope="row">
                  {document !== undefined && corpus !== id && corpora.some((each) => each.id === corpus)
                    ? <a href={`/ui/c/${corpus}/d/${document}`}>{generation}, {role}</a>
                    : `${generation}, ${role}`}
                </th>
                <td>{made === undefined ? "" : when(made)}</td>
                <td>
                  <span class={`dot of-${state}`} />
                  {state}
                  {message !== undefined && <span class="quiet">{message}</span>}
                </td>
                <td>
                  <code>{content}</code>
                  {newest !== undefined && newest.generation !== generation && (
                    <span class="quiet">{newest.content === content ? "the same" : "another"}</span>
                  )}
                </td>
                <td class="n">{size(bytes)}</td>
                <td>{revision}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

const Chunks = ({ chunks }: { readonly chunks: ReadonlyArray<DocumentChunk> }) => {
  const list = useRef<HTMLOListElement>(null)
  useEffect(() => list.current?.querySelector("mark")?.scrollIntoView({ block: "center" }), [chunks])
  return (
    <ol class="chunks" ref={list}>
      {chunks.map(({ firstPage, headings, lastPage, ordinal, shared, shown, text, tokens }) => {
        const spans = shown === undefined ? [] : [shown]
        return (
          <li key={ordinal} id={`chunk-${ordinal}`}>
            <p class="border">
              <span>chunk {number.format(ordinal + 1)}</span> <span class="quiet">{number.format(tokens)} tokens</span>
            </p>
            <Headings headings={headings} pages={pagesOf(firstPage, lastPage)} />
            <div class="text">
              {shared > 0 && (
                <span class="shared" title="the chunk before has this too">
                  <Marked text={text} spans={spans} to={shared} />
                </span>
              )}
              <Marked text={text} spans={spans} from={shared} />
            </div>
          </li>
        )
      })}
    </ol>
  )
}
