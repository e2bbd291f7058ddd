/** Defaults of fields that several packages apply: the schema writes them, the data plane and the admin endpoint read them here. */
export const DEFAULTS = {
  /** `timeout` of a route. */
  routeTimeout: '15s',
  /** `connectionConfig.connectTimeout` of an upstream. */
  connectTimeout: '5s',
  /** `extauth.requestTimeout` of the Settings. */
  authTimeout: '200ms',
  /** `extauth.statusOnError` of the Settings. */
  authStatusOnError: 403,
  /** `extauth.requestBody.maxRequestBytes` of the Settings. */
  authBodyBytes: 4096,
  /** `extauth.userIdHeader` of the Settings. */
  userIdHeader: 'x-user-id',
} as const;
