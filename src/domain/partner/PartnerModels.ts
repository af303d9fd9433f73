/** What the documentation states about one partner model. */
export interface PartnerModel {
  readonly id: string
  /** Regions where it is available, with a project's limits per minute there; tokens are input and output together. */
  readonly regions: { readonly [region: string]: { readonly queriesPerMinute: number; readonly tokensPerMinute: number } }
  /** Whether it has extended thinking. */
  readonly thinking: boolean
}

/**
 * Most tokens of a conversation, for every model of the table. None of them has adaptive thinking, output_config, strict
 * tools or context_management.
 */
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

/** Facts about a model; undefined for a model that is newer than the documentation. */
export const partnerModel = (id: string): PartnerModel | undefined => partnerModels.find((model) => model.id === id)

/**
 * The `{publisher}/{model}` of an open model, which the service serves with OpenAI's protocol, from a name as people
 * write it: `meta/llama-3.1-70b-instruct-maas`, `publishers/meta/models/…`; undefined for other names.
 */
export const openModelNamed = (name: string): string | undefined => {
  const [, publisher = "", model = ""] = /^publishers\/([^/]+)\/models\/([^/]+)$/.exec(name) ?? /^([a-z][\w-]*)\/([^/]+)$/.exec(name) ?? []
  return model === "" || ["google", "anthropic", "endpoints", "models"].includes(publisher) ? undefined : `${publisher}/${model}`
}

/** The id of a partner's model, from a name as people write it: alone, or with its publisher; undefined for other names. */
export const partnerModelNamed = (name: string): string | undefined =>
  /^(?:(?:publishers\/anthropic\/models|anthropic)\/)?(claude-[^/]+)$/.exec(name)?.[1]
