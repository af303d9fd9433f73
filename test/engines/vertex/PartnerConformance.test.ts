import { Effect, Layer } from "effect"
import { storage } from "../../../connectors/storage/Storage.ts"
import { serveEmbedded } from "../../../src/compose/Server.ts"
import * as HostedPartnerChat from "../../../src/engines/vertex/HostedPartnerChat.ts"
import * as PartnerChat from "../../conformance/PartnerChat.ts"
import { tempFolder } from "../../support/TempFolder.ts"
import { hosted } from "./Engine.ts"

PartnerChat.suite("hosted -> HTTP -> server -> embedded", (upstream) =>
  Layer.unwrap(Effect.gen(function*() {
    const dataDir = yield* tempFolder
    const { url } = yield* serveEmbedded({ dataDir, version: "test", port: 0, storage, upstream: { url: upstream, model: "chatty" } })
    return HostedPartnerChat.layer().pipe(Layer.provide(hosted(url, { location: "us-east5" })))
  })))
