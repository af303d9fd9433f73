import { buildConnector } from "@effect/platform-node/Undici"
import { lookup as systemLookup, type LookupAddress } from "node:dns"
import { isIP, type LookupFunction } from "node:net"
import { hostsAt } from "../domain/HttpAddress.ts"
import { AddressRefused, isPublic } from "./PublicAddress.ts"

export interface PublicOnly {
  /** Hosts that are allowed at any address, such as your own file server: `HOST`, or `HOST:PORT` for that port alone. Default none. */
  readonly allowHosts?: ReadonlyArray<string>
  /** Resolves a name to all its addresses. Default: the system's. */
  readonly resolve?: (host: string) => Promise<ReadonlyArray<LookupAddress>>
  /** Milliseconds to connect, TLS included. Default 10,000. */
  readonly connectTimeoutMs?: number
}

/**
 * Connects undici to public addresses only. The name is resolved once, all of its addresses must be public, and the
 * connection goes to an address that was checked: the name is never resolved a second time. It checks each new
 * connection, and so also those after redirects.
 */
export const publicConnector = (options: PublicOnly = {}): buildConnector.connector => {
  const isAllowed = hostsAt(options.allowHosts ?? [])
  const resolve = options.resolve ?? resolveAll
  const vet = async (host: string): Promise<ReadonlyArray<LookupAddress>> => {
    const found = await resolve(host)
    if (!found.every(({ address }) => isPublic(address))) throw new AddressRefused(host)
    return found
  }
  const through = (found: (host: string) => Promise<ReadonlyArray<LookupAddress>>): LookupFunction => (host, { all }, done) => {
    found(host).then(
      (found) => {
        const first = found[0]
        if (first === undefined) done(new AddressRefused(host), "")
        else if (all === true) done(null, [...found])
        else done(null, first.address, first.family)
      },
      (cause: Error) => done(cause, "")
    )
  }
  const timeout = options.connectTimeoutMs ?? 10_000
  const connect = buildConnector({ timeout, lookup: through(vet) })
  const connectAnywhere = buildConnector({ timeout, lookup: through(resolve) })
  return (target, callback) => {
    if (isAllowed(target)) return connectAnywhere(target, callback)
    // A literal address is connected to without a lookup.
    const host = target.hostname.replace(/^\[(.*)\]$/, "$1")
    if (isIP(host) !== 0 && !isPublic(host)) callback(new AddressRefused(host), null)
    else connect(target, callback)
  }
}

const resolveAll = (host: string): Promise<ReadonlyArray<LookupAddress>> =>
  new Promise((resolve, reject) => {
    systemLookup(host, { all: true }, (error, found) => (error === null ? resolve(found) : reject(error)))
  })
