/** The paths of a field mask. JSON writes it as one string, in snake or camel case: `display_name,trafficSplit`. */
export const fieldMask = (mask = ""): ReadonlyArray<string> =>
  mask.split(",")
    .map((path) => path.trim().replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
    .filter((path) => path !== "")
