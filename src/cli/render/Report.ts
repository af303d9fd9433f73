import { type Counts, type FileOutcome, outcomes, type ReasonCount, type Report } from "../../domain/Report.ts"
import { printable } from "../../domain/Text.ts"
import type { Output } from "../Output.ts"
import { count, plural, seconds } from "./Numbers.ts"
import { table } from "./Table.ts"
import { wrap } from "./Wrap.ts"

type Look = Pick<Output["Service"], "paint" | "width">

/** Most reasons and files named in the printed report; `--json` and `sluice status` have all of them. */
const named = 10

/** Summarizes one of many runs in a few words, without unchanged files. */
export const batchLine = ({ ended, totals }: Report): string =>
  [
    ...([...outcomes, "deleted"] as const)
      .filter((key) => key !== "unchanged" && key !== "skipped" && key !== "quarantined" && totals[key] > 0)
      .map((key) => `${count(totals[key])} ${key}`),
    ...(ended === "budget" ? ["stopped at the budget"] : [])
  ].join(", ")

/** Renders the report of a run, for people. */
export const renderReport = (report: Report, look: Look): string => {
  const { paint, width } = look
  const columns = outcomes.filter((outcome) => report.totals[outcome] > 0)
  const extra = (["deleted", "held"] as const).filter((key) => report.totals[key] > 0)
  const row = (name: string, counts: Counts) => [
    name,
    count(counts.listed),
    ...columns.map((outcome) => count(counts[outcome])),
    ...extra.map((key) => count(counts[key]))
  ]
  const rows = report.sources.map(({ counts, source }) => row(source, counts))
  const notable = (["failed", "quarantined", "skipped"] as const).flatMap((kind) =>
    report.reasons === undefined
      ? renderNotable(kind, report.notable.filter((outcome) => outcome.outcome === kind), report.totals[kind], look)
      : renderReasons(kind, report.reasons, report.totals, look)
  )
  const partial = (["partial", "unfit"] as const).flatMap((kind) => renderReasons(kind, eachFile(kind, report), report.totals, look))
  const notes = report.sources.flatMap(({ counts, error, heldBecause, heldPaths = [], note, source, warning }) => [
    ...(error === undefined ? [] : [["red", `${source}: could not be listed, so nothing of it was deleted: ${error}`] as const]),
    ...(warning === undefined ? [] : [["yellow", `warning: ${source}: ${warning}`] as const]),
    ...(heldBecause === undefined ? [] : [["yellow", `${source}: ${heldBecause}${heldText(heldPaths, counts.held)}`] as const]),
    ...(note === undefined ? [] : [[undefined, `${source}: ${note}`] as const])
  ])
  return [
    table(
      [
        { title: "source", flexible: true },
        ...["listed", ...columns, ...extra].map((title) => ({ title, align: "right" as const }))
      ],
      rows.length > 1 ? [...rows, row("total", report.totals)] : rows,
      width
    ),
    ...notable,
    ...partial,
    ...notes.map(([colour, note]) => {
      const text = wrap(printable(note), width, "  ")
      return colour === undefined ? text : paint(colour, text)
    }),
    paint(
      report.ended === "done" ? "green" : "yellow",
      wrap(
        `${endingOf(report)} in ${seconds(report.seconds)}${written(report)}${
          report.why === undefined ? "" : `\n${printable(report.why)}`
        }`,
        width
      )
    )
  ].join("\n")
}

/** Describes what was written; empty where the engine does not report it. */
const written = ({ chunks, embedded, embeddedTokens }: Report): string =>
  chunks === undefined || embedded === undefined || embeddedTokens === undefined
    ? ""
    : `: ${plural(chunks, "chunk")} written, ${plural(embedded, "chunk")} embedded (${plural(embeddedTokens, "token")})`

const heldText = (paths: ReadonlyArray<string>, held: number): string =>
  paths.length === 0 ? "" : ` (${paths.slice(0, named).join(", ")}${held > named ? ` and ${count(held - named)} more` : ""})`

const endings: Record<Report["ended"], string> = {
  done: "Done",
  incomplete: "Ended incomplete",
  budget: "Stopped at the budget",
  interrupted: "Interrupted",
  stopped: "Stopped"
}

const endingOf = ({ ended, sources }: Report): string =>
  ended === "incomplete" && sources.some(({ error }) => error !== undefined)
    ? "Ended, and not every source could be listed,"
    : endings[ended]

