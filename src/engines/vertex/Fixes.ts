import type { ServiceError } from "../../domain/Errors.ts"

/** Fixes by reason of google.rpc.ErrorInfo; the service's own table of reasons is google/api/error_reason.proto. */
const byReason: Readonly<Record<string, (project: string) => string>> = {
  SERVICE_DISABLED: (project) => `enable the API: gcloud services enable aiplatform.googleapis.com --project ${project}`,
  API_DISABLED: (project) => `enable the API: gcloud services enable aiplatform.googleapis.com --project ${project}`,
  BILLING_DISABLED: (project) => `link a billing account: https://console.cloud.google.com/billing/linkedaccount?project=${project}`,
  IAM_PERMISSION_DENIED: (project) => permission(project),
  CONSUMER_INVALID: (project) => `check the project: gcloud projects describe ${project}`,
  CONSUMER_SUSPENDED: (project) => `see why the project is suspended: https://console.cloud.google.com/home/dashboard?project=${project}`,
  RESOURCE_PROJECT_INVALID: (project) => `check the project: gcloud projects describe ${project}`,
  USER_PROJECT_DENIED: () =>
    "the quota project refuses the caller: give it roles/serviceusage.serviceUsageConsumer there, or set another engine.vertex.quotaProject",
  ACCESS_TOKEN_SCOPE_INSUFFICIENT: () => "sign in with the cloud-platform scope: gcloud auth application-default login",
  ACCESS_TOKEN_EXPIRED: () => login,
  ACCESS_TOKEN_TYPE_UNSUPPORTED: () => login,
  CREDENTIALS_MISSING: () => login,
  LOCATION_POLICY_VIOLATED: () => "the organisation forbids this region: set another engine.vertex.location",
  SECURITY_POLICY_VIOLATED: () => "a VPC Service Controls perimeter refuses the call: run inside it, or ask its owner",
  RATE_LIMIT_EXCEEDED: () => "wait a minute; for more, ask for a higher quota of VertexRagDataService in IAM & Admin > Quotas"
}

const login = "run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a key file"

const permission = (project: string): string =>
  `give the caller the role: gcloud projects add-iam-policy-binding ${project} --role roles/aiplatform.user --member ...`

const byCode: { readonly [Code in ServiceError["code"]]?: (project: string) => string } = {
  UNAUTHENTICATED: () => login,
  PERMISSION_DENIED: permission,
  RESOURCE_EXHAUSTED: () => "wait a minute; for more, ask for a higher quota in IAM & Admin > Quotas"
}

/** The error with a fix that a user can apply, unless the service named one itself. */
export const withFix = (error: ServiceError, project: string): ServiceError => {
  const fix = error.fix ?? (byReason[error.reason ?? ""] ?? byCode[error.code])?.(project)
  return fix === undefined || fix === error.fix ? error : error.with({ fix })
}
