/**
 * Locations of Vertex AI: Google Cloud's regions, its two multi-regions and `global`. `local` is this machine, for the
 * embedded engine.
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

/** Locations in which a project can have resources. */
export const locationIds: ReadonlyArray<string> = [...locations].filter((id) => id !== "local")

/**
 * Whether two names `projects/{project}/locations/{location}` are of one place. A project may be given by its id and by
 * its number, which only the service can match.
 */
export const isSamePlace = (a: string, b: string): boolean => {
  const [, projectA = "", , locationA] = a.split("/")
  const [, projectB = "", , locationB] = b.split("/")
  return locationA === locationB && (projectA === projectB || isNumber(projectA) !== isNumber(projectB))
}

const isNumber = (project: string): boolean => /^\d+$/.test(project)

/**
 * The number of the project in a name. A project given by its id gets a made-up number, always the same one: only the
 * service knows the real one.
 */
export const projectNumberOf = (name: string): string => {
  const project = name.split("/")[1] ?? ""
  if (/^\d{1,18}$/.test(project)) return project
  let hash = 0xcbf29ce484222325n
  for (const character of project) hash = BigInt.asUintN(64, (hash ^ BigInt(character.codePointAt(0) ?? 0)) * 0x100000001b3n)
  return String(100_000_000_000n + hash % 900_000_000_000n)
}
