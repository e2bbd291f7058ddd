import type { GraphQLErrorCode } from '../error-codes.ts';

export interface FieldFailureOptions {
  readonly code?: GraphQLErrorCode;
  readonly shown?: string;
  readonly type?: string;
}

/** Why a field has no value. The message is for the log; the client receives the message of the code unless `shown` is set. */
export class FieldFailure extends Error {
  override readonly name = 'FieldFailure';
  readonly code: GraphQLErrorCode;
  readonly shown: string | undefined;
  /** Kind of failure for traces: a status or an error code. */
  readonly type: string | undefined;

  constructor(reason: string, options: FieldFailureOptions = {}) {
    super(reason);
    this.code = options.code ?? 'ERR_GRAPHQL_RESOLVER';
    this.shown = options.shown;
    this.type = options.type;
  }
}

/** Creates a failure whose message is sent to the client. */
export function shownFailure(message: string): FieldFailure {
  return new FieldFailure(message, { shown: message });
}
