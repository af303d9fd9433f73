import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpClient } from "effect/http"
import { transportErrorOf } from "../../src/net/HttpErrors.ts"
import { layer } from "../../src/net/Http.ts"
import { hostsAt } from "../../src/domain/HttpAddress.ts"
import { isPublic } from "../../src/net/PublicAddress.ts"
import { fakeServer } from "../fakes/Http.ts"

describe("PublicAddress", () => {
  it("tells public addresses from all others", () => {
    const others = [
      "0.0.0.0",
      "10.1.2.3",
      "100.64.0.1",
      "100.127.255.255",
      "127.0.0.1",
      "127.255.0.9",
      "168.63.129.16",
      "169.254.169.254",
      "172.16.0.1",
      "172.31.255.255",
      "192.0.0.192",
      "192.0.2.1",
      "192.168.1.1",
      "198.18.0.1",
      "198.51.100.1",
      "203.0.113.1",
      "224.0.0.1",
      "255.255.255.255",
      "::",
      "::1",
      "::ffff:127.0.0.1",
      "::ffff:a9fe:a9fe",
      "::127.0.0.1",
      "64:ff9b::10.0.0.1",
      "64:ff9b:1::1",
      "100::1",
      "2001::1",
      "2001:db8::1",
      "2002:7f00:1::",
      "3fff::1",
      "5f00::1",
      "fc00::1",
      "fd00:ec2::254",
      "fe80::1",
      "fe80::1%eth0",
      "fec0::1",
      "ff02::1",
      "",
      "nonsense",
      "2130706433",
      "0x7f000001",
      "0177.0.0.1",
      "127.1"
    ]
    for (const address of others) assert.isFalse(isPublic(address), address)
    const fine = [
      "8.8.8.8",
      "1.1.1.1",
      "100.128.0.1",
      "172.32.0.1",
      "192.0.1.1",
      "::ffff:8.8.8.8",
      "64:ff9b::8.8.8.8",
      "2606:4700::1111",
      "2a00:1450::1"
    ]
    for (const address of fine) assert.isTrue(isPublic(address), address)
  })

  const refusal = (url: string) => HttpClient.get(url).pipe(Effect.flip, Effect.map((error) => transportErrorOf("the page", error)))

  it.live("goes only where the one vetted answer leads, after redirects too", () =>
    Effect.gen(function*() {
      const site = yield* fakeServer(({ url }, response) =>
        void (url.pathname === "/page"
          ? response.end("page")
          : response.writeHead(302, { location: Buffer.from(url.pathname.slice(1), "base64url").toString() }).end())
      )
      const { port } = new URL(site.origin)
      const asked: Array<string> = []
      const names: Record<string, ReadonlyArray<string>> = {
        "friend.test": ["127.0.0.1"],
        "inside.test": ["127.0.0.1"],
        "both.test": ["93.184.215.14", "10.0.0.1"],
        "empty.test": []
      }
      const resolve = (host: string) => {
        asked.push(host)
        return Promise.resolve((names[host] ?? []).map((address) => ({ address, family: 4 })))
      }
      yield* Effect.gen(function*() {
        assert.strictEqual(yield* Effect.flatMap(HttpClient.get(`http://friend.test:${port}/page`), (response) => response.text), "page")
        for (const target of ["inside.test", "both.test", "empty.test", "127.0.0.1", "[::1]", "0x7f000001", "2130706433"]) {
          const direct = yield* refusal(`http://${target}:${port}/page`)
          assert.deepInclude(direct, { code: "PERMISSION_DENIED" }, target)
          assert.notInclude(direct.message, "10.0.0.1")
          const hop = Buffer.from(`http://${target}:${port}/page`).toString("base64url")
          assert.deepInclude(yield* refusal(`http://friend.test:${port}/${hop}`), { code: "PERMISSION_DENIED" }, target)
        }
      }).pipe(Effect.provide(layer({ publicOnly: { allowHosts: ["friend.test"], resolve } })))
      assert.deepStrictEqual(asked.filter((host) => host === "both.test").length, 2)
      assert.strictEqual(site.asked.filter(({ url }) => url.pathname === "/page").length, 1)
    }).pipe(Effect.scoped))

  it.live("an allowed host with a port is allowed on that port alone", () =>
    Effect.gen(function*() {
      const one = yield* fakeServer((_, response) => void response.end("one"))
      const other = yield* fakeServer((_, response) => void response.writeHead(302, { location: one.origin }).end())
      const allowHosts = [new URL(other.origin).host]
      const got = yield* Effect.gen(function*() {
        return [yield* refusal(one.origin), yield* refusal(other.origin)]
      }).pipe(Effect.provide(layer({ publicOnly: { allowHosts } })))
      for (const error of got) assert.deepInclude(error, { code: "PERMISSION_DENIED" })
      assert.deepStrictEqual([one.asked.length, other.asked.length], [0, 1])
    }).pipe(Effect.scoped))

  it("hosts are compared as clients read addresses", () => {
    const isAt = hostsAt(["Jira.Acme.example", "127.0.0.1:8080", "::1", "[::1]:9", "weaviate:443"])
    const yes = [
      "https://jira.acme.example/x",
      "http://JIRA.acme.example:99",
      "http://127.1:8080",
      "http://0x7f000001:8080/",
      "http://[0::1]:5",
      "https://weaviate"
    ]
    const no = [
      "https://jira.acme.example./",
      "https://a.jira.acme.example",
      "https://jira.acme.example.evil.example",
      "http://127.0.0.1:8081",
      "http://127.0.0.1",
      "http://[::ffff:127.0.0.1]:8080",
      "http://weaviate",
      "http://weaviate:8443"
    ]
    for (const address of yes) assert.isTrue(isAt(new URL(address)), address)
    for (const address of no) assert.isFalse(isAt(new URL(address)), address)
  })

  it.live("asks for a name once a connection, so that a second answer cannot lead elsewhere", () =>
    Effect.gen(function*() {
      let answers = 0
      const resolve = () => Promise.resolve([{ address: ["127.0.0.1", "93.184.215.14"][answers++] ?? "127.0.0.1", family: 4 }])
      const error = yield* refusal("http://rebind.test:1/").pipe(Effect.provide(layer({ publicOnly: { resolve } })))
      assert.deepInclude(error, { code: "PERMISSION_DENIED" })
      assert.strictEqual(answers, 1)
    }))
})