const renderNotable = (kind: string, all: ReadonlyArray<FileOutcome>, total: number, { paint, width }: Look): ReadonlyArray<string> => {
  if (total === 0) return []
  // Ignored files are ignored on purpose: a line for them would bury the others.
  const shown = all.filter((outcome) => outcome.reason !== "ignored")
  const ignored = all.length - shown.length
  const rest = total - Math.min(shown.length, named) - ignored
  return [
    paint(kind === "skipped" ? "yellow" : "red", `${kind}:`),
    ...shown.slice(0, named).map(({ message, path, reason }) =>
      `  ${wrap(printable(`${path}  ${reason ?? ""}${message === undefined ? "" : `: ${message}`}`), width, "    ")}`
    ),
    ...(ignored > 0
      ? [`  ${wrap(`${plural(ignored, "path")} ignored by include, exclude, ignore files or hidden names`, width, "  ")}`]
      : []),
    ...(rest > 0 ? [`  and ${count(rest)} more; --json has every one`] : [])
  ]
}

/** The reasons of a kind, one for each file where there are few: each can have its own, which a count by type would hide. */
const eachFile = (kind: "partial" | "unfit", { notable, reasons = [] }: Report): ReadonlyArray<ReasonCount> => {
  const counted = reasons.filter(({ outcome }) => outcome === kind)
  const files = notable.flatMap(({ path, remark, unfit }): ReadonlyArray<ReasonCount> => {
    const message = kind === "partial" ? remark : unfit
    return message === undefined ? [] : [{ outcome: kind, reason: kind, type: "", count: 1, path, message }]
  })
  return files.length <= named && files.length === counted.reduce((sum, { count }) => sum + count, 0) ? files : counted
}

const titles: Record<ReasonCount["outcome"], string> = {
  failed: "failed",
  quarantined: "quarantined",
  skipped: "skipped",
  partial: "read in part",
  unfit: "with metadata that breaks a rule"
}

/** Meaning of a reason's code, for people, where the message of one file does not apply to all. */
const meanings: Readonly<Record<string, string>> = {
  unsupported: "no reader",
  generated: "made by a program of other files",
  empty: "no text",
  pictures: "text in pictures, which waits for text recognition",
  charset: "charset unknown",
  encrypted: "protected by a password",
  corrupt: "damaged",
  limit: "over a limit",
  timeout: "not read in time",
  memory: "not enough memory",
  crash: "the reader crashed"
}

/** Renders the reasons by type, with counts and shares, most frequent first. */
const renderReasons = (
  kind: ReasonCount["outcome"],
  reasons: ReadonlyArray<ReasonCount>,
  totals: Counts,
  { paint, width }: Look
): ReadonlyArray<string> => {
  const all = reasons.filter(({ outcome }) => outcome === kind)
  if (all.length === 0) return []
  const total = all.reduce((sum, { count }) => sum + count, 0)
  // Ignored files are ignored on purpose: they come last, in one line.
  const shown = all.filter(({ reason }) => reason !== "ignored")
  const ignored = total - shown.reduce((sum, { count }) => sum + count, 0)
  const rest = shown.slice(named)
  const taken = kind === "partial" || kind === "unfit"
  const line = ({ count: n, message, path, reason, type }: ReasonCount): string => {
    if (n === 1) return `${path}  ${taken ? "" : `${reason}: `}${message ?? meanings[reason] ?? ""}`
    const why = taken ? "" : `: ${meanings[reason] ?? reason}`
    return `${count(n)} ${type === "" ? "without extension" : type}${why} (${share(n, totals.listed)} of the files), such as ${path}${
      message === undefined ? "" : `: ${message}`
    }`
  }
  return [
    paint(kind === "skipped" || taken ? "yellow" : "red", `${titles[kind]} ${count(total)} (${share(total, totals.listed)}):`),
    ...shown.slice(0, named).map((reason) => `  ${wrap(printable(line(reason)), width, "    ")}`),
    ...(rest.length > 0
      ? [
        `  and ${count(rest.reduce((sum, { count }) => sum + count, 0))} more for ${
          plural(rest.length, "other reason")
        }; --json has every one`
      ]
      : []),
    ...(ignored > 0
      ? [`  ${wrap(`${plural(ignored, "path")} ignored by include, exclude, ignore files or hidden names`, width, "  ")}`]
      : [])
  ]
}

const share = (part: number, of: number): string => of === 0 ? "0%" : `${(100 * part / of).toFixed(1)}%`
