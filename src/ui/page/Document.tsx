import { useEffect, useRef } from "preact/hooks"
import type { DocumentChunk, DocumentFacts, DocumentPage } from "../Api.ts"
import { type Address } from "./Address.ts"
import { useData, withQuery } from "./Client.ts"
import { Headings, Marked, number, pagesOf, Shown, size, Title, when } from "./Parts.tsx"

/** One document: its facts, and its text with the borders of its chunks. */
export const Document = ({ document, id, query }: { readonly id: string; readonly document: string; readonly query: Address["query"] }) => {
  const [chunk, from, to] = ["chunk", "from", "to"].map((name) => query.get(name) ?? undefined)
  const asked = useData<DocumentPage>(withQuery(`/corpora/${id}/documents/${document}`, { chunk, from, to }))
  const here = `/ui/c/${id}/d/${document}`
  return (
    <>
      <Title>{asked.data?.document.path ?? "Document"}</Title>
      <Shown asked={asked}>
        {({ chunks, document, next }) => (
          <>
            <Facts facts={document} />
            <h2>Text, in chunks</h2>
            {chunks[0] !== undefined && chunks[0].ordinal > 0 && (
              <p>
                <a href={here}>From the beginning</a>
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
    ["Where it is", address],
    ["Size", bytes === undefined ? undefined : size(bytes)],
    ["Chunks", chunks === undefined ? undefined : number.format(chunks)],
    ["Tokens", tokens === undefined ? undefined : number.format(tokens)],
    ["Pages", pages === undefined ? undefined : number.format(pages)],
    ["Brought in", updated === "" ? undefined : when(updated)],
    [
      "May be read by",
      permissions === undefined || permissions.public
        ? "whoever may read the corpus"
        : permissions.principals.join(", ") || "the owner alone"
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
