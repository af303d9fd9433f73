import { Redacted } from "effect"

/** Replacement for text that must not be printed. */
const mask = "<redacted>"

const credentialHeader = /^(?:authorization|proxy-authorization|cookie|set-cookie)$|key|token|secret|password|signature|credential/i
const credentialParameter = /key|token|secret|password|passwd|signature|credential|^sig$|^auth$|^code$/i

// Shapes of keys that services repeat in error bodies: "Incorrect API key provided: sk-ab***cd".
const keyShapes =
  /\b(?:sk|pk|rk|hf|xox[a-z]|gh[a-z]|glpat|ya29|pcsk)[-_.][\w.*-]{4,}|\bAIza[\w-]{10,}|\beyJ[\w-]{8,}(?:\.[\w-]+){1,2}|\b(?:Bearer|Basic)\s+[\w.~+/=*-]{6,}/gi

// Addresses stand in messages as drivers of databases and HTTP clients were given them.
const passwordInAddress = /(?<=:\/\/[^\s/@:]*:)[^\s/@]+(?=@)/g
const parameterInAddress = /([?&])([\w.~%-]+)=[^&\s#"'<>)]+/g

/**
 * Makes text safe to show: removes key-shaped words, credentials in addresses and the given secrets, drops control characters, and cuts it
 * to `maxLength` UTF-16 units (default 500).
 */
export const redactText = (text: string, secrets: ReadonlyArray<Redacted.Redacted<string>> = [], maxLength = 500): string => {
  const clean = withoutSecrets(text, secrets)
    .replace(keyShapes, mask)
    .replace(passwordInAddress, mask)
    .replace(parameterInAddress, (whole, sign: string, name: string) => credentialParameter.test(name) ? `${sign}${name}=${mask}` : whole)
    .replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ")
    .trim()
  return clean.length > maxLength ? `${clean.slice(0, maxLength)}…` : clean
}

/** The text with these secrets masked. */
export const withoutSecrets = (text: string, secrets: ReadonlyArray<Redacted.Redacted<string>>): string =>
  secrets.map((secret) => Redacted.value(secret)).reduce((clean, value) => value === "" ? clean : clean.replaceAll(value, mask), text)

/** Credentials among a request's headers: whole values, the part after the scheme, and the password of basic authentication. */
export const secretsIn = (headers: Readonly<Record<string, string>>): ReadonlyArray<Redacted.Redacted<string>> =>
  Object.entries(headers).filter(([name]) => credentialHeader.test(name)).flatMap(([, value]) => {
    const [, scheme = "", credential = ""] = /^(\w+) +(\S+)$/.exec(value) ?? []
    const password = /^basic$/i.test(scheme) ? Buffer.from(credential, "base64").toString("utf8").replace(/^[^:]*:/, "") : ""
    return [value, credential, password]
  }).filter((secret) => secret.length >= minSecret).map((secret) => Redacted.make(secret))

/** Shorter texts are not secrets, and occur in many words. */
const minSecret = 4

/** The address without user info, fragment, and the values of query parameters that look like credentials. */
export const redactUrl = (url: string): string => {
  const parsed = URL.parse(url)
  if (parsed === null) return mask
  parsed.username = ""
  parsed.password = ""
  parsed.hash = ""
  const names = new Set(parsed.searchParams.keys())
  for (const name of names) if (credentialParameter.test(name)) parsed.searchParams.set(name, "redacted")
  return parsed.href
}
