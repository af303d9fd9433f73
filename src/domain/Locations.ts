/**
 * The locations of Vertex AI: Google Cloud's regions, its two multi-regions and `global`. `local` is this machine, as the
 * embedded engine names it.
 */
const locations: ReadonlySet<string> = new Set([
  "global",
  "us",
  "eu",
  "local",
  "africa-south1",
  "asia-east1",
  "asia-east2",
  "asia-northeast1",
  "asia-northeast2",
  "asia-northeast3",
  "asia-south1",
  "asia-south2",
  "asia-southeast1",
  "asia-southeast2",
  "asia-southeast3",
  "australia-southeast1",
  "australia-southeast2",
  "europe-central2",
  "europe-north1",
  "europe-north2",
  "europe-southwest1",
  "europe-west1",
  "europe-west2",
  "europe-west3",
  "europe-west4",
  "europe-west6",
  "europe-west8",
  "europe-west9",
  "europe-west10",
  "europe-west12",
  "me-central1",
  "me-central2",
  "me-west1",
  "northamerica-northeast1",
  "northamerica-northeast2",
  "northamerica-south1",
  "southamerica-east1",
  "southamerica-west1",
  "us-central1",
  "us-east1",
  "us-east4",
  "us-east5",
  "us-south1",
  "us-west1",
  "us-west2",
  "us-west3",
  "us-west4"
])

export const isLocation = (id: string): boolean => locations.has(id)

/** Those that a project may have something in. */
export const locationIds: ReadonlyArray<string> = [...locations].filter((id) => id !== "local")

/**
 * Whether `projects/{project}/locations/{location}` names one place twice. A project may be written by its id and by its
 * number, which only the service can tell apart from another's.
 */
export const isSamePlace = (a: string, b: string): boolean => {
  const [, projectA = "", , locationA] = a.split("/")
  const [, projectB = "", , locationB] = b.split("/")
  return locationA === locationB && (projectA === projectB || isNumber(projectA) !== isNumber(projectB))
}

const isNumber = (project: string): boolean => /^\d+$/.test(project)

/**
 * The number of the project that a name begins with. One written by its id gets a number of its own, always the same:
 * the real one is the service's to know.
 */
export const projectNumberOf = (name: string): string => {
  const project = name.split("/")[1] ?? ""
  if (/^\d{1,18}$/.test(project)) return project
  let hash = 0xcbf29ce484222325n
  for (const character of project) hash = BigInt.asUintN(64, (hash ^ BigInt(character.codePointAt(0) ?? 0)) * 0x100000001b3n)
  return String(100_000_000_000n + hash % 900_000_000_000n)
}
