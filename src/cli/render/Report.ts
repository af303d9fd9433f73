import { type Counts, type FileOutcome, outcomes, type Report } from "../../domain/Report.ts"
import { printable } from "../../domain/Text.ts"
import type { Output } from "../Output.ts"
import { count, plural, seconds } from "./Numbers.ts"
import { table } from "./Table.ts"
import { wrap } from "./Wrap.ts"

type Look = Pick<Output["Service"], "paint" | "width">

/** Failed and skipped files named in the printed report; `--json` and `sluice status` have all. */
const named = 10

/** The account of a run, for a person. */
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
    renderNotable(kind, report.notable.filter((outcome) => outcome.outcome === kind), report.totals[kind], look)
  )
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
    ...notes.map(([colour, note]) => {
      const text = wrap(printable(note), width, "  ")
      return colour === undefined ? text : paint(colour, text)
    }),
    paint(
      report.ended === "done" ? "green" : "yellow",
      wrap(
        `${endings[report.ended]} in ${seconds(report.seconds)}${written(report)}`,
        width
      )
    )
  ].join("\n")
}

/** Nothing where the engine does not tell. */
const written = ({ chunks, embedded, embeddedTokens }: Report): string =>
  chunks === undefined || embedded === undefined || embeddedTokens === undefined
    ? ""
    : `: ${plural(chunks, "chunk")} written, ${plural(embedded, "chunk")} embedded (${plural(embeddedTokens, "token")})`

const heldText = (paths: ReadonlyArray<string>, held: number): string =>
  paths.length === 0 ? "" : ` (${paths.slice(0, named).join(", ")}${held > named ? ` and ${count(held - named)} more` : ""})`

const endings: Record<Report["ended"], string> = {
  done: "Done",
  incomplete: "Ended, and not every source could be listed,",
  budget: "Stopped at the budget",
  interrupted: "Interrupted",
  stopped: "Stopped"
}

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
    ...(ignored > 0 ? [`  ${wrap(`${plural(ignored, "path")} ignored by include, exclude, ignore files or hidden names`, width, "  ")}`] : []),
    ...(rest > 0 ? [`  and ${count(rest)} more; --json has every one`] : [])
  ]
}
