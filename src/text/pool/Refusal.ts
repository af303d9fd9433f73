import { printable } from "../../domain/Text.ts"
import { BrokenInstallation, ReadFailure } from "../parse/ReadFailure.ts"
import type { Refusal } from "./Messages.ts"

/** What a parser threw, as a refusal. Only a ReadFailure's message is meant for people; others may quote the file. */
export const refusalOf = (thrown: unknown): Refusal => {
  if (thrown instanceof ReadFailure) return { problem: thrown.problem, message: oneLine(thrown.message) }
  if (thrown instanceof RangeError && /allocation failed|invalid string length|heap/i.test(thrown.message)) {
    return { problem: "memory", message: "the file needs more memory than one value can have" }
  }
  return { problem: "corrupt", message: "the file could not be read: its content is damaged or not what it claims" }
}

export const isInstallation = (thrown: unknown): thrown is BrokenInstallation => thrown instanceof BrokenInstallation

const oneLine = (message: string): string => printable(message).split("\n", 1)[0]!.slice(0, 200)
