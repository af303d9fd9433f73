/** How lines of code, commands and terminal sessions differ from prose. */
import { bullet, type Line, terminal } from "./Lines.ts"

type Lines = ReadonlyArray<Line>

/** A line that starts with the prompt of a shell or of an interpreter. */
export const prompt = /^(?:>>>|\.\.\.|\$>?|#!|%|PS>|C:\\>)(?:\s|$)/
/** A command that the output of another is piped to. */
export const piped =
  / \| (?:grep|sed|awk|sort|uniq|head|tail|wc|xargs|tee|cut|tr|less|more|jq|sh|bash|python3?|node|docker|kubectl|openssl|base64)\b/

const comment = /^(?:\/\/|\/\*|#)(?:\s|$)/
const command =
  /^(?:pip3?|npm|npx|pnpm|yarn|bun|bunx|deno|apt|apt-get|brew|curl|wget|git|docker|kubectl|gcloud|aws|sudo|python3?|node|cargo|go|make|bash|sh|cd|mkdir|export|set|ssh)\s+[-\w./$@"'=:]+/
const statement =
  /^(?:def|class|import|from|return|raise|async|await|elif|except|try|finally|yield|lambda|assert|case|match|const|let|var|function|public|private|static|void|int|struct|typedef|package|interface|type|enum|func|fn|use|SELECT|INSERT|UPDATE|CREATE)\b(?!.*[a-z]{2}\.$)/
/** Lines of Python and languages like it that have no other sign of being code. */
const bareStatement =
  /^(?:pass|break|continue|return|\.{3})$|^(?:else|try|finally)\s*:$|^(?:if|elif|for|while|with|except|class|def|async def|async with|async for)\b.{0,100}:(?:\s*#.*)?$/
const symbols =
  /^[\])}>;,]+$|[;{}]$|[([{,\\]$|^[@<#{}\])[]|^\/[/*]|=>|->|\w\(.*\)|\w\.\w+\(|^[\w.[\]"']+\s*[-+*/|&]?=\s|^--?\w|^\w+(?:\[.*\])?:\s*\w+(?:\[.*\])?(?:\s*=|$)/
/** Nothing but brackets, an assignment, or a call that starts or ends as none does in prose. */
const unlikeProse = /^[\])}({[;,]+$|^[\w.:$[\]"']+\s*[-+*/|&:]?=\s*\S|[\w\])]\(.*(?:\);|[{(,])$|[)}\]];?$.*=>|^["'\w$-]+:\s\S.*,$/
const statementCall = /^[\w\s.$=]+\(.*\);$|^(?:await\s+)?[\w$]+(?:\.[\w$]+)+\(.*['"].*\)$/
const flag = /^[a-z][\w./-]*(?:\s\S+)*\s--?[a-zA-Z][\w-]*/
/** Code whatever stands around it: imports, decorators, heads of functions and classes. */
const declaration =
  /^(?:import\s+[\w.]+(?:\s+as\s+\w+)?|from\s+[\w.]+\s+import\s+[\w*(].*|@[\w.]+(?:\(.*\)?)?|(?:async\s+)?def\s+\w+\(.*|class\s+\w+(?:\(.*\))?:)$/
const salutation = /^\p{Lu}[\p{L} .'’-]*,$/u

/** A line that reads as prose: five plain words in a row, or the end of a sentence before the start of another. */
const prose = /(?:\b\p{L}{2,}[,]?\s+){5}|\p{Ll}[.!?]\s+\p{Lu}\p{Ll}/u
/** The last word of a line, where the sentence goes on in the next. */
const unfinished = /[\p{L}\p{N})"'\]][,]?$/u

/** Whether a line has words enough for a sentence that names a call, and nothing that only code has. */
const namesCall = (text: string): boolean =>
  !/[;{}=|<>\\]|\w\.\w+\([^)]|^\W/.test(text) && (text.match(/(?<=^|\s)\p{L}{2,}(?=[.,:]?(?:\s|$))/gu)?.length ?? 0) >= 3

/** The first line of a session: what follows is a command's output, whatever it reads like. */
const opensSession = /^(?:>>> |\$ [\p{L}./~])/u

/** Whether lines below a session are more of its output: no line of them reads as prose, and they are no heading. */
export const isOutput = (lines: Lines, above: Lines): boolean =>
  opensSession.test(above[0]!.text) && lines.every(({ text }) => !prose.test(text)) &&
  (lines.length > 1 ? lines.some(({ text }) => /\d/.test(text)) : /^\W*\d/.test(lines[0]!.text))

/** Whether lines are an address alone: a path or a URL. */
export const isAddress = (lines: Lines): boolean =>
  lines.length === 1 && /^(?:https?:\/\/\S+|[~.]?(?:\/[\w.@{}<>*-]+){2,}\/?|[A-Z]:\\\S+)$/.test(lines[0]!.text)

/** Whether a line reads as prose and is no whole sentence, as in "By default this is". */
export const isUnfinished = (text: string): boolean => prose.test(text) && !terminal.test(text)

/** What a line with one sign of code counts, where nothing leads up to it and no other line is surely code. */
const weakShare = 0.6

/**
 * Whether lines are a listing: prompts and statements or, where something leads up to them (`led`), lines full of symbols. Lines
 * indented below the head of a function or class count as code, though they may read as prose.
 */
export const isCode = (lines: Lines, led: boolean): boolean => {
  if (opensSession.test(lines[0]!.text)) return true
  let strong = 0
  let weak = 0
  let within = Infinity
  let isWrapped = false
  for (const { indent, text } of lines) {
    if (indent > within) {
      strong++
      continue
    }
    const plain = prose.test(text)
    // A sentence that goes on in the next line may start that with any word: "package", "from", "import".
    const goesOn: boolean = isWrapped
    isWrapped = (plain || goesOn) && unfinished.test(text)
    within = declaration.test(text) && !goesOn && /[:(,]$/.test(text) ? indent : Infinity
    if (goesOn) { if (endsSentence(text)) weak-- }
    else if (prompt.test(text) || bareStatement.test(text) || comment.test(text) || statementCall.test(text) || declaration.test(text)) {
      strong++
    } else if (plain && endsSentence(text)) weak--
    else if (!plain && (unlikeProse.test(text) || flag.test(text) || (command.test(text) && (lines.length === 1 || led)))) strong++
    else if (statement.test(text) && (plain ? /[:;(){}=]/.test(text) : lines.length > 1 || led || /[;(){}=.'"]/.test(text))) strong++
    else if (symbols.test(text) && !plain && !namesCall(text) && !salutation.test(text)) weak++
  }
  if (bullet.test(lines[0]!.text) && lines.every(({ text }) => bullet.test(text)) && strong === 0) return false
  const most = comment.test(lines[0]!.text) && lines.length > 1 ? lines.length - 1 : lines.length
  return 2 * (strong + (led || strong > 0 ? weak : weakShare * weak)) > most
}

const endsSentence = (text: string): boolean => terminal.test(text) && !/[:;)]$/.test(text)

/** Whether a line is a heading that names a function: a call that nothing leads up to (`led`), above prose. */
export const isSignature = (lines: Lines, led: boolean, next: Lines | undefined): boolean =>
  !led && lines.length === 1 && next !== undefined && !isCode(next, false) &&
  /^(?:new |await |(?:class|static) (?:method|property): )?[@\w.$#[\]/-]+(?:\(.*\))?(?:\s*(?:->|:|=>)\s*[\w<>[\]|.]+)?$/iu.test(
    lines[0]!.text
  ) && !/['"]/.test(lines[0]!.text) && !/[=;]/.test(lines[0]!.text.replace(/\([^)]*\)/, ""))

/** Whether a line below a lead-in is a command: it neither starts nor ends as a sentence or a name does. */
export const isCommand = (lines: Lines): boolean =>
  lines.length === 1 && /^[a-z./~$][^\s]*\s/.test(lines[0]!.text) && !terminal.test(lines[0]!.text) && !prose.test(lines[0]!.text)
