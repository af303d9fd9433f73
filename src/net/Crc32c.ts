/** CRC-32C (Castagnoli, RFC 3720 appendix B.4), which `node:zlib` does not have. Unsigned. */
export const crc32c = (bytes: Uint8Array): number => {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (table[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  return ~crc >>> 0
}

const reversedPolynomial = 0x82f63b78

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ reversedPolynomial : value >>> 1
  return value
})
