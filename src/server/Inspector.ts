import { Effect } from "effect"
import { type Corpus, CorpusName } from "../domain/Corpus.ts"
import { defined } from "../domain/Defined.ts"
import { Corpora } from "../ports/Corpora.ts"
import { Engine } from "../ports/Engine.ts"
import type { CorpusCard } from "../ui/Api.ts"
import { apiHttp } from "../ui/Http.ts"
import type { KnowledgeError } from "../mcp/KnowledgeBase.ts"
import { type Account, idOf, Inspector } from "../ui/Inspector.ts"
import { knowledgeBases, withAllTokens } from "./KnowledgeBases.ts"

/**
 * The endpoint `/ui/api` of a server. It shows every corpus, with the ledger of the pipeline that fills it where `accountOf`
 * knows one, to every caller who may call the API.
 */
export const inspectorEndpoint = Effect.fnUntraced(
  function*(accountOf: (corpus: CorpusName) => Effect.Effect<Account | undefined, KnowledgeError>) {
    const corpora = yield* Corpora
    const { parent } = yield* Engine
    const { baseOf, listed } = yield* knowledgeBases
    return yield* apiHttp(Inspector.of({
      corpora: Effect.map(listed, (corpora) => corpora.map(cardOf)),
      corpus: Effect.fnUntraced(function*(id) {
        const corpus = yield* corpora.get(CorpusName.make(`${parent}/ragCorpora/${id}`))
        const account = yield* accountOf(corpus.name)
        return defined({
          card: defined({ ...cardOf(corpus), pipeline: account?.pipeline }),
          corpus: Effect.succeed(corpus.name),
          base: yield* Effect.fromResult(baseOf(corpus, withAllTokens())),
          account
        })
      })
    }))
  }
)

const cardOf = ({ description, displayName, filesCount, name }: Corpus): CorpusCard =>
  defined({ id: idOf(name), title: displayName, description, files: filesCount })
