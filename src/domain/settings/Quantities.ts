import { Duration, Schema, SchemaTransformation } from "effect"
import { matches, rule } from "./Rules.ts"

const durationUnits = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 } as const
const durationPattern = /^([1-9][0-9]*)(s|m|h|d)$/

const isDurationUnit = (unit: string | undefined): unit is keyof typeof durationUnits => unit !== undefined && unit in durationUnits

/** A duration: `30s`, `5m`, `1h`, `1d`. */
export const DurationText = Schema.String
  .check(matches(durationPattern, { rule: "must be a duration: a whole number and s, m, h or d", fix: "write for example 5m" }))
  .pipe(Schema.decodeTo(
    Schema.Duration,
    SchemaTransformation.transform({
      decode: (text) => {
        const [, count, unit] = durationPattern.exec(text) ?? []
        return Duration.millis(Number(count) * (isDurationUnit(unit) ? durationUnits[unit] : 1000))
      },
      encode: (duration) => {
        const ms = Duration.toMillis(duration)
        const unit = (["d", "h", "m"] as const).find((unit) => ms % durationUnits[unit] === 0) ?? "s"
        return `${Math.max(1, Math.round(ms / durationUnits[unit]))}${unit}`
      }
    })
  ))

/** A number with a unit: plain (`2000000`, also quoted) or with a suffix (`2M`, `1.5M`). */
const suffixed = (options: {
  readonly units: Readonly<Record<string, number>>
  readonly rule: string
  readonly description: string
}) => {
  const pattern = new RegExp(`^([0-9]+(?:\\.[0-9]+)?) ?(${Object.keys(options.units).join("|")})?$`)
  return Schema.Union([Schema.Int, Schema.String.check(matches(pattern, { rule: options.rule }))])
    .annotate({ description: options.description })
    .pipe(Schema.decodeTo(
      Schema.Number.check(
        rule<number>((n) => Number.isSafeInteger(n) && n >= 1, { rule: "must come to a whole number, 1 or more" })
      ),
      SchemaTransformation.transform<number, string | number>({
        decode: (written) => {
          if (typeof written === "number") return written
          const [, count, unit = ""] = pattern.exec(written) ?? []
          return Number(count) * (options.units[unit] ?? 1)
        },
        encode: (count) => count
      })
    ))
}

/** A count: `5000000`, `5M`, `200k`. */
export const Amount = suffixed({
  units: { k: 1e3, M: 1e6, B: 1e9 },
  rule: "must be a number, or one with k, M or B after it, such as 5M",
  description: "A count: 5000000, or with k, M or B after it, such as 5M."
})

/** A number of bytes: `26214400`, `25MB` (10^6), `25MiB` (2^20). */
export const ByteSize = suffixed({
  units: { B: 1, kB: 1e3, KB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 },
  rule: "must be a number of bytes, or one with a unit, such as 25MB or 25MiB",
  description: "Bytes: a number, or one with a unit such as 25MB (10^6) or 25MiB (2^20)."
})

/** The most files a sync may delete without consent: a share of the source's files, or a number. */
export type DeleteLimit =
  | { readonly _tag: "percent"; readonly percent: number }
  | { readonly _tag: "count"; readonly count: number }

const percentPattern = /^(?:(?:100|[0-9]{1,2}(?:\.[0-9]+)?)%|[0-9]+)$/

export const DeleteLimit: Schema.Codec<DeleteLimit, string | number> = Schema.Union([
  Schema.Int.check(rule<number>((n) => n >= 0, { rule: "must be 0 or more" }, { minimum: 0 })),
  Schema.String.check(matches(percentPattern, { rule: "must be a percentage from 0% to 100%, or a number of files" }))
]).annotate({
  description: "The most files a sync deletes without --yes: a percentage such as 10%, or a number of files."
}).pipe(Schema.decodeTo(
  Schema.declare((u): u is DeleteLimit => typeof u === "object" && u !== null && "_tag" in u),
  SchemaTransformation.transform<DeleteLimit, string | number>({
    decode: (written) =>
      typeof written === "string" && written.endsWith("%")
        ? { _tag: "percent", percent: Number(written.slice(0, -1)) }
        : { _tag: "count", count: Number(written) },
    encode: (limit) => limit._tag === "percent" ? `${limit.percent}%` : limit.count
  })
))
