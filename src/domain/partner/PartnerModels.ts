/** What the documentation says of one partner model. */
export interface PartnerModel {
  readonly id: string
  /** Where it is, with the most that a project may ask of it there in a minute; tokens are input and output together. */
  readonly regions: { readonly [region: string]: { readonly queriesPerMinute: number; readonly tokensPerMinute: number } }
  /** Extended thinking. */
  readonly thinking: boolean
}

/** Tokens of a conversation, for every model of the table. No model of it has adaptive thinking, output_config, strict tools or context_management. */
export const contextTokens = 200_000

export const partnerModels: ReadonlyArray<PartnerModel> = [
  {
    id: "claude-3-7-sonnet@20250219",
    regions: {
      "us-east5": { queriesPerMinute: 55, tokensPerMinute: 500_000 },
      "europe-west1": { queriesPerMinute: 40, tokensPerMinute: 300_000 }
    },
    thinking: true
  },
  {
    id: "claude-3-5-sonnet-v2@20241022",
    regions: {
      "us-east5": { queriesPerMinute: 90, tokensPerMinute: 540_000 },
      "europe-west1": { queriesPerMinute: 55, tokensPerMinute: 330_000 }
    },
    thinking: false
  },
  {
    id: "claude-3-5-haiku@20241022",
    regions: { "us-east5": { queriesPerMinute: 80, tokensPerMinute: 350_000 } },
    thinking: false
  },
  {
    id: "claude-3-opus@20240229",
    regions: { "us-east5": { queriesPerMinute: 20, tokensPerMinute: 105_000 } },
    thinking: false
  },
  {
    id: "claude-3-haiku@20240307",
    regions: {
      "us-east5": { queriesPerMinute: 245, tokensPerMinute: 600_000 },
      "asia-southeast1": { queriesPerMinute: 70, tokensPerMinute: 174_000 },
      "europe-west1": { queriesPerMinute: 75, tokensPerMinute: 181_000 }
    },
    thinking: false
  },
  {
    id: "claude-3-5-sonnet@20240620",
    regions: {
      "us-east5": { queriesPerMinute: 120, tokensPerMinute: 555_000 },
      "asia-southeast1": { queriesPerMinute: 35, tokensPerMinute: 150_000 },
      "europe-west1": { queriesPerMinute: 130, tokensPerMinute: 600_000 }
    },
    thinking: false
  }
]

/** Absent for a model that came after the documentation, about which nothing is known here. */
export const partnerModel = (id: string): PartnerModel | undefined => partnerModels.find((model) => model.id === id)

/**
 * `{publisher}/{model}` of an open model, which the service answers for in OpenAI's protocol, where a name as people
 * write it is one: `meta/llama-3.1-70b-instruct-maas`, `publishers/meta/models/…`.
 */
export const openModelNamed = (name: string): string | undefined => {
  const [, publisher = "", model = ""] = /^publishers\/([^/]+)\/models\/([^/]+)$/.exec(name) ?? /^([a-z][\w-]*)\/([^/]+)$/.exec(name) ?? []
  return model === "" || ["google", "anthropic", "endpoints", "models"].includes(publisher) ? undefined : `${publisher}/${model}`
}

/** The id of a partner's model, where a name as people write it is one: by itself, or with its publisher. */
export const partnerModelNamed = (name: string): string | undefined =>
  /^(?:(?:publishers\/anthropic\/models|anthropic)\/)?(claude-[^/]+)$/.exec(name)?.[1]
