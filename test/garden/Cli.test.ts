import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { sendGoogleError, sendJson } from "../fakes/Http.ts"
import { fakeVertex } from "../fakes/Vertex.ts"
import { startServer } from "../server/support/TestServer.ts"
import { events } from "../support/Finished.ts"
import { command } from "../support/Command.ts"
import { sluice } from "../support/Sluice.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { catalogText, modelServer } from "./Support.ts"

const gemma = "publishers/google/models/gemma3@gemma-3-1b-it"
const token = "canary-9b2e61d0-of-the-hub"

describe("sluice models and endpoints", () => {
  // Each command is here once, on one engine or the other.
  it.live("on this machine: deploy, predict, undeploy, delete", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      const model = yield* modelServer
      const run = (args: ReadonlyArray<string>, input?: string) =>
        Effect.promise(() => input === undefined ? command(args, { cwd }) : sluice(args, { cwd, input }))
      write(join(cwd, ".sluice"), { "models.yaml": catalogText(model.origin).replace("eula: true", "eula: yes please") })
      const invalid = yield* run(["models", "list"])
      assert.strictEqual(invalid.code, 1)
      assert.match(invalid.stderr, /\.sluice\/models\.yaml:7:11 {2}models\[0\]\.eula: Expected boolean/)
      write(join(cwd, ".sluice"), { "models.yaml": catalogText(model.origin) })
      const unread = yield* run(["models", "deploy", gemma])
      assert.deepStrictEqual([unread.code, unread.stdout], [1, ""])
      assert.match(unread.stderr, /error: model_config\.accept_eula: .* has not been accepted\nfix: .*--accept-eula/)
      const deployed = yield* run(["models", "deploy", gemma, "--accept-eula", "--endpoint-name", "chat", "--json"])
      assert.match(
        deployed.stderr,
        /^deploy publishers\/google\/models\/gemma3@gemma-3-1b-it on chat: g2-standard-12 \+ 1 x NVIDIA_L4, 1 replica; this engine only writes it down/
      )
      assert.deepInclude(events(deployed)[0], { version: 1, kind: "deploy", done: true })
      const asked = yield* run(
        ["endpoints", "predict", "chat", "--body", "-", "--content-type", "text/plain", "--stream"],
        "as it is, é\u0000"
      )
      assert.deepStrictEqual([asked.code, asked.stdout], [0, "as it is, é\u0000"])
      const failed = yield* run(["endpoints", "predict", "chat", "fail", "--json"])
      assert.strictEqual(failed.code, 1)
      assert.match(String(events(failed)[0]?.["deployedModelId"]), /^\d+$/)
      assert.deepInclude(events(failed)[0], {
        status: 422,
        contentType: "application/problem+json",
        body: "{\"detail\":\"no such prompt\"}"
      })

      assert.match((yield* run(["models", "undeploy", "chat"])).stdout, /^undeployed \d+ from projects\/local/)
      assert.match((yield* run(["endpoints", "delete", "chat"])).stdout, /^deleted projects\/local\/locations\/local\/endpoints\/\d+$/m)
    }).pipe(Effect.scoped))

  it.live("on Vertex AI: a plan before it costs, operations to follow, and a token that stays where it is", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      const model = yield* modelServer
      write(cwd, { "catalog.yaml": catalogText(model.origin), "hub.txt": `${token}\n` })
      const server = yield* Effect.acquireRelease(
        Effect.promise(() =>
          startServer({
            catalog: join(cwd, "catalog.yaml"),
            // The first deployment takes a moment; the second has no end in sight.
            faults: "faults: [{ method: deploy, at: 1, operation: 0.2 }, { method: deploy, at: 2, operation: 3600 }]"
          })
        ),
        (server) => Effect.promise(() => server.stop())
      )
      write(cwd, {
        "pipeline.yaml":
          `name: models\nengine: { vertex: { project: p1, location: us-central1, baseUrl: "${server.url}" } }\ncorpus: { displayName: M }\nsources: {}\n`
      })
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => sluice(args, { cwd, env: { SLUICE_HUB_TOKEN: token } }))
      const everything: Array<string> = []
      const ran = (...args: ReadonlyArray<string>) =>
        Effect.tap(run(...args), ({ stderr, stdout }) => Effect.sync(() => void everything.push(stdout, stderr)))

      const planned = yield* ran("models", "deploy", "google/gemma-2-2b-it", "--accept-eula")
      assert.deepStrictEqual([planned.code, planned.stdout], [4, ""])
      assert.strictEqual(
        planned.stderr,
        "deploy google/gemma-2-2b-it on an endpoint of its own: g2-standard-12 + 1 x NVIDIA_L4, 1 replica; it costs as long as it runs, also when nobody calls it\n" +
          "error: nothing was deployed\nfix: run it again with --yes to go ahead\n"
      )
      assert.deepStrictEqual((yield* Effect.promise(() => server.call("GET", "/v1/projects/p1/locations/us-central1/endpoints"))).body, {})

      const slow = yield* ran(
        "models",
        "deploy",
        "google/gemma-2-2b-it",
        "--hub-token-file",
        "hub.txt",
        "--accept-eula",
        "--yes",
        "--endpoint-name",
        "slow"
      )
      assert.strictEqual(slow.code, 0, slow.stderr)
      assert.match(slow.stdout, /^deployed projects\/p1\/.*\nendpoint: projects\/p1\//)
      const detached = yield* ran("models", "deploy", "google/gemma-2-2b-it", "--accept-eula", "--yes", "--async")
      const operation = /operation: (projects\/p1\/\S+\/operations\/(\d+))/.exec(detached.stdout)
      assert.match(detached.stdout, /^endpoint: projects\/p1\/locations\/us-central1\/endpoints\/sluice-[0-9a-f]{12}$/m)
      assert.include(detached.stdout, `sluice operations get ${operation?.[2]}`)
      const followed = yield* Effect.promise(() => server.call("GET", `/v1/${operation?.[1]}`))
      assert.notProperty(followed.body, "done")

      // An uploaded model, on an endpoint of one's own.
      assert.deepInclude(
        events(yield* ran("models", "upload", "mine", "--image", "us-docker.pkg.dev/p/r/i:1", "--id", "mine", "--json"))[0],
        { versionId: "1" }
      )
      assert.deepInclude(events(yield* ran("endpoints", "create", "own", "--label", "team=a", "--json"))[0], {
        displayName: "own",
        labels: { team: "a" }
      })
      const onOwn = yield* ran(
        "models",
        "deploy",
        "mine",
        "--endpoint",
        "own",
        "--machine-type",
        "n1-standard-4",
        "--traffic",
        "0=100",
        "--yes"
      )
      assert.deepStrictEqual([onOwn.code, onOwn.stdout.split(" ")[0]], [0, "deployed"], onOwn.stderr)
      const renamed = yield* ran("endpoints", "update", "own", "--name", "ours", "--label", "team=b", "--json")
      assert.deepInclude(events(renamed)[0], { displayName: "ours", labels: { team: "b" } })
      assert.match((yield* ran("endpoints", "list", "--filter", "labels.team=b")).stdout, /ours +mine \(\d+, 100%\) +n1-standard-4/)
      assert.deepStrictEqual((yield* ran("models", "delete", "mine")).stderr.split("\n")[0]?.includes("a deployed model"), true)
      assert.notInclude(everything.join("\n"), "canary-9b2e61d0")
    }).pipe(Effect.scoped))

  it.live("on Vertex AI: a deployment that fails, or is lost sight of, names its operation and what to do", () =>
    Effect.gen(function*() {
      const fake = yield* fakeVertex
      const cwd = yield* tempFolder
      write(cwd, {
        "pipeline.yaml":
          `name: models\nengine: { vertex: { project: p1, location: us-central1, baseUrl: "${fake.baseUrl}" } }\ncorpus: { displayName: M }\nsources: {}\n`
      })
      const name = "projects/p1/locations/us-central1/operations/9"
      const metadata = { "@type": "type.googleapis.com/google.cloud.aiplatform.v1beta1.DeployOperationMetadata" }
      let ended: object | undefined
      fake.handle = ({ method, path, response }) => {
        if (method === "POST") sendJson(response, 200, { name, metadata })
        else if (!path.includes("/operations/")) sendJson(response, 200, { name: gemma.split("@")[0], versionId: "gemma-3-1b-it" })
        else if (ended === undefined) sendGoogleError(response, 404, "Operation not found")
        else sendJson(response, 200, { name, metadata, done: true, ...ended })
        return true
      }
      const deploy = ["models", "deploy", gemma, "--machine-type", "g2-standard-12", "--accept-eula", "--yes"]
      const said = () => Effect.map(Effect.promise(() => command(deploy, { cwd })), ({ stderr }) => stderr.slice(stderr.indexOf("error: ")))
      assert.match(
        yield* said(),
        /^error: GetOperation .*404: Operation not found\nfix: the deployment may go on, and cost: sluice operations get 9; /
      )
      ended = { error: { code: 8, message: "no capacity" } }
      assert.strictEqual(
        yield* said(),
        "error: deployment 9 failed: no capacity\nfix: see what is left of it: sluice endpoints list\n"
      )
    }).pipe(Effect.scoped))
})
