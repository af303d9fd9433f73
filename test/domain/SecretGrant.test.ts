import { assert, describe, it } from "vitest"
import { SecretVersion } from "../../src/domain/Secret.ts"
import { refuseSecret, secretGrant } from "../../src/domain/SecretGrant.ts"

describe("what callers may have sent", () => {
  it("is written as a secret and a host", () => {
    assert.deepStrictEqual(secretGrant("jira=acme.atlassian.net"), { secret: "jira", host: "acme.atlassian.net" })
    assert.deepStrictEqual(secretGrant("projects/p/secrets/db/versions/3=127.0.0.1:8080"), {
      secret: "projects/p/secrets/db/versions/3",
      host: "127.0.0.1:8080"
    })
    assert.strictEqual(secretGrant("projects/p/locations/l/secrets/db=[::1]:8080")?.host, "[::1]:8080")
    for (
      const text of [
        "jira",
        "jira=",
        "=acme.atlassian.net",
        "jira=https://acme.atlassian.net",
        "jira=acme.atlassian.net/path",
        "jira=user@acme.atlassian.net",
        "jira=*.atlassian.net:http",
        "a/b=acme.atlassian.net",
        "my secret=acme.atlassian.net"
      ]
    ) assert.isUndefined(secretGrant(text), text)
  })

  it("goes to the port that was named, and to any where none was", () => {
    const refused = (host: string, to: string) =>
      refuseSecret([{ secret: "s", host }], SecretVersion.make("projects/p/secrets/s/versions/1"), new URL(to), "key")?.code
    assert.isUndefined(refused("Acme.example", "https://acme.example:8443/x"))
    assert.isUndefined(refused("acme.example:443", "https://acme.example"))
    assert.strictEqual(refused("acme.example:443", "https://acme.example:8443"), "PERMISSION_DENIED")
    assert.strictEqual(refused("acme.example", "https://a.acme.example"), "PERMISSION_DENIED")
    assert.strictEqual(refused("acme.example", "https://acme.example."), "PERMISSION_DENIED")
  })
})
