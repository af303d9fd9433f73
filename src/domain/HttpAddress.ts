/**
 * Whether a host, as in a URL or a `Host` header, is surely this machine: `localhost` and the loopback addresses only.
 * Names below `.localhost` are up to a resolver, which may send them elsewhere.
 */
export const isLoopbackHost = (host: string): boolean => loopback.test(host.toLowerCase())

/** Pattern of a loopback host, for schemas whose editors check it too. */
export const loopbackHostPattern = String.raw`localhost|127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}|\[::1\]`

const loopback = new RegExp(`^(?:${loopbackHostPattern}|::1)$`)

/**
 * Parses a server's address as a person writes it, a host name or a URL, like HTTP clients do. Undefined where it is not
 * an http(s) address, or has more than host, port and path: a user name, a password, a query or a fragment, which readers
 * of addresses interpret differently.
 */
export const serverAddress = (text: string): URL | undefined => {
  if (/[\s\\?#@]/.test(text)) return undefined
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" ? url : undefined
}

/** Whether an address is safe for secrets: plain http only to this machine. */
export const isConfidential = (url: URL): boolean => url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname))

/** Formats an address without a `/` at its end. */
export const withoutSlash = (url: URL): string => `${url.origin}${url.pathname.replace(/\/+$/, "")}`

/**
 * Makes a test of whether an address is at one of these hosts: each a name or an IP address or, with a port (`HOST:PORT`,
 * `[::1]:8080`), that port alone. Subdomains are not included.
 */
export const hostsAt = (hosts: ReadonlyArray<string>) => {
  const known = new Set(hosts.map((host) => (/^[^[\]]*:[^[\]]*:/.test(host) ? `[${host}]` : host).toLowerCase()))
  return ({ hostname, port, protocol }: Pick<URL, "hostname" | "port" | "protocol">): boolean => {
    const name = hostname.toLowerCase()
    return known.has(name) || known.has(`${name}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`)
  }
}
