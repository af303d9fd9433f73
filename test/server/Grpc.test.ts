import { once } from "node:events"
import { readFileSync, statSync } from "node:fs"
import { request } from "node:https"
import { connect } from "node:http2"
import { connect as connectTcp } from "node:net"
import { gzipSync } from "node:zlib"
import { v1, v1beta1 } from "@google-cloud/aiplatform"
import { Client, credentials, Metadata } from "@grpc/grpc-js"
import { Redacted } from "effect"
import protobuf from "protobufjs"
import * as descriptor from "protobufjs/ext/descriptor/index.js"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { leave, parent, putObjects, startServer, type TestServer, travel } from "./support/TestServer.ts"

const token = "a-token-of-some-length"
const model = `${parent}/publishers/google/models/gemini-2.0-flash-001`

type Options = NonNullable<ConstructorParameters<typeof v1.VertexRagDataServiceClient>[0]>

/** A failure as the client sees it. */
interface Failure {
  readonly code: number
  readonly details: string
  readonly statusDetails?: ReadonlyArray<{ readonly fieldViolations?: ReadonlyArray<{ readonly field: string }> }>
  readonly reason?: string
}

const failing = (call: Promise<unknown>): Promise<Failure> => call.then(() => assert.fail("it did not fail"), (error: Failure) => error)

let server: TestServer
let port: number
let certificate: Buffer
const scripted = `faults:
  - { method: getRagFile, at: 1, error: RESOURCE_EXHAUSTED, retryAfter: 2 }
  - { method: getRagEngineConfig, at: 1, delay: 2 }`
beforeAll(async () => {
  server = await startServer({ grpc: { port: 0 }, token: Redacted.make(token), faults: scripted })
  port = Number(server.grpc?.address.split(":").at(-1))
  certificate = readFileSync(server.grpc?.certificate ?? "")
})
afterAll(() => server.stop())

/** Over TLS, with the token in the metadata, as the client does by default; only what is trusted is the server's. */
const clientOptions = (accessToken = token): Options => {
  const bearer = credentials.createFromMetadataGenerator((_, done) => {
    const metadata = new Metadata()
    metadata.set("authorization", `Bearer ${accessToken}`)
    done(null, metadata)
  })
  const sslCreds = credentials.combineChannelCredentials(credentials.createSsl(certificate), bearer)
  return { apiEndpoint: "127.0.0.1", port, sslCreds } as unknown as Options // its types are of its own copy of gRPC
}

