import { Effect, Layer } from "effect"
import * as Postgres from "../../src/vectors/postgres/Postgres.ts"
import { Opening, suite } from "../conformance/VectorStore.ts"
import { postgresUrl } from "./support/Postgres.ts"
import { secretsOf, secretVersion } from "./support/Secrets.ts"

const opening = Layer.effect(
  Opening,
  Effect.map(postgresUrl, (url) => ({
    open: (space) => Postgres.make({ url: secretVersion("url"), space, secrets: secretsOf(new Map([["url", url]])), connections: 2 })
  }))
)

suite("PostgreSQL", opening)
