import { execFile, spawnSync } from "node:child_process"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { leave, putObjects, startServer, type TestServer, travel } from "./support/TestServer.ts"
import { until } from "../support/Eventually.ts"

let server: TestServer
let corpus: string
beforeAll(async () => {
  server = await startServer({ limits: { upload: 1024 * 1024 } })
  corpus = await server.corpus()
})
afterAll(() => server.stop())

const uploadPath = () => `/upload/v1beta1/${corpus}/ragFiles:upload`
const files = async (): Promise<ReadonlyArray<string>> => {
  const { body } = await server.call("GET", `/v1beta1/${corpus}/ragFiles?pageSize=1000`)
  return (body.ragFiles ?? []).map((file: { displayName: string }) => file.displayName)
}

const curl = spawnSync("curl", ["--version"])
if (curl.error !== undefined) console.warn("curl is not here: the documented curl uploads were NOT tested")

describe.skipIf(curl.error !== undefined)("curl, as the documentation shows it", () => {
  const run = (...args: ReadonlyArray<string>) =>
    new Promise<Record<string, { readonly displayName: string; readonly description: string }>>((resolve, reject) =>
      execFile("curl", ["-sS", "-m", "180", ...args], (error, stdout) => (error === null ? resolve(JSON.parse(stdout)) : reject(error)))
    )

  it("uploads with metadata in single quotes", async () => {
    const file = join(server.folder, "leave.txt")
    writeFileSync(file, leave)
    const answer = await run(
      "-X",
      "POST",
      "-H",
      "X-Goog-Upload-Protocol: multipart",
      "-H",
      "Authorization: Bearer t",
      "-F",
      "metadata={'rag_file': {'display_name':'Leave rules', 'description':'Of the house'}}",
      "-F",
      `file=@${file}`,
      `${server.url}${uploadPath()}`
    )
    assert.strictEqual(answer["ragFile"]?.displayName, "Leave rules")
    assert.strictEqual(answer["ragFile"]?.description, "Of the house")
  })

  it("creates with a JSON body that has a trailing comma", async () => {
    const answer = await run(
      "-X",
      "POST",
      "-H",
      "Content-Type: application/json; charset=utf-8",
      "-d",
      `{"display_name" : "Trailing", "description": "comma",}`,
      `${server.url}/v1beta1/projects/p1/locations/us-central1/ragCorpora`
    )
    assert.strictEqual(answer["response"]?.displayName, "Trailing")
  })
})

describe("where a file came from", () => {
  it("is the upload itself, though it is called like an object that others import", async () => {
    putObjects(server, { "origin/leave.md": travel })
    const uris = ["gs://docs/origin/leave.md", "https://drive.google.com/open?id=1AbC", "https://docs.google.com/document/d/1AbC/edit"]
    const origin = await server.corpus("origin")
    for (const uri of uris) {
      const { body } = await server.upload(origin, uri, leave)
      assert.deepStrictEqual([body.ragFile.displayName, body.ragFile.directUploadSource], [uri, {}])
    }
    const { body } = await server.call("POST", `/v1/${origin}/ragFiles:import`, {
      importRagFilesConfig: { gcsSource: { uris: uris.slice(0, 1) } }
    })
    // What was uploaded under the name is another file, and neither kept from being imported nor replaced.
    assert.strictEqual((await server.done(body.name)).body.response.importedRagFilesCount, "1")
    const { body: { ragFiles } } = await server.call("GET", `/v1/${origin}/ragFiles?pageSize=100`)
    assert.deepStrictEqual(
      ragFiles.filter((file: { gcsSource?: object }) => file.gcsSource !== undefined)
        .map((file: { displayName: string; gcsSource: object }) => [file.displayName, file.gcsSource]),
      [["leave.md", { uris: uris.slice(0, 1) }]]
    )
    assert.sameMembers(
      ragFiles.filter((file: { directUploadSource?: object }) => file.directUploadSource !== undefined)
        .map((file: { displayName: string }) => file.displayName),
      uris
    )
  })
})

