import { errorsOf } from '@edge-gateway/core';

/** Errors of this package. Codes are never renamed or reused. */
export const ERROR_CODES = {
  ERR_KUBERNETES_ACCESS: { status: 500, message: 'The API server cannot be found; the message names what is missing.' },
  ERR_KUBERNETES_API: { status: 502, message: 'The API server rejected a request; the message contains its reason.' },
  ERR_KUBERNETES_NAME: { status: 400, message: 'A text cannot be the name of an object; the message contains it.' },
} as const;

/** Creates the error of a code. */
export const kubernetesError = errorsOf(ERROR_CODES);
