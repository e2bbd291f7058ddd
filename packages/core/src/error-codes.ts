import { errorsOf } from './errors.ts';

/** Every error code of this package with its status. Codes are never renamed or reused. */
export const ERROR_CODES = {
  ERR_CORE_BODY_CONSUMED: {
    status: 500,
    message: 'the request body was read by other middleware and cannot be restored',
  },
  ERR_CORE_BODY_TOO_LARGE: { status: 413, message: 'payload too large' },
  ERR_CORE_DIRECTORY_UNREADABLE: { status: 500, message: 'the directory of resources does not exist' },
  ERR_CORE_DURATION: { status: 500, message: 'invalid duration: use a form such as `1h30m`, `5s`, `0.25s` or `500ms`' },
  ERR_CORE_EXPRESSION: { status: 500, message: 'a boolean expression is invalid, or names an unknown step' },
  ERR_CORE_HANDLER: { status: 500, message: 'the request could not be processed' },
  ERR_CORE_INVALID_RESOURCE: { status: 500, message: 'resources or options are invalid; `issues` lists every problem' },
  ERR_CORE_KEY_FILE: { status: 500, message: 'a key file is unreadable, or has fewer than 32 bytes' },
  ERR_CORE_MIDDLEWARE: { status: 500, message: 'invalid options or handlers of a middleware' },
  ERR_CORE_PAGE_TEMPLATE: { status: 500, message: 'an error page template has an unknown placeholder' },
  ERR_CORE_REGEX: { status: 500, message: 'a regular expression is not valid RE2, or exceeds the maximum size' },
  ERR_CORE_RESPONSE_TOO_LARGE: { status: 500, message: 'the response body is larger than a filter can read' },
  ERR_CORE_SECRETS_PENDING: { status: 503, message: 'a secret has not been received yet' },
  ERR_CORE_TEMPLATE: { status: 500, message: 'a template does not parse; the message has line and column' },
  ERR_CORE_TEMPLATE_RENDER: { status: 400, message: 'a template cannot be rendered for this input' },
  ERR_CORE_UPGRADE: { status: 403, message: 'this upgrade is not allowed here' },
} as const satisfies Record<string, { status: number; message: string }>;

/** Creates the error of a code. */
export const coreError = errorsOf(ERROR_CODES);
