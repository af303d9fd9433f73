import { type Address, folderOf } from "./Address.ts"

/**
 * Says whether a path was listed already by an address that comes before place `at`, where places count through the
 * addresses and then through `folders` (indexes of addresses that are listed as folders in the end).
 */
export const overlapOf = (addresses: ReadonlyArray<Address>) => {
  const singles = new Map<string, number>()
  const prefixes: Array<{ readonly text: string; readonly place: number }> = []
  for (const [place, { text, under }] of addresses.entries()) {
    if (under) prefixes.push({ text, place })
    else if (!singles.has(text)) singles.set(text, place)
  }
  return (folders: ReadonlyArray<number>, at: number) => {
    const earlier = [
      ...prefixes.flatMap(({ place, text }) => place < at ? [text] : []),
      ...folders.slice(0, Math.max(0, at - addresses.length)).flatMap((index) => {
        const address = addresses[index]
        return address === undefined ? [] : [folderOf(address).text]
      })
    ]
    return (path: string): boolean => (singles.get(path) ?? at) < at || earlier.some((prefix) => path.startsWith(prefix))
  }
}