describe("whole uploads", () => {
  const post = (contentType: string, body: string) => server.call("POST", uploadPath(), body, { "content-type": contentType })

  it("come as multipart/related", async () => {
    const { body } = await post(
      "multipart/related; boundary=\"b-1\"",
      `--b-1\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{"ragFile":{"displayName":"related.md"}}\r\n--b-1\r\nContent-Type: text/markdown\r\n\r\n${leave}\r\n--b-1--`
    )
    assert.strictEqual(body.ragFile.displayName, "related.md")
    assert.strictEqual(body.ragFile.sizeBytes, String(Buffer.byteLength(leave)))
  })

  it("chunk as they are told", async () => {
    const { body } = await post(
      "multipart/form-data; boundary=b",
      `--b\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n{'rag_file': {'display_name': 'x'}, 'upload_rag_file_config': {'rag_file_transformation_config': {'rag_file_chunking_config': {'fixed_length_chunking': {'chunk_size': 0, 'chunk_overlap': 10}}}}}\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="f.txt"\r\n\r\nhello\r\n--b--\r\n`
    )
    assert.strictEqual(body.ragFile?.displayName, "x")
    const bad = await post(
      "multipart/form-data; boundary=b",
      `--b\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n{'rag_file': {'display_name': 'x'}, 'upload_rag_file_config': {'rag_file_transformation_config': {'rag_file_chunking_config': {'fixed_length_chunking': {'chunk_size': 10, 'chunk_overlap': 10}}}}}\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="f.txt"\r\n\r\nhello\r\n--b--\r\n`
    )
    assert.strictEqual(bad.status, 400)
    assert.match(bad.body.error.details[0].fieldViolations[0].field, /chunk_overlap$/)
  })

  it("of documents nobody can read are answered with the reason", async () => {
    const { body, status } = await server.upload(corpus, "broken.docx", new Uint8Array([0x50, 0x4b, 3, 4, 1, 2, 3]))
    assert.strictEqual(status, 200)
    assert.strictEqual(body.error.code, 3)
    const empty = await server.call("POST", `/v1/${corpus}/ragFiles:upload`, { ragFile: { displayName: "no bytes" } })
    assert.strictEqual(empty.status, 200)
    assert.strictEqual(empty.body.error.code, 3)
  })

  it("are refused where they are malformed, too large, or for no corpus", async () => {
    for (
      const body of [
        "",
        "--b",
        "--b\r\n",
        "--b\r\n\r\n",
        "--b--",
        "nothing",
        `--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--b--`
      ]
    ) {
      assert.strictEqual((await post("multipart/form-data; boundary=b", body)).status, 400, JSON.stringify(body))
    }
    assert.strictEqual((await post("multipart/form-data", "x")).status, 400)
    const large = await server.upload(corpus, "large.txt", "x".repeat(1024 * 1024 + 1))
    assert.match(JSON.stringify(large.body.error), /larger than the limit/)
    const huge = await server.upload(corpus, "huge.txt", "x".repeat(3 * 1024 * 1024))
    assert.strictEqual(huge.status, 400)
    const nowhere = await server.upload(corpus.replace(/\d+$/, "404"), "x.txt", "x")
    assert.strictEqual(nowhere.status, 404)
  })
})

