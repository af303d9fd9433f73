// Prints the test files of a Vitest JSON report that failed, or whose process ended before all their tests had run.
import { readFileSync } from "node:fs"

const { testResults } = JSON.parse(readFileSync(process.argv[2], "utf8"))
for (const { name, status } of testResults) if (status !== "passed") console.log(name)
