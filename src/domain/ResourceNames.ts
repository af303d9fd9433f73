/** The part of a resource name or path after its last slash: the id of `projects/…/ragCorpora/12` is `12`. */
export const lastSegment = (name: string): string => name.slice(name.lastIndexOf("/") + 1)

/** Parent of the embedded engine's resources, which has no projects and regions. */
export const embeddedParent = "projects/local/locations/local"
