import { Effect } from "effect"
import type { SecretError, ServiceError } from "../domain/Errors.ts"
import type { NotifySettings } from "../domain/Hooks.ts"
import { deliver } from "../net/Deliver.ts"
import type { RunNews } from "../pipeline/Notify.ts"
import type { Secrets } from "../ports/Secrets.ts"

/** Sends notifications of runs, as JSON. */
export const notifier =
  (secrets: Secrets["Service"]) => (to: NotifySettings, news: RunNews): Effect.Effect<void, ServiceError | SecretError> =>
    Effect.suspend(() => deliver(secrets, to, JSON.stringify(news)))
