import { Effect, Layer } from "effect"
import { serveEmbedded } from "../../src/compose/Server.ts"
import * as EmbeddedGeneration from "../../src/engines/embedded/EmbeddedGeneration.ts"
import * as GenerateContent from "../../src/engines/vertex/GenerateContent.ts"
import * as HostedGeneration from "../../src/engines/vertex/HostedGeneration.ts"
import * as ExtractiveChat from "../../src/models/ExtractiveChat.ts"
import * as OpenAiChat from "../../src/models/OpenAiChat.ts"
import * as Http from "../../src/net/Http.ts"
import { layer as secrets } from "../../src/secrets/EnvironmentSecrets.ts"
import { countTokens } from "../../src/text/Tokens.ts"
import { storage } from "../../connectors/storage/Storage.ts"
import * as Generation from "../conformance/Generation.ts"
import { hosted } from "../engines/vertex/Engine.ts"
import { tempFolder } from "../support/TempFolder.ts"

const embedded = (upstream?: string) =>
  EmbeddedGeneration.layer(countTokens).pipe(Layer.provide(
    upstream === undefined
      ? ExtractiveChat.layer(countTokens)
      : OpenAiChat.layer({ baseUrl: upstream, model: "upstream-model", maxRequestsPerMinute: 60_000, retry: { times: 0 } }).pipe(
        Layer.provide([Http.layer(), secrets({})])
      )
  ))

/** The hosted engine, speaking HTTP with a server over the same model. */
const overHttp = (upstream?: string) =>
  Layer.unwrap(Effect.gen(function*() {
    const { url } = yield* serveEmbedded({
      dataDir: yield* tempFolder,
      version: "test",
      port: 0,
      storage,
      ...(upstream === undefined ? {} : { upstream: { url: upstream, model: "upstream-model", retry: { times: 0 } } })
    }).pipe(Effect.orDie)
    return HostedGeneration.layer.pipe(Layer.provide(GenerateContent.layer), Layer.provide(hosted(url, { retry: { times: 0 } })))
  }))

Generation.suite("embedded", embedded)
Generation.suite("hosted -> HTTP -> server -> embedded", overHttp)