describe("gRPC, as @google-cloud/aiplatform speaks it by default", () => {
  let data: v1.VertexRagDataServiceClient
  let prediction: v1.PredictionServiceClient
  beforeAll(() => {
    data = new v1.VertexRagDataServiceClient(clientOptions())
    prediction = new v1.PredictionServiceClient(clientOptions())
  })
  afterAll(async () => {
    await data.close()
    await prediction.close()
  })

  it("goes through the quickstart in both versions of the API", async () => {
    for (const api of [v1, v1beta1 as unknown as typeof v1]) {
      const data = new api.VertexRagDataServiceClient(clientOptions())
      const rag = new api.VertexRagServiceClient(clientOptions())
      const prediction = new api.PredictionServiceClient(clientOptions())
      const [creation] = await data.createRagCorpus({ parent, ragCorpus: { displayName: "quick", description: "käse" } })
      const name = (await creation.promise())[0].name ?? ""
      putObjects(server, { "travel.md": travel, "leave.md": leave })
      const [work] = await data.importRagFiles({
        parent: name,
        importRagFilesConfig: { gcsSource: { uris: ["gs://docs/travel.md", "gs://docs/leave.md"] } }
      })
      const [imported, metadata] = await work.promise()
      assert.strictEqual(String(imported.importedRagFilesCount), "2")
      assert.strictEqual(String(metadata.importRagFilesConfig?.gcsSource?.uris?.[0]), "gs://docs/travel.md")
      const [update] = await data.updateRagCorpus({ ragCorpus: { name, description: "bread" } })
      assert.strictEqual((await update.promise())[0].description, "bread")
      const [files] = await data.listRagFiles({ parent: name })
      assert.sameMembers(files.map(({ displayName }) => displayName), ["travel.md", "leave.md"])
      const [{ contexts }] = await rag.retrieveContexts({
        parent,
        vertexRagStore: { ragResources: [{ ragCorpus: name }] },
        query: { text: "hotel limit in Osaka", ragRetrievalConfig: { topK: 1 } }
      })
      assert.strictEqual(contexts?.contexts?.[0]?.sourceDisplayName, "travel.md")
      const question = {
        model,
        contents: [{ role: "user", parts: [{ text: "What is the hotel limit in Osaka?" }] }],
        tools: [{ retrieval: { vertexRagStore: { ragResources: [{ ragCorpus: name }] } } }]
      }
      const [answer] = await prediction.generateContent(question)
      assert.include(answer.candidates?.[0]?.content?.parts?.[0]?.text, "120 EUR")
      assert.isAbove(answer.candidates?.[0]?.groundingMetadata?.groundingChunks?.length ?? 0, 0)
      let streamed = ""
      for await (const { candidates } of prediction.streamGenerateContent(question)) {
        streamed += candidates?.[0]?.content?.parts?.map(({ text }: { text?: string }) => text).join("") ?? ""
      }
      assert.include(streamed, "120 EUR")
      const [deletion] = await data.deleteRagCorpus({ name, force: true })
      await deletion.promise()
      assert.strictEqual((await failing(data.getRagCorpus({ name }))).code, 5)
      await Promise.all([data.close(), rag.close(), prediction.close()])
    }
  })

  it("tells what is wrong with code, details and the fields that are", async () => {
    const wrong = await failing(data.createRagCorpus({ parent, ragCorpus: { displayName: "" } }))
    assert.strictEqual(wrong.code, 3)
    assert.include(JSON.stringify(wrong.statusDetails), "rag_corpus.display_name")
    const form = await failing(data.getRagCorpus({ name: "ragCorpora/7" }))
    assert.strictEqual(form.code, 3)
    assert.include(form.details, "projects/*/locations/*/ragCorpora/*")
    const stranger = new v1.VertexRagDataServiceClient(clientOptions("another-token-entirely"))
    const refused = await failing(stranger.listRagCorpora({ parent }))
    assert.strictEqual(refused.code, 16)
    assert.strictEqual(refused.reason, "ACCESS_TOKEN_TYPE_UNSUPPORTED")
    await stranger.close()
    const unused = await failing(
      data.createRagCorpus({
        parent,
        ragCorpus: { displayName: "x", encryptionSpec: { kmsKeyName: "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k" } }
      })
    )
    assert.strictEqual(unused.code, 12)
    assert.include(unused.details, "encryption_spec")
  })

  it("passes bytes on to models of partners, and their errors as a status", async () => {
    const endpoint = "projects/p1/locations/us-east5/publishers/anthropic/models/claude-3-5-sonnet-v2@20241022"
    const body = {
      anthropic_version: "vertex-2023-10-16",
      max_tokens: 64,
      messages: [{ role: "user", content: "<document>The limit is 120 EUR.</document> What is the limit?" }]
    }
    const httpBody = (more: object) => ({ contentType: "application/json", data: Buffer.from(JSON.stringify({ ...body, ...more })) })
    const [whole] = await prediction.rawPredict({ endpoint, httpBody: httpBody({}) })
    assert.strictEqual(JSON.parse(Buffer.from(whole.data ?? "").toString()).type, "message")
    let events = ""
    for await (const { data } of prediction.streamRawPredict({ endpoint, httpBody: httpBody({ stream: true }) })) {
      events += Buffer.from(data).toString()
    }
    assert.match(events, /event: message_start[^]*event: message_stop/)
    const wrong = await failing(prediction.rawPredict({ endpoint, httpBody: httpBody({ max_tokens: -1 }) }))
    assert.strictEqual(wrong.code, 3)
    assert.include(wrong.details, "max_tokens")
  })

  it("keeps deadlines, and says when to try again", async () => {
    const config = `${parent}/ragEngineConfig`
    assert.strictEqual((await failing(data.getRagEngineConfig({ name: config }, { timeout: 300 }))).code, 4)
    assert.strictEqual((await data.getRagEngineConfig({ name: config }))[0].name, config)
    const over = await failing(data.getRagFile({ name: `${parent}/ragCorpora/1/ragFiles/1` }, { maxRetries: 0 }))
    assert.strictEqual(over.code, 8)
    assert.include(JSON.stringify(over.statusDetails), "\"seconds\":\"2\"")
  })

  it("lists, waits for and deletes operations, and tells locations", async () => {
    const [creation] = await data.createRagCorpus({ parent, ragCorpus: { displayName: "operated" } })
    await creation.promise()
    const operation = creation.latestResponse.name ?? ""
    const [found] = await data.operationsClient.getOperation({ name: operation } as never)
    assert.strictEqual(found.metadata?.type_url, "type.googleapis.com/google.cloud.aiplatform.v1.CreateRagCorpusOperationMetadata")
    await data.operationsClient.deleteOperation({ name: operation } as never)
    assert.strictEqual((await failing(data.operationsClient.getOperation({ name: operation } as never))).code, 5)
    const [place] = (await data.getLocation({ name: parent } as never)) as unknown as [{ readonly locationId: string }]
    assert.strictEqual(place.locationId, "us-central1")
  })
})

