import { createServer, type Server } from "node:https"
import type { RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { getCACertificates, setDefaultCACertificates } from "node:tls"

/** Of friend.test, mirror.test and inside.test, which exist nowhere; signed by itself, and known only to these tests. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIBujCCAV+gAwIBAgIUFsuCGmz6UpbmemgxARJDoeeAW14wCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMc2x1aWNlLXRlc3RzMCAXDTI2MTEyMTIwMDM1OFoYDzIxMjYx
MDI4MjAwMzU4WjAXMRUwEwYDVQQDDAxzbHVpY2UtdGVzdHMwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAASDcdbgnptxggPikY/V7booiAgfCXtTN1sUlblJszsW3hUs
EY5iDO6MsdbC8GBKNjeGgtAHgHVH0W4TSq487WyEo4GGMIGDMB0GA1UdDgQWBBRI
BWKMICwAQEi9fV0Wh378c7po2jAfBgNVHSMEGDAWgBRIBWKMICwAQEi9fV0Wh378
c7po2jAPBgNVHRMBAf8EBTADAQH/MDAGA1UdEQQpMCeCC2ZyaWVuZC50ZXN0ggtt
aXJyb3IudGVzdIILaW5zaWRlLnRlc3QwCgYIKoZIzj0EAwIDSQAwRgIhAKgl1CwP
z9Li7B8bxoIUiUchPvS0nz49bYFsvxe/8sxtAiEAr2uhNCkuszg95oO5+U46QPHZ
i1dC6bnaQRl43LA1gbk=
-----END CERTIFICATE-----`
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJ5BqEzsZ3tVEJCtG
MI+InyxTMfFypqjpIszBksUiSfehRANCAASDcdbgnptxggPikY/V7booiAgfCXtT
N1sUlblJszsW3hUsEY5iDO6MsdbC8GBKNjeGgtAHgHVH0W4TSq487WyE
-----END PRIVATE KEY-----`

/** A server over TLS on a free port of this machine, trusted by this process from now on. */
export const httpsServer = async (listener: RequestListener): Promise<{ readonly server: Server; readonly port: number }> => {
  setDefaultCACertificates([...new Set([...getCACertificates("default"), certificate])])
  const server = createServer({ key, cert: certificate }, listener)
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  return { server, port: (server.address() as AddressInfo).port } // it listens on a port, not on a pipe
}
