import { errorsOf } from '@edge-gateway/core';

/** Errors of this package. Codes are never renamed or reused. */
export const ERROR_CODES = {
  ERR_XDS_ADDRESS: { status: 500, message: 'The address of a control plane is invalid.' },
  ERR_XDS_RESOURCE: { status: 500, message: 'A resource of an update is invalid; the message names it.' },
  ERR_XDS_SNAPSHOT_FILE: { status: 500, message: 'The snapshot file is unusable; the message names the reason.' },
} as const;

/** Creates the error of a code. */
export const xdsError = errorsOf(ERROR_CODES);
