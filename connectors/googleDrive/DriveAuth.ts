import { Effect } from "effect"
import { type GoogleAuth, make } from "../../src/net/GoogleAuth.ts"
import { authErrorOf } from "../../src/net/GoogleErrors.ts"

const scope = "https://www.googleapis.com/auth/drive.readonly"

/** Application Default Credentials that may read Drive. Looked for at the first token. */
export const driveAuth = (): GoogleAuth["Service"] => {
  let found: GoogleAuth["Service"] | undefined
  const auth = Effect.suspend(() => found !== undefined ? Effect.succeed(found) : Effect.map(
    Effect.tryPromise({ try: applicationDefault, catch: authErrorOf }),
    (client) => found ??= make({ client })
  ))
  return {
    token: Effect.flatMap(auth, ({ token }) => token),
    reject: (token) => Effect.ignore(Effect.flatMap(auth, ({ reject }) => reject(token))),
    quotaProject: Effect.flatMap(auth, ({ quotaProject }) => quotaProject),
    project: Effect.flatMap(auth, ({ project }) => project)
  }
}

const applicationDefault = async () => {
  const { GoogleAuth: Library } = await import("google-auth-library")
  return new Library({ scopes: [scope] }).getClient()
}
