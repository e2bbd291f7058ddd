/** Errors of the program. Codes are never renamed or reused. */
export const ERROR_CODES = {
  ERR_GATEWAY_CONFIG: { status: 500, message: 'The directory of the resources cannot be read.' },
  ERR_GATEWAY_ERROR_PAGES: { status: 500, message: 'The directory of error pages cannot be used.' },
  ERR_GATEWAY_PORT: { status: 500, message: 'A port that the gateway should listen on is taken or not allowed.' },
} as const;
