/** Errors of this package. Codes are never renamed or reused. */
export const ERROR_CODES = {
  ERR_OIDC_CONFIG: { status: 500, message: 'A login cannot be made from its options.' },
  ERR_OIDC_SECRET: { status: 500, message: 'A secret that a login needs is missing or cannot be used.' },
  ERR_OIDC_PROVIDER_UNAVAILABLE: { status: 503, message: 'The identity provider cannot be reached.' },
  ERR_OIDC_PROVIDER_TIMEOUT: { status: 504, message: 'The identity provider did not answer in time.' },
  ERR_OIDC_PROVIDER_ANSWER: { status: 502, message: 'The identity provider gave an answer that cannot be used.' },
  ERR_OIDC_GRANT_REFUSED: { status: 401, message: 'The identity provider refused the grant.' },
  ERR_OIDC_TOKEN_INVALID: { status: 401, message: 'A token of the identity provider is not valid.' },
  ERR_OIDC_GROUPS_UNAVAILABLE: { status: 503, message: 'The groups of a user cannot be read.' },
  ERR_OIDC_STORE_UNAVAILABLE: { status: 503, message: 'The session store cannot be reached.' },
  ERR_OIDC_SESSION_TOO_LARGE: { status: 500, message: 'The tokens of a login are too large for cookies.' },
  ERR_OIDC_LOGIN_REQUIRED: { status: 401, message: 'Log in first.' },
  ERR_OIDC_LOGIN_FAILED: { status: 400, message: 'The login could not be finished; start again.' },
} as const;
