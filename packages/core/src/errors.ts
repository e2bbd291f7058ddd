import type { Issue } from './parse/issue.ts';

/** What a {@link GatewayError} is made of, beside its message. */
export interface GatewayErrorOptions {
  readonly code: string;
  /** HTTP status to answer with. Default 500. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/**
 * The one error class of all packages. `code` is `ERR_<PACKAGE>_<WHAT>`, never renamed or reused.
 * `status` and `headers` follow Express's convention, so its error handler renders them as they are.
 *
 * @example
 * app.use((error, req, res, next) => {
 *   if (error instanceof GatewayError) res.status(error.status).json({ code: error.code });
 *   else next(error);
 * });
 */
export class GatewayError extends Error {
  override readonly name: string = 'GatewayError';
  readonly code: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(message: string, options: GatewayErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.status = options.status ?? 500;
    this.headers = options.headers ?? {};
  }
}

/** Thrown where a resource or an option block is refused; `issues` has every problem found, each with its place. */
export class InvalidResourceError extends GatewayError {
  override readonly name = 'InvalidResourceError';
  readonly issues: readonly Issue[];

  constructor(message: string, issues: readonly Issue[]) {
    super(message, { code: 'ERR_CORE_INVALID_RESOURCE', status: 500 });
    this.issues = issues;
  }
}
