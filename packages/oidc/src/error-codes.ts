/** Errors of this package. Codes are never renamed or reused. */
export const ERROR_CODES = {
  ERR_OIDC_CONFIG: { status: 500, message: 'The options of a login are invalid.' },
  ERR_OIDC_SECRET: { status: 500, message: 'A secret of a login is missing or invalid.' },
  ERR_OIDC_PROVIDER_UNAVAILABLE: { status: 503, message: 'The identity provider is unavailable.' },
  ERR_OIDC_PROVIDER_TIMEOUT: { status: 504, message: 'The identity provider did not respond in time.' },
  ERR_OIDC_PROVIDER_ANSWER: { status: 502, message: 'The identity provider sent an invalid response.' },
  ERR_OIDC_GRANT_REFUSED: { status: 401, message: 'The identity provider rejected the grant.' },
  ERR_OIDC_TOKEN_INVALID: { status: 401, message: 'A token of the identity provider is invalid.' },
  ERR_OIDC_GROUPS_UNAVAILABLE: { status: 503, message: 'The groups of a user cannot be read.' },
  ERR_OIDC_STORE_UNAVAILABLE: { status: 503, message: 'The session store is unavailable.' },
  ERR_OIDC_SESSION_TOO_LARGE: { status: 500, message: 'The tokens of a login are too large for cookies.' },
  ERR_OIDC_LOGIN_REQUIRED: { status: 401, message: 'Log in first.' },
  ERR_OIDC_LOGIN_FAILED: { status: 400, message: 'The login could not be completed; start again.' },
} as const;
