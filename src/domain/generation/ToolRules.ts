import type { FunctionDeclaration, GenerationRequest, OpenApiSchema } from "./Generation.ts"
import { type Broken, violationUnless } from "../Rule.ts"
import { isJsonObject } from "./ConfigRules.ts"

const functionName = /^[A-Za-z_][\w.-]{0,63}$/
const modes = new Set(["", "MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"])

export const toolRules = ({ toolConfig, tools = [] }: GenerationRequest): ReadonlyArray<Broken> => {
  const declared = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name ?? ""))
  const { allowedFunctionNames: allowed = [], mode = "" } = toolConfig?.functionCallingConfig ?? {}
  const at = "toolConfig.functionCallingConfig"
  return [
    ...tools.flatMap(({ functionDeclarations = [] }, i) =>
      functionDeclarations.flatMap((declaration, j) => declarationRules(declaration, `tools[${i}].functionDeclarations[${j}]`))
    ),
    ...violationUnless(new Set(declared).size === declared.length, "tools", "declares a function twice"),
    ...violationUnless(modes.has(mode), `${at}.mode`, "must be AUTO, ANY, NONE or VALIDATED"),
    ...violationUnless(mode !== "ANY" || declared.length > 0, `${at}.mode`, "ANY needs a function that can be called"),
    ...violationUnless(
      allowed.length === 0 || mode === "ANY" || mode === "VALIDATED",
      `${at}.allowedFunctionNames`,
      "goes only with mode ANY or VALIDATED"
    ),
    ...allowed.flatMap((name, i) =>
      violationUnless(declared.includes(name), `${at}.allowedFunctionNames[${i}]`, "is not declared in tools")
    )
  ]
}

const declarationRules = (
  { name = "", parameters, parametersJsonSchema }: FunctionDeclaration,
  at: string
): ReadonlyArray<Broken> => [
  ...violationUnless(
    functionName.test(name),
    `${at}.name`,
    "must begin with a letter or underscore and have at most 64 letters, digits, underscores, dots and dashes"
  ),
  ...violationUnless(
    parameters === undefined || parametersJsonSchema === undefined,
    `${at}.parametersJsonSchema`,
    "goes in the place of parameters, not with them"
  ),
  ...violationUnless(isObjectSchema(parameters), `${at}.parameters.type`, "must be OBJECT"),
  ...violationUnless(isJsonObject(parametersJsonSchema), `${at}.parametersJsonSchema`, "must be an object")
]

const isObjectSchema = (schema: OpenApiSchema | undefined): boolean =>
  schema === undefined || schema.type === "OBJECT" || schema.ref !== undefined || schema.anyOf !== undefined
