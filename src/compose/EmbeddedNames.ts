import { Names } from "../engines/embedded/Names.ts"

/** The names of resources under `embeddedParent`. */
export const embeddedNames = new Names("local", "local")
