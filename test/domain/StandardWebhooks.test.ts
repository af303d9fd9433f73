import { assert, it } from "vitest"
import { standardSignature } from "../../src/domain/StandardWebhooks.ts"

it("signs as the libraries of Standard Webhooks do", () => {
  // What each of them is tested with.
  const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: "1614265330", body: `{"test": 2432232314}` }
  assert.strictEqual(
    standardSignature(message, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
  )
  assert.strictEqual(
    standardSignature({ ...message, body: Buffer.from(message.body) }, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
  )
  // Another key, and one that is no base64.
  assert.notStrictEqual(standardSignature(message, "plain key"), standardSignature(message, "whsec_plain key"))
})
