import { render } from "preact"
import { useEffect } from "preact/hooks"
import { Answer } from "./Answer.tsx"
import { type Address, go, useAddress } from "./Address.ts"
import { setToken, takeToken, useData } from "./Client.ts"
import { Corpora, Corpus } from "./Corpus.tsx"
import { Document } from "./Document.tsx"
import { Evaluation, Evaluations } from "./Evaluations.tsx"
import { Files } from "./Files.tsx"
import { DocumentMap } from "./DocumentMap.tsx"
import { Title } from "./Parts.tsx"
import { Question } from "./Question.tsx"

const views = [
  { name: "Overview", at: "" },
  { name: "Files", at: "/files" },
  { name: "Question", at: "/search" },
  { name: "Answer", at: "/ask" },
  { name: "Map", at: "/map" },
  { name: "Tests", at: "/tests" }
] as const

/** Whether a page belongs to a view that lists it: a document to the files, a result to the tests. */
const isUnder = (path: string, here: string, at: string): boolean =>
  at === "/files" ? path.startsWith(`${here}/d/`) : at === "/tests" && path.startsWith(`${here}/tests/`)

const View = ({ path, query }: Address) => {
  const [, , , id, view, document] = path.split("/")
  if (id === undefined) return <Corpora />
  switch (view) {
    case undefined:
      return <Corpus id={id} />
    case "files":
      return <Files id={id} query={query} />
    case "d":
      return <Document id={id} document={document ?? ""} query={query} />
    case "map":
      return <DocumentMap id={id} query={query} />
    case "tests":
      return document === undefined ? <Evaluations id={id} /> : <Evaluation id={id} evaluation={document} />
    case "search":
      return <Question id={id} query={query} />
    case "ask":
      return <Answer id={id} query={query} />
    default:
      return <Title>There is no such page</Title>
  }
}

/** Asks for the token where the address has none, or a wrong one. */
const Locked = () => (
  <form
    class="row"
    onSubmit={(event) => {
      event.preventDefault()
      const token = new FormData(event.currentTarget).get("token")
      if (typeof token === "string") setToken(token)
      go(location.pathname + location.search, true)
      location.reload()
    }}
  >
    <label class="wide">
      The server's token<input type="password" name="token" required autocomplete="off" />
    </label>
    <button>Open</button>
  </form>
)

const Page = () => {
  const address = useAddress()
  const { failure } = useData<unknown>("/corpora")
  const path = address.path.replace(/\/$/, "")
  const [, , , id] = path.split("/")
  const here = id === undefined ? "" : `/ui/c/${id}`
  useEffect(() => {
    document.title = `${document.querySelector("h1")?.textContent ?? ""} · Sluice`
  })
  useEffect(() => {
    // The scroll position stays while only the query changes.
    scrollTo(0, 0)
  }, [path])
  const locked = failure?.status === 401
  return (
    <>
      <a class="skip" href="#main">To the content</a>
      <header>
        <a class="home" href="/ui/">Sluice</a>
        {here !== "" && !locked && (
          <nav aria-label="Views">
            <ul>
              {views.map(({ at, name }) => (
                <li key={name}>
                  <a href={here + at} aria-current={path === here + at ? "page" : isUnder(path, here, at) ? "true" : undefined}>{name}</a>
                </li>
              ))}
            </ul>
          </nav>
        )}
      </header>
      <main id="main">
        {locked
          ? (
            <>
              <h1>Locked</h1>
              <p>{failure.message}</p>
              <Locked />
            </>
          )
          : <View key={path} path={path} query={address.query} />}
      </main>
    </>
  )
}

takeToken()
const root = document.getElementById("page")
if (root !== null) render(<Page />, root)