/** One call in bytes of our own. */
const call = (path: string, message: Uint8Array, headers: Record<string, string>, url = `http://127.0.0.1:${port}`) =>
  new Promise<{ readonly status: string; readonly message: string; readonly body: Buffer }>((resolve, reject) => {
    const session = connect(url, { ca: certificate })
    session.on("error", reject)
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      authorization: `Bearer ${token}`,
      ...headers
    })
    const parts: Array<Buffer> = []
    const told: Record<string, unknown> = {}
    stream.on("data", (part: Buffer) => parts.push(part))
    stream.on("trailers", (trailers) => Object.assign(told, trailers))
    stream.on("error", reject)
    stream.on("close", () => {
      session.close()
      resolve({ status: String(told["grpc-status"]), message: String(told["grpc-message"]), body: Buffer.concat(parts) })
    })
    stream.end(message)
  })

const framed = (body: Uint8Array, flag = 0): Buffer => {
  const head = Buffer.alloc(5)
  head[0] = flag
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}

describe("the protocol beneath", () => {
  const list = "/google.cloud.aiplatform.v1.VertexRagDataService/ListRagCorpora"
  /** Field 1, a string. */
  const asked = Buffer.concat([Buffer.from([0x0a, parent.length]), Buffer.from(parent)])

  it("is spoken without TLS too on loopback, and compressed as the client is", async () => {
    assert.strictEqual((await call(list, framed(asked), {})).status, "0")
    const zipped = await call(list, framed(gzipSync(asked), 1), { "grpc-encoding": "gzip" })
    assert.strictEqual(zipped.status, "0")
    assert.strictEqual(zipped.body[0], 1)
    assert.strictEqual((await call(list, framed(asked, 1), { "grpc-encoding": "snappy" })).status, "12")
  })

  it("refuses what is no message, too large, cut off or bloated, and goes on", async () => {
    assert.strictEqual((await call(list, framed(Buffer.from([0xff, 0xff])), {})).status, "3")
    assert.strictEqual((await call(list, Buffer.from([0, 0xff, 0xff, 0xff, 0xff]), {})).status, "8")
    assert.strictEqual((await call(list, framed(asked).subarray(0, 9), {})).status, "13")
    assert.strictEqual((await call(list, Buffer.alloc(0), {})).status, "13")
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    assert.strictEqual((await call(list, framed(bomb, 1), { "grpc-encoding": "gzip" })).status, "8")
    assert.strictEqual((await call(`${list}Ever`, framed(asked), {})).status, "12")
    assert.strictEqual((await call(list, framed(asked), { authorization: "Bearer nobody" })).status, "16")
    assert.strictEqual((await call(list, framed(asked), {})).status, "0")
  })

  it("keeps pages and other names out", async () => {
    assert.strictEqual((await call(list, framed(asked), { origin: "https://evil.example" })).status, "7")
    assert.strictEqual((await call(list, framed(asked), { ":authority": "evil.example" })).status, "7")
  })

  it("tells health without a token", async () => {
    const { body, status } = await call("/grpc.health.v1.Health/Check", framed(Buffer.alloc(0)), { authorization: "" })
    assert.strictEqual(status, "0")
    assert.deepStrictEqual([...body.subarray(5)], [0x08, 1])
  })

  it("tells those who watch its health, and lets them go", async () => {
    const session = connect(`http://127.0.0.1:${port}`)
    const watching = session.request({
      ":method": "POST",
      ":path": "/grpc.health.v1.Health/Watch",
      "content-type": "application/grpc",
      te: "trailers"
    })
    watching.end(framed(Buffer.alloc(0)))
    const [told] = await once(watching, "data") as [Buffer]
    assert.deepStrictEqual([...told.subarray(5)], [0x08, 1])
    watching.close()
    await once(watching, "close")
    session.close()
    assert.strictEqual((await call("/grpc.health.v1.Health/Check", framed(Buffer.alloc(0)), {})).status, "0")
  })

  it("answers REST on the same port, over TLS", async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` }
      request({ host: "127.0.0.1", port, path: `/v1/${parent}/ragCorpora`, ca: certificate, headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      }).on("error", reject).end()
    })
    assert.strictEqual(status, 200)
  })

  it("keeps its certificate over a restart, and its key to itself", async () => {
    const file = server.grpc?.certificate ?? ""
    assert.strictEqual(statSync(file.replace("cert.pem", "key.pem")).mode & 0o777, 0o600)
    server = await server.restart()
    port = Number(server.grpc?.address.split(":").at(-1))
    assert.deepStrictEqual(readFileSync(file), certificate)
    assert.strictEqual((await call(list, framed(asked), {}, `https://127.0.0.1:${port}`)).status, "0")
  })
})

