import type { ReplyBody } from './http/reply-body.ts';
import type { Problem } from './resource/problem.ts';

/** The response to an error that defines its own response. */
export interface ErrorReply {
  /** The body; may be empty. Its type is in the headers of the error, `text/plain` by default. */
  readonly body: ReplyBody;
  /** For access logs: the values of `%RESPONSE_CODE_DETAILS%` and `%RESPONSE_FLAGS%`. */
  readonly details?: string;
  readonly flags?: string;
  /** Values of `Set-Cookie`, besides that of the headers of the error. */
  readonly cookies?: readonly string[];
  /** True if the body is sent unchanged, to browsers too, because its author chose the format. Empty bodies still become a page. */
  readonly isFinal?: boolean;
}

/** The parts of a {@link GatewayError}, besides its message. */
export interface GatewayErrorOptions {
  readonly code: string;
  /** HTTP status of the response. Default 500. */
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly cause?: unknown;
  /** The response of the gateway. Default: code, message and request id as JSON; without the message from status 500 on. */
  readonly reply?: ErrorReply | undefined;
}

/**
 * The one error class of all packages. `code` is `ERR_<PACKAGE>_<WHAT>`, never renamed or reused.
 * `status`, `statusCode` and `headers` follow the conventions of Express, Fastify and Nest, so that their error handlers can render them.
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
  /** The same as `status`, under the name that Fastify and Nest read. */
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly reply: ErrorReply | undefined;

  constructor(message: string, options: GatewayErrorOptions) {
    const { status = 500 } = options;
    // Rejections of requests are not defects: a stack would take longer than the rest of the response.
    const limit = status < 500 ? omitStack() : undefined;
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    if (limit !== undefined) Error.stackTraceLimit = limit;
    this.code = options.code;
    this.status = status;
    this.statusCode = status;
    this.headers = options.headers ?? {};
    this.reply = options.reply;
  }
}

/** Omits the stack of the next error; returns the limit to set again. `undefined` if it cannot be set, as with `--frozen-intrinsics`. */
function omitStack(): number | undefined {
  const limit = Error.stackTraceLimit;
  if (typeof limit !== 'number') return undefined;
  try {
    // Much faster than `Reflect.set`.
    Error.stackTraceLimit = 0;
  } catch {
    return undefined;
  }
  return limit;
}

/** Error codes with their status and message: the table of a package. */
type ErrorTable<Code extends string> = Readonly<Record<Code, { readonly status: number; readonly message: string }>>;

/** Returns the function that creates the errors of a table: with the status of the code, and its message by default. */
export function errorsOf<Code extends string>(table: ErrorTable<Code>) {
  return (
    code: Code,
    message: string = table[code].message,
    { status = table[code].status, headers, cause, reply }: Partial<GatewayErrorOptions> = {},
  ): GatewayError => new GatewayError(message, { code, status, headers, cause, reply });
}

/** Thrown if a resource or an option block is invalid; `issues` contains every problem with its position. */
export class InvalidResourceError extends GatewayError {
  override readonly name = 'InvalidResourceError';
  readonly issues: readonly Problem[];

  constructor(message: string, issues: readonly Problem[]) {
    super(message, { code: 'ERR_CORE_INVALID_RESOURCE', status: 500 });
    this.issues = issues;
  }
}
