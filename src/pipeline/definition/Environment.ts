/** Variables a pipeline file may refer to. */
export type Environment = Readonly<Record<string, string | undefined>>

interface Substituted {
  readonly text: string
  /** Whether the text was exactly one reference, so that its value may stand for a number or a boolean. */
  readonly whole: boolean
  readonly problems: ReadonlyArray<{ readonly rule: string; readonly fix: string }>
}

const reference = /\$(\$\{)|\$\{([^{}]*)\}|\$\{/g
const form = /^([A-Za-z_][A-Za-z0-9_]*)(?::([-?])([\s\S]*))?$/

/**
 * Replaces `${VAR}`, `${VAR:-default}` (also when empty) and `${VAR:?message}` in one piece of text; `$${` stays a
 * literal `${`. Inserted values are not scanned for references again.
 */
export const substitute = (text: string, environment: Environment): Substituted => {
  const problems: Array<{ rule: string; fix: string }> = []
  const replaced = text.replaceAll(reference, (_, escaped: string | undefined, inside: string | undefined) => {
    if (escaped !== undefined) return escaped
    const [, name, operator, operand = ""] = form.exec(inside ?? "") ?? []
    if (name === undefined) {
      problems.push({
        rule: "${ does not begin a reference to an environment variable",
        fix: "write ${VAR}, ${VAR:-default} or ${VAR:?message}, or $${ for a plain ${"
      })
      return ""
    }
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined
    if (value !== undefined && (value !== "" || operator === undefined)) return value
    if (operator === "-") return operand
    problems.push({
      rule: `the environment variable ${name} is not set${operator === "?" && operand !== "" ? `: ${operand}` : ""}`,
      fix: `set ${name}, or give a default: \${${name}:-...}`
    })
    return ""
  })
  return { text: replaced, whole: /^\$\{[^{}]*\}$/.test(text), problems }
}
