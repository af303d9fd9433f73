/**
 * Whether a host, as a URL or a `Host` header has it, is this machine and nothing but this machine. `localhost` and the
 * loopback addresses only: names below `.localhost` are left to a resolver, which may lead them elsewhere.
 */
export const isLoopbackHost = (host: string): boolean => loopback.test(host.toLowerCase())

/** A pattern for the host of an address, for schemas whose editors check it too. */
export const loopbackHostPattern = String.raw`localhost|127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}|\[::1\]`

const loopback = new RegExp(`^(?:${loopbackHostPattern}|::1)$`)

/**
 * A server's address as a person writes it, a host name or a URL, read as HTTP clients read it. Undefined where it is no
 * http(s) address, or has more in it than host, port and path: a user name, a password, a query or a fragment, which
 * readers of addresses take for different parts.
 */
export const serverAddress = (text: string): URL | undefined => {
  if (/[\s\\?#@]/.test(text)) return undefined
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" ? url : undefined
}

/** Plain http goes to this machine only: what is sent may be a secret. */
export const isConfidential = (url: URL): boolean => url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname))

/** An address without a `/` at its end. */
export const withoutSlash = (url: URL): string => `${url.origin}${url.pathname.replace(/\/+$/, "")}`

/**
 * Says of an address whether it is at one of these hosts: each a name or an IP address, and with a port (`HOST:PORT`,
 * `[::1]:8080`) that port alone. Nothing below a name is meant with it.
 */
export const hostsAt = (hosts: ReadonlyArray<string>) => {
  const known = new Set(hosts.map((host) => (/^[^[\]]*:[^[\]]*:/.test(host) ? `[${host}]` : host).toLowerCase()))
  return ({ hostname, port, protocol }: Pick<URL, "hostname" | "port" | "protocol">): boolean => {
    const name = hostname.toLowerCase()
    return known.has(name) || known.has(`${name}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`)
  }
}
