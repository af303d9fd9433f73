/** The paths of a field mask, which JSON writes as one string in either spelling: `display_name,trafficSplit`. */
export const fieldMask = (mask = ""): ReadonlyArray<string> =>
  mask.split(",")
    .map((path) => path.trim().replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
    .filter((path) => path !== "")
