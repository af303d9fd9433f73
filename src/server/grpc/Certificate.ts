import { createHash, createPrivateKey, generateKeyPairSync, randomBytes, sign, X509Certificate } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { isIP } from "node:net"
import { join } from "node:path"
import { createSecureContext } from "node:tls"
import { Result } from "effect"
import { ServiceError } from "../../domain/Errors.ts"

/** A certificate and its key, both in PEM format. */
export interface Certificate {
  readonly cert: string
  readonly key: string
  /** File of the certificate, for clients to trust. */
  readonly file: string
}

/** Days for which a certificate made here is valid. It is replaced when fewer than `renewed` days are left. */
const days = 397
const renewed = 30
const day = 86_400_000

/** The operator's certificate, from its two files. */
export const givenCertificate = (cert: string, key: string): Result.Result<Certificate, ServiceError> =>
  Result.flatMap(
    Result.all({ cert: read("--grpc-tls-cert", cert), key: read("--grpc-tls-key", key) }),
    (pair) =>
      Result.try({
        try: () => {
          createSecureContext(pair)
          return { ...pair, file: cert }
        },
        // The message of OpenSSL is left out: it could contain part of a key.
        catch: () =>
          ServiceError.invalid(
            "--grpc-tls-cert",
            `${cert} is not a PEM certificate with ${key} as its key`,
            "name the two files of one pair"
          )
      })
  )

const read = (flag: string, file: string): Result.Result<string, ServiceError> =>
  Result.try({ try: () => readFileSync(file, "utf8"), catch: () => ServiceError.invalid(flag, `${file} cannot be read`) })

/** The self-signed certificate of a folder. It is made where none is there that is valid for these hosts for some time to come. */
export const ownCertificate = (folder: string, hosts: ReadonlyArray<string>, now: number): Certificate => {
  const file = join(folder, "grpc-cert.pem")
  const keyFile = join(folder, "grpc-key.pem")
  if (existsSync(file) && existsSync(keyFile)) {
    const pair = { cert: readFileSync(file, "utf8"), key: readFileSync(keyFile, "utf8"), file }
    if (isGood(pair, hosts, now)) return pair
  }
  const { cert, key } = selfSigned(hosts, now)
  mkdirSync(folder, { recursive: true })
  writeFileSync(keyFile, key, { mode: 0o600 })
  writeFileSync(file, cert)
  return { cert, key, file }
}

const isGood = ({ cert, key }: Certificate, hosts: ReadonlyArray<string>, now: number): boolean => {
  try {
    const made = new X509Certificate(cert)
    return made.checkPrivateKey(createPrivateKey(key)) && Date.parse(made.validTo) > now + renewed * day &&
      hosts.every((host) => (isIP(host) === 0 ? made.checkHost(host) : made.checkIP(host)) !== undefined)
  } catch {
    return false
  }
}

/**
 * A self-signed certificate for some names and addresses. Source of its format: RFC 5280. `node:crypto` makes the keys and the
 * signature, but has no function that makes certificates.
 */
export const selfSigned = (hosts: ReadonlyArray<string>, now: number): Pick<Certificate, "cert" | "key"> => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const spki = publicKey.export({ type: "spki", format: "der" })
  const name = sequence(set(sequence(oid("2.5.4.3"), utf8("sluice serve"))))
  const ecdsaSha256 = sequence(oid("1.2.840.10045.4.3.2"))
  const names = hosts.map((host) => isIP(host) === 0 ? der(0x82, Buffer.from(host, "ascii")) : der(0x87, addressBytes(host)))
  const keyId = createHash("sha1").update(spki).digest()
  const extensions = sequence(
    // It is marked as an authority: clients that check the chain require that of its root.
    extension("2.5.29.19", sequence(der(0x01, Buffer.from([0xff]))), true),
    // digitalSignature and keyCertSign
    extension("2.5.29.15", der(0x03, Buffer.from([0x02, 0x84])), true),
    extension("2.5.29.37", sequence(oid("1.3.6.1.5.5.7.3.1"))),
    extension("2.5.29.17", sequence(...names)),
    extension("2.5.29.14", der(0x04, keyId))
  )
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([0x40]), randomBytes(15)])),
    ecdsaSha256,
    name,
    // Valid since an hour ago, because clocks differ.
    sequence(time(now - 3_600_000), time(now + days * day)),
    name,
    spki,
    der(0xa3, extensions)
  )
  const signature = sign("sha256", body, privateKey)
  const whole = sequence(body, ecdsaSha256, der(0x03, Buffer.concat([Buffer.from([0]), signature])))
  const lines = whole.toString("base64").replaceAll(/.{64}/g, "$&\n").trimEnd()
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString()
  }
}

/** A value in DER: tag, length, content. */
const der = (tag: number, content: Buffer): Buffer => {
  const { length } = content
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...head]), content])
}

const sequence = (...items: ReadonlyArray<Buffer>): Buffer => der(0x30, Buffer.concat(items))
const set = (item: Buffer): Buffer => der(0x31, item)
const integer = (bytes: Buffer): Buffer => der(0x02, bytes)
const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text, "utf8"))

/** A UTCTime, which can express years up to 2049. */
const time = (at: number): Buffer => der(0x17, Buffer.from(new Date(at).toISOString().replace(/^20|[-:T]|\.\d+/g, ""), "ascii"))

const oid = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number)
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

const base128 = (n: number): ReadonlyArray<number> => {
  const digits = [n & 0x7f]
  for (let left = n >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80)
  return digits
}

const extension = (id: string, value: Buffer, critical = false): Buffer =>
  sequence(oid(id), ...(critical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value))

/** The bytes of an address: four for IPv4, sixteen for IPv6. */
const addressBytes = (address: string): Buffer => {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number))
  // The URL parser writes an embedded IPv4 address in hexadecimal too.
  const [head = "", tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::")
  const groups = (part: string | undefined): ReadonlyArray<string> => part === undefined || part === "" ? [] : part.split(":")
  const [before, after] = [groups(head), groups(tail)]
  const all = [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after]
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex")
}
