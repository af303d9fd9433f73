import { createHmac } from "node:crypto"

/** The signed parts of a message: its `webhook-id`, its `webhook-timestamp` (seconds since 1970) and its body. */
export interface SignedMessage {
  readonly id: string
  readonly timestamp: string
  readonly body: string | Uint8Array
}

/**
 * The `webhook-signature` of a message, as in Standard Webhooks (www.standardwebhooks.com): `v1,` and the base64 of the
 * HMAC-SHA256 of `id.timestamp.body`.
 */
export const standardSignature = ({ body, id, timestamp }: SignedMessage, key: string): string =>
  `v1,${createHmac("sha256", keyBytes(key)).update(`${id}.${timestamp}.`).update(body).digest("base64")}`

/** Keys made for Standard Webhooks are base64 after `whsec_`; other keys are used as bytes. */
const keyBytes = (key: string): Uint8Array =>
  key.startsWith("whsec_") ? Buffer.from(key.slice("whsec_".length), "base64") : Buffer.from(key)