/** Only strings in it, by number. */
const fields = (...pairs: ReadonlyArray<readonly [number, string]>): Buffer =>
  Buffer.concat(pairs.map(([id, text]) => Buffer.concat([Buffer.from([(id << 3) | 2, text.length]), Buffer.from(text)])))

describe("reflection, as grpcurl and its like ask", () => {
  const bytes = (buffer: Buffer): Buffer => buffer
  /** What a client keeps of the protocol. Source: grpc/reflection/v1/reflection.proto. */
  const { root: asked } = protobuf.parse(`syntax = "proto3";
    message Response {
      message Files { repeated bytes file = 1; }
      message Service { string name = 1; }
      message Services { repeated Service service = 1; }
      message Numbers { string type = 1; repeated int32 number = 2; }
      message Failure { int32 code = 1; string message = 2; }
      string host = 1;
      Files files = 4;
      Numbers numbers = 5;
      Services services = 6;
      Failure failure = 7;
    }`)
  const Response = asked.lookupType("Response")
  let client: Client
  const bearer = (text = token): Metadata => {
    const metadata = new Metadata()
    metadata.set("authorization", `Bearer ${text}`)
    return metadata
  }
  beforeAll(() => {
    client = new Client(`127.0.0.1:${port}`, credentials.createSsl(certificate))
  })
  afterAll(() => client.close())

  /** The answers to some requests on one stream. */
  const ask = async (requests: ReadonlyArray<Buffer>, version = "v1", as = bearer()) => {
    const stream = client.makeBidiStreamRequest(
      `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
      bytes,
      bytes,
      as
    )
    const answers: Array<ReturnType<typeof Response.toObject>> = []
    for (const request of requests) stream.write(request)
    stream.end()
    for await (const answer of stream) answers.push(Response.toObject(Response.decode(answer as Buffer)))
    return answers
  }
  const services = fields([7, "*"])
  const symbol = (name: string): Buffer => fields([4, name])
  const file = (name: string): Buffer => fields([3, name])

  it("tells the services, in both versions, to those who have the token", async () => {
    for (const version of ["v1", "v1alpha"]) {
      const [answer] = await ask([services], version)
      const names = answer?.["services"].service.map(({ name }: { readonly name: string }) => name)
      assert.includeMembers(names, [
        "google.cloud.aiplatform.v1.VertexRagService",
        "google.cloud.aiplatform.v1beta1.VertexRagDataService",
        "google.longrunning.Operations",
        "grpc.health.v1.Health",
        `grpc.reflection.${version}.ServerReflection`
      ])
    }
    assert.strictEqual((await failing(ask([services], "v1", bearer("nobody")))).code, 16)
  })

  it("tells enough for a client without protos to call", async () => {
    const service = "google.cloud.aiplatform.v1.VertexRagDataService"
    const [answer] = await ask([symbol(service)])
    const files: ReadonlyArray<Uint8Array> = answer?.["files"].file
    const described = files.map((each) => descriptor.FileDescriptorProto.decode(each) as unknown as descriptor.IFileDescriptorProto)
    const names = described.map(({ name }) => name)
    assert.strictEqual(names[0], "google/cloud/aiplatform/v1.proto")
    for (const { dependency, name } of described) {
      assert.includeMembers([...names], [...dependency ?? []], `imports of ${name} came with it`)
    }
    const root = (protobuf.Root as unknown as { fromDescriptor(set: object): protobuf.Root }).fromDescriptor({ file: described })
    const { methods } = root.lookupService(service)
    const [Request, Result] = [methods["ListRagCorpora"]?.requestType, methods["ListRagCorpora"]?.responseType].map((name) =>
      root.lookupType(name ?? "")
    )
    const message = Buffer.from(Request?.encode({ parent }).finish() ?? [])
    const listed = await new Promise<Buffer>((resolve, reject) => {
      client.makeUnaryRequest(`/${service}/ListRagCorpora`, bytes, bytes, message, bearer(), (error, value) => {
        if (error === null && value !== undefined) resolve(value)
        else reject(error ?? new Error("no answer"))
      })
    })
    const { rag_corpora: corpora } = Result?.toObject(Result.decode(listed)) ?? {}
    assert.isNotEmpty(corpora[0].display_name)
    // As the protos themselves say it, down to what is optional and what is a map.
    const context = descriptor.DescriptorProto.toObject(
      described[0]?.messageType?.find(({ name }) => name === "GenerationConfig") as unknown as protobuf.Message
    )
    const temperature = context["field"].find(({ name }: { readonly name: string }) => name === "temperature")
    assert.deepInclude(temperature, { jsonName: "temperature", number: 1, proto3Optional: true })
    assert.strictEqual(context["oneofDecl"][temperature.oneofIndex].name, "_temperature")
    const labels = root.lookupType("google.cloud.aiplatform.v1.GenerateContentRequest").fields["labels"]
    assert.strictEqual(labels?.resolvedType?.name, "LabelsEntry")
  })

  it("sends a file once on a stream, by name and by any symbol in it, and says what is not there", async () => {
    const inside = "google.cloud.aiplatform.v1.RagCorpus.display_name"
    const [whole, again, struct, method, missing, extension, numbers, none] = await ask([
      symbol(inside),
      file("google/cloud/aiplatform/v1.proto"),
      file("google/protobuf/struct.proto"),
      symbol("grpc.health.v1.Health.Check"),
      symbol("google.cloud.aiplatform.v1.Nothing"),
      fields([5, String(fields([1, "google.protobuf.Any"]))]),
      fields([6, "google.protobuf.Any"]),
      Buffer.alloc(0)
    ])
    assert.isAbove(whole?.["files"].file.length, 5)
    assert.strictEqual(again?.["files"].file.length, 1)
    assert.strictEqual(struct?.["files"].file.length, 1)
    assert.strictEqual(method?.["files"].file.length, 1)
    assert.strictEqual(missing?.["failure"].code, 5)
    assert.include(missing?.["failure"].message, "google.cloud.aiplatform.v1.Nothing")
    assert.strictEqual(extension?.["failure"].code, 5)
    assert.deepStrictEqual(numbers?.["numbers"], { type: "google.protobuf.Any" })
    assert.strictEqual(none?.["failure"].code, 3)
    assert.strictEqual((await failing(ask([Buffer.from([0xff])]))).code, 3)
  })
})

describe("connections that are kept", () => {
  /** A server that waits so many milliseconds for the answer to its ping, while it is asked. */
  const withPatience = async (pong: number, ask: (url: URL) => Promise<void>): Promise<void> => {
    const server = await startServer({ grpc: { port: 0 }, limits: { ping: 40, pong } })
    try {
      await ask(new URL(`http://${server.grpc?.address}`))
    } finally {
      await server.stop()
    }
  }

  /** The least that begins a connection of HTTP/2: the preface, and settings that change nothing. */
  const preface = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])])
  const ofPing = 6

  it("answers pings, and keeps clients that answer its own", () =>
    withPatience(120_000, async (url) => {
      const session = connect(url.origin)
      await once(session, "connect")
      const payload = Buffer.from("a  ping!")
      const answered = await new Promise<Buffer>((resolve, reject) => {
        session.on("error", reject)
        session.ping(payload, (error, _, answer) => error === null ? resolve(answer as Buffer) : reject(error))
      })
      assert.deepStrictEqual(answered, payload)
      let pings = 0
      await new Promise<void>((resolve, reject) => {
        session.on("close", () => reject(new Error("it was closed")))
        session.on("ping", () => {
          pings += 1
          if (pings === 5) resolve()
        })
      })
      await new Promise<void>((resolve) => session.removeAllListeners("close").close(resolve))
    }))

  it("closes those whose client no longer answers", () =>
    withPatience(60, async (url) => {
      const socket = connectTcp(Number(url.port), url.hostname)
      const frames: Array<number> = []
      let received = Buffer.alloc(0)
      await new Promise<void>((resolve, reject) => {
        socket.on("error", reject)
        socket.on("close", () => resolve())
        socket.on("data", (bytes: Buffer) => {
          received = Buffer.concat([received, bytes])
          while (received.length >= 9 && received.length >= 9 + received.readUIntBE(0, 3)) {
            frames.push(received.readUInt8(3))
            received = received.subarray(9 + received.readUIntBE(0, 3))
          }
        })
        socket.write(preface)
      })
      assert.include(frames, ofPing)
    }))
})
