import { printable } from "../../domain/Text.ts"
import type { Plan, PlanItem } from "../../pipeline/sync/Plan.ts"
import type { Output, Paint } from "../Output.ts"
import { count, plural, seconds } from "./Numbers.ts"
import type { Column } from "./Table.ts"
import { wrap } from "./Wrap.ts"

const colours: Readonly<Record<string, Parameters<Paint>[0]>> = {
  add: "green",
  change: "yellow",
  move: "cyan",
  delete: "red",
  held: "red",
  fail: "red",
  quarantined: "red"
}

export const planColumns = (paint: Paint): ReadonlyArray<Column> => [
  { title: "action", paint: (cell) => paint(colours[cell] ?? "dim", cell) },
  { title: "file", flexible: true },
  { title: "chunks", align: "right" },
  { title: "tokens", align: "right" },
  { title: "note", flexible: true }
]

const actions = {
  added: "add",
  changed: "change",
  moved: "move",
  unchanged: "unchanged",
  skipped: "skip",
  failed: "fail",
  quarantined: "quarantined",
  pending: "pending"
} as const

/** One file of a plan, in the order of {@link planColumns}. */
export const planRow = (item: PlanItem): ReadonlyArray<string> => {
  const name = `${item.source}: ${item.path}`
  if (item.type === "delete") return [item.held ? "held" : "delete", name, "", "", item.held ? "needs --yes" : ""]
  const number = (n: number | undefined) => (n === undefined ? "" : count(n))
  const note = item.from === undefined ? [item.reason, item.message].filter((part) => part !== undefined).join(": ") : `from ${item.from}`
  return [actions[item.outcome], name, number(item.chunks), number(item.tokens), note]
}

const corpusLine = { create: "will be created", keep: "keeps its settings", update: "will be updated", replace: "will be REPLACED" }

/** What it comes to: the corpus, counts by action, and the cost. */
export const renderPlan = (plan: Plan, corpus: string, { paint, width }: Pick<Output["Service"], "paint" | "width">): string => {
  const { totals } = plan
  const broken = totals.failed + totals.quarantined
  const counts = [
    `${count(totals.added)} to add, ${count(totals.changed)} to change, ${count(totals.moved)} to move, ${count(totals.deleted)} to delete`,
    `${count(totals.unchanged)} unchanged, ${count(totals.skipped)} skipped`,
    ...(broken > 0 ? [`${count(broken)} cannot be read`] : []),
    ...(totals.held > 0 ? [`${plural(totals.held, "delete")} held`] : [])
  ]
  return [
    paint("bold", printable(`Corpus "${corpus}" ${corpusLine[plan.corpus.action]}`)),
    ...plan.corpus.changes.map(({ field, forcesReplacement, from, to }) =>
      wrap(printable(`  ${field}: ${from || "(unset)"} -> ${to}${forcesReplacement ? "  forces replacement (run with --replace)" : ""}`), width, "    ")
    ),
    wrap(counts.join(", "), width),
    wrap(
      `${plural(plan.chunks, "chunk")}, ${plural(plan.tokens, "token")}, ${plural(plan.embeddingRequests, "embedding request")}` +
        (plan.minutes > 0 ? `, about ${seconds(plan.minutes * 60)} at the configured rates` : ""),
      width
    ),
    ...plan.warnings.map((warning) => paint("yellow", wrap(printable(`warning: ${warning}`), width, "  ")))
  ].join("\n")
}
