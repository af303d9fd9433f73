import { Effect } from "effect"
import { ServiceError } from "../../../domain/Errors.ts"
import type { Context } from "../../../domain/Retrieval.ts"
import type { IndexUpkeep } from "../IndexUpkeep.ts"
import { IndexDamage } from "../search/CorpusIndex.ts"
import type { SearchRequest } from "../search/Search.ts"
import type { Searcher } from "../search/Searcher.ts"
import { StoreDamage } from "../store/Checksum.ts"
import type { CorpusRow } from "../store/Rows.ts"
import type { Writer } from "../store/Writer.ts"
import type { NoteDamage } from "./DamageNote.ts"
import { answerKey, KeptAnswers } from "./KeptAnswers.ts"

export interface ManagedSearchOptions {
  readonly search: Searcher
  readonly writer: Writer["Service"]
  readonly upkeep: IndexUpkeep["Service"]
  readonly noteDamage: NoteDamage
  /** Bytes that kept answers may take. */
  readonly answerBytes: number
}

/** Searches corpora in the engine's own database. Answers are kept, and a damaged index is rebuilt and searched again. */
export const managedSearch = ({ answerBytes, noteDamage, search, upkeep, writer }: ManagedSearchOptions) => {
  const answers = new KeptAnswers(answerBytes)

  const searched = Effect.fnUntraced(function*(
    corpus: CorpusRow,
    request: SearchRequest
  ): Effect.fn.Return<ReadonlyArray<Context>, ServiceError> {
    const attempt = search(corpus, request)
    const found = yield* attempt
    if (found instanceof StoreDamage) return yield* noteDamage(found)
    return found instanceof IndexDamage ? yield* afterRebuild(corpus, attempt) : found
  })

  const afterRebuild = Effect.fnUntraced(function*(corpus: CorpusRow, attempt: ReturnType<Searcher>) {
    yield* writer.send("rebuildIndex", { corpus: corpus.name })
    const again = yield* attempt
    if (again instanceof StoreDamage) return yield* noteDamage(again)
    return again instanceof IndexDamage
      ? yield* new ServiceError({ code: "DATA_LOSS", message: `the index of corpus ${corpus.name} stays damaged: ${again.message}` })
      : again
  })

  return Effect.fnUntraced(function*(
    corpus: CorpusRow,
    request: SearchRequest
  ): Effect.fn.Return<ReadonlyArray<Context>, ServiceError> {
    const key = answerKey(corpus, request)
    const known = answers.get(key)
    if (known !== undefined) return known
    yield* upkeep.asked(corpus)
    const found = yield* searched(corpus, request)
    answers.put(key, found)
    return found
  })
}
