/** Merges in steps, and dies in the middle as a process does that is killed. */
import { Committer } from "../../../../src/engines/embedded/store/Committer.ts"
import { openDatabase } from "../../../../src/state/Database.ts"
import { manyTerms } from "./ManyTerms.ts"

const [, , dataDir = ""] = process.argv
const db = openDatabase(dataDir)
const committer = new Committer(db, dataDir, { mergePatience: 0 })
committer.commit(manyTerms("late", 0))
for (let step = 0; step < 4; step++) if (!committer.merge("idle")) throw new Error("the merge was over too soon")
process.kill(process.pid, "SIGKILL")
