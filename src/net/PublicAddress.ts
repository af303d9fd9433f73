import { BlockList, isIP, isIPv4 } from "node:net"

/** A connection was refused because of its address. Names the requested host, and not the address behind it. */
export class AddressRefused extends Error {
  readonly host: string
  constructor(host: string) {
    super(`${host} is not a public address`)
    this.host = host
  }
}

/**
 * Addresses that are not on the public Internet, by the IANA special-purpose address registries: this network, private,
 * shared (carrier-grade NAT), loopback, link-local (cloud metadata at 169.254.169.254), protocol assignments,
 * documentation, benchmarks, multicast, reserved; and Azure's metadata address, which only looks public.
 */
const special = new BlockList()
for (
  const [network, prefix] of [
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["168.63.129.16", 32],
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.0.2.0", 24],
    ["192.88.99.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["198.51.100.0", 24],
    ["203.0.113.0", 24],
    ["224.0.0.0", 3]
  ] as const
) special.addSubnet(network, prefix, "ipv4")
for (
  const [network, prefix] of [
    ["2001::", 23],
    ["2001:db8::", 32],
    ["2002::", 16],
    ["3fff::", 20]
  ] as const
) special.addSubnet(network, prefix, "ipv6")

/** In IPv6 only global unicast addresses are public. */
const globalUnicast = new BlockList()
globalUnicast.addSubnet("2000::", 3, "ipv6")

/** Whether an IP address, as text, is on the public Internet. IPv4 inside IPv6 (mapped, NAT64) is judged as IPv4. */
export const isPublic = (address: string): boolean => {
  const bare = address.replace(/%.*$/, "")
  if (isIPv4(bare)) return !special.check(bare, "ipv4")
  if (isIP(bare) !== 6) return false
  const inner = embeddedIPv4(bare)
  if (inner !== undefined) return isPublic(inner)
  return globalUnicast.check(bare, "ipv6") && !special.check(bare, "ipv6")
}

/** The IPv4 address in `::ffff:a.b.c.d` (RFC 4291) and `64:ff9b::a.b.c.d` (RFC 6052). */
const embeddedIPv4 = (address: string): string | undefined => {
  // The URL parser writes an IPv6 host in its canonical form, all hexadecimal.
  const host = URL.parse(`http://[${address}]`)?.hostname ?? ""
  const match = /^\[(?:::ffff|64:ff9b:):(?:([\da-f]{1,4}):)?([\da-f]{1,4})\]$/.exec(host)
  if (match === null) return undefined
  const high = Number.parseInt(match[1] ?? "0", 16)
  const low = Number.parseInt(match[2] ?? "0", 16)
  return [high >> 8, high & 255, low >> 8, low & 255].join(".")
}
