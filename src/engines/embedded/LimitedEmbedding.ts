import { Effect } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import { budgetSpent, EmbeddingBudget, type EmbeddingLimits } from "../../ports/EmbeddingBudget.ts"

export const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, n) => total + n, 0)

/** The rest of one limit, and the texts that were embedded under it. */
interface Account {
  tokens: number
  requests: number
  embedded: { texts: number; tokens: number }
}

/** The error for a text that exceeds the embedding budget. */
export const overBudget = (what: string): ServiceError =>
  new ServiceError({
    code: "RESOURCE_EXHAUSTED",
    reason: budgetSpent,
    message: `the budget of ${what} is spent`,
    fix: "run again, or raise import.budget"
  })

/** The embedding budget of one process. */
export const makeEmbeddingBudget = (): EmbeddingBudget["Service"] => {
  const accounts = new Set<Account>()
  return EmbeddingBudget.of({
    limit: ({ requests = Infinity, tokens = Infinity }: EmbeddingLimits) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const account: Account = { tokens, requests, embedded: { texts: 0, tokens: 0 } }
          accounts.add(account)
          return account
        }),
        (account) => Effect.sync(() => accounts.delete(account))
      ).pipe(Effect.map(({ embedded }) => () => ({ ...embedded }))),
    isLimited: () => [...accounts].some(({ requests, tokens }) => requests < Infinity || tokens < Infinity),
    reserve: (tokens) => {
      let taken = 0
      while (taken < tokens.length && [...accounts].every((account) => account.tokens > 0)) {
        for (const account of accounts) account.tokens -= tokens[taken] ?? 0
        taken += 1
      }
      return taken
    },
    settle: (reserved, embedded) => {
      const sent = sum(embedded)
      for (const account of accounts) {
        account.tokens += sum(reserved) - sent
        account.embedded.texts += embedded.length
        account.embedded.tokens += sent
      }
    },
    request: Effect.suspend(() => {
      if ([...accounts].some((account) => account.requests <= 0)) return Effect.fail(overBudget("embedding requests"))
      for (const account of accounts) account.requests -= 1
      return Effect.void
    })
  })
}