describe("resumable uploads", () => {
  const begin = async (displayName: string): Promise<string> => {
    const response = await fetch(`${server.url}${uploadPath()}`, {
      method: "POST",
      headers: {
        "x-goog-upload-protocol": "resumable",
        "x-goog-upload-command": "start",
        "x-goog-upload-header-content-length": String(leave.length),
        "x-goog-upload-header-content-type": "text/markdown",
        "content-type": "application/json"
      },
      body: JSON.stringify({ ragFile: { displayName } })
    })
    assert.strictEqual(response.headers.get("x-goog-upload-status"), "active")
    return response.headers.get("x-goog-upload-url") ?? ""
  }
  const send = (url: string, command: string, offset: number, body = "") =>
    fetch(url, { method: "POST", headers: { "x-goog-upload-command": command, "x-goog-upload-offset": String(offset) }, body })

  it("go in pieces", async () => {
    const url = await begin("pieces.md")
    const first = await send(url, "upload", 0, leave.slice(0, 20))
    assert.strictEqual(first.headers.get("x-goog-upload-status"), "active")
    const query = await send(url, "query", 0)
    assert.strictEqual(query.headers.get("x-goog-upload-size-received"), "20")
    assert.strictEqual((await send(url, "upload", 5, "x")).status, 400)
    const last = await send(url, "upload, finalize", 20, leave.slice(20))
    assert.strictEqual(last.headers.get("x-goog-upload-status"), "final")
    const body = await last.json() as { ragFile: { displayName: string; sizeBytes: string } }
    assert.strictEqual(body.ragFile.displayName, "pieces.md")
    assert.strictEqual(body.ragFile.sizeBytes, String(leave.length))
  })

  it("answer a client that did not hear of the end, and make no second file", async () => {
    const url = await begin("twice.md")
    const first = await (await send(url, "upload, finalize", 0, leave)).json()
    const again = await (await send(url, "upload, finalize", 0, leave)).json()
    assert.deepStrictEqual(again, first)
    assert.strictEqual((await files()).filter((name) => name === "twice.md").length, 1)
  })

  it("keep what came before the connection broke", async () => {
    const url = new URL(await begin("broken.md"))
    const arrived = () =>
      until("30 bytes have arrived", async () => (await send(url.href, "query", 0)).headers.get("x-goog-upload-size-received") === "30")
    await new Promise<void>((resolve) => {
      const socket = connect(server.port, "127.0.0.1", () => {
        socket.write(
          `POST ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nX-Goog-Upload-Command: upload, finalize\r\nX-Goog-Upload-Offset: 0\r\nContent-Length: ${leave.length}\r\n\r\n${
            leave.slice(0, 30)
          }`,
          () =>
            void arrived().then(() => {
              socket.destroy()
              resolve()
            })
        )
      })
    })
    const query = await send(url.href, "query", 0)
    assert.strictEqual(query.headers.get("x-goog-upload-size-received"), "30")
    const end = await send(url.href, "upload, finalize", 30, leave.slice(30))
    const body = await end.json() as { ragFile: { sizeBytes: string } }
    assert.strictEqual(body.ragFile.sizeBytes, String(leave.length))
    assert.strictEqual((await files()).filter((name) => name === "broken.md").length, 1)
  })

  it("go on where they were when the server is started again, and make one file whenever it ended", async () => {
    const first = await startServer()
    const name = await first.corpus()
    const sessions = join(first.folder, "data/server/uploads")
    const begun = await fetch(`${first.url}/upload/v1beta1/${name}/ragFiles:upload`, {
      method: "POST",
      headers: { "x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start" },
      body: JSON.stringify({ ragFile: { displayName: "restarted.md", description: "of two servers" } })
    })
    const url = begun.headers.get("x-goog-upload-url") ?? ""
    await send(url, "upload", 0, leave.slice(0, 25))
    const second = await first.restart()
    const at = (to: TestServer) => url.replace(first.url, to.url)
    const query = await send(at(second), "query", 0)
    assert.strictEqual(query.headers.get("x-goog-upload-size-received"), "25")
    const answer = await (await send(at(second), "upload, finalize", 25, leave.slice(25))).json() as { ragFile: Record<string, string> }
    assert.deepInclude(answer.ragFile, { displayName: "restarted.md", description: "of two servers", sizeBytes: String(leave.length) })
    assert.deepStrictEqual(readdirSync(sessions).map((file) => file.replace(/^.*\./, "")), ["json"])

    // As if the server had ended after it stored the file, and before it wrote down that it had.
    const [file = ""] = readdirSync(sessions)
    const { outcome: _, ...kept } = JSON.parse(readFileSync(join(sessions, file), "utf8"))
    writeFileSync(join(sessions, file), JSON.stringify(kept))
    writeFileSync(join(sessions, file.replace(".json", ".bytes")), leave)
    const third = await second.restart()
    try {
      const active = await send(at(third), "query", 0)
      assert.strictEqual(active.headers.get("x-goog-upload-size-received"), String(leave.length))
      const again = await Promise.all([1, 2].map(async () => (await send(at(third), "upload, finalize", leave.length)).json()))
      assert.deepStrictEqual(again, [answer, answer])
      const { body } = await third.call("GET", `/v1beta1/${name}/ragFiles`)
      assert.deepStrictEqual(body.ragFiles, [answer.ragFile])
    } finally {
      await third.stop()
    }
  })

  it("can be cancelled, and are not to be guessed", async () => {
    const url = await begin("cancelled.md")
    assert.strictEqual((await send(url, "cancel", 0)).headers.get("x-goog-upload-status"), "cancelled")
    assert.strictEqual((await send(url, "query", 0)).status, 404)
    assert.strictEqual((await send(url.replace(/upload_id=[^&]+/, "upload_id=1"), "upload", 0, "x")).status, 404)
  })

  it("are refused when they say they are too large", async () => {
    const { status } = await server.call("POST", uploadPath(), { ragFile: { displayName: "x" } }, {
      "x-goog-upload-protocol": "resumable",
      "x-goog-upload-command": "start",
      "x-goog-upload-header-content-length": "26214401"
    })
    assert.strictEqual(status, 400)
  })
})
