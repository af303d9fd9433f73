import type { Broken } from "../Rule.ts"

const mostLabels = 64
const keyForm = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u
const valueForm = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u

/** Rules for labels of the service's resources (goo.gl/xmQnxf, which its protos reference). `at` is their field. */
export const labelRules = (labels: Readonly<Record<string, string>> = {}, at: string): ReadonlyArray<Broken> => [
  ...(Object.keys(labels).length <= mostLabels ? [] : [{ field: at, description: `must be at most ${mostLabels}` }]),
  ...Object.entries(labels).flatMap(([key, value]) => [
    ...(keyForm.test(key)
      ? []
      : [{ field: at, description: "a key must be 1 to 63 lower-case letters, digits, hyphens and underscores, beginning with a letter" }]),
    ...(valueForm.test(value)
      ? []
      : [{ field: `${at}.${key.slice(0, 63)}`, description: "must be at most 63 lower-case letters, digits, hyphens and underscores" }])
  ])
]
