import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { HttpClientError, HttpClientRequest } from "effect/http"
import { errorOfBody, retryAfterOf, transportErrorOf } from "../../src/net/HttpErrors.ts"
import { redactText, redactUrl } from "../../src/domain/Redact.ts"

const of = (status: number, body: unknown) =>
  errorOfBody("the service", { status, body: typeof body === "string" ? body : JSON.stringify(body) })

describe("errorOfBody", () => {
  it("reads google.rpc.Status with its details, also as the one item of an array", () => {
    const body = {
      error: {
        code: 400,
        message: "Request contains an invalid argument.",
        status: "FAILED_PRECONDITION",
        details: [
          { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "SERVICE_DISABLED", domain: "googleapis.com" },
          { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [{ field: "a.b", description: "is bad" }] },
          { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1.5s" }
        ]
      }
    }
    for (const each of [body, [body]]) {
      const error = of(400, each)
      assert.deepInclude(error, {
        code: "FAILED_PRECONDITION",
        message: "the service answered 400: Request contains an invalid argument.",
        reason: "SERVICE_DISABLED",
        retryAfter: 1500
      })
      assert.deepStrictEqual(error.violations, [{ field: "a.b", description: "is bad" }])
    }
  })

  it("reads OpenAI's errors, and knows a used-up quota", () => {
    const error = of(429, {
      error: { message: "You exceeded your quota", type: "insufficient_quota", code: "insufficient_quota", param: null }
    })
    assert.deepInclude(error, { code: "RESOURCE_EXHAUSTED", reason: "insufficient_quota" })
    assert.match(error.fix ?? "", /quota/)
    assert.strictEqual(of(404, { error: "model 'x' not found" }).message, "the service answered 404: model 'x' not found")
  })

  it("bears bodies of any kind, cut and with nothing of a page in them", () => {
    assert.strictEqual(of(502, "<html><body>Bad gateway</body></html>").message, "the service answered 502")
    assert.strictEqual(of(502, "<html>").code, "UNAVAILABLE")
    assert.isBelow(of(500, "x".repeat(10_000)).message.length, 600)
    for (
      const body of [
        "",
        "null",
        "[]",
        "[1]",
        "3",
        "{\"error\":null}",
        "{\"error\":{\"details\":\"x\"}}",
        "{\"error\":{\"details\":[null,1]}}"
      ]
    ) of(418, body)
  })

  it("maps statuses to codes that are tried again or not", () => {
    const retryable = [408, 409, 429, 500, 502, 503, 504, 529]
    for (const status of retryable) assert.isTrue(of(status, "").retryable, String(status))
    for (const status of [307, 400, 401, 403, 404, 413, 422, 501].filter((status) => status >= 400)) {
      assert.isFalse(of(status, "").retryable, String(status))
    }
  })
})

describe("transportErrorOf", () => {
  it("names the host once", () => {
    const request = HttpClientRequest.get("http://127.0.0.1:1/v1/x?key=secret")
    const error = new HttpClientError.HttpClientError({
      reason: new HttpClientError.TransportError({ request, cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }) })
    })
    const said = "could not be reached or broke off (ECONNREFUSED)"
    assert.strictEqual(transportErrorOf("ListRagCorpora of 127.0.0.1:1", error).message, `ListRagCorpora of 127.0.0.1:1 ${said}`)
    assert.strictEqual(transportErrorOf("the listing", error).message, `the listing at 127.0.0.1:1 ${said}`)
  })
})

describe("retryAfterOf", () => {
  it("reads milliseconds, seconds and dates", () => {
    const now = Date.UTC(2026, 0, 1)
    assert.strictEqual(retryAfterOf({ "retry-after-ms": "20", "retry-after": "9" }, now), 20)
    assert.strictEqual(retryAfterOf({ "retry-after": "2" }, now), 2000)
    assert.strictEqual(retryAfterOf({ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, now), 30_000)
    assert.strictEqual(retryAfterOf({ "retry-after": "Thu, 01 Jan 2015 00:00:30 GMT" }, now), 0)
    for (const value of ["soon", "-3", ""]) assert.isUndefined(retryAfterOf({ "retry-after": value }, now))
  })
})

describe("redaction", () => {
  it("takes keys, given secrets and controls out of text", () => {
    const secret = Redacted.make("correct horse")
    const text = redactText("key sk-abc***xyz1, Bearer abcdef123456, AIzaSyA1234567890, correct horse\u001b[31m!", [secret])
    for (const part of ["sk-abc", "xyz1", "abcdef123456", "AIzaSy", "correct horse", "\u001b"]) assert.notInclude(text, part)
    assert.include(text, "key <redacted>")
    assert.strictEqual(redactText("a task-oriented basic model"), "a task-oriented basic model")
    assert.strictEqual(
      redactText("cannot reach postgres://app:hunter2@db:5432/docs, nor https://host/a?api_key=SECRET&page=2 (see git@host:docs.git)"),
      "cannot reach postgres://app:<redacted>@db:5432/docs, nor https://host/a?api_key=<redacted>&page=2 (see git@host:docs.git)"
    )
  })

  it("takes user info and credentials out of addresses", () => {
    const url = redactUrl("https://me:pw@host/a?key=SECRET1&page=2&X-Goog-Signature=SECRET2#SECRET3")
    for (const part of ["me:", "pw", "SECRET"]) assert.notInclude(url, part)
    assert.include(url, "page=2")
    assert.notInclude(redactUrl("no url SECRET"), "SECRET")
  })
})
