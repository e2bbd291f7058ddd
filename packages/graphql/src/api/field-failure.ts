import type { GraphQLErrorCode } from '../error-codes.ts';

export interface FieldFailureOptions {
  readonly code?: GraphQLErrorCode;
  readonly shown?: string;
  readonly type?: string;
}

/** Why a field has no value. The message is for the log; the client reads that of the code unless `shown` is set. */
export class FieldFailure extends Error {
  override readonly name = 'FieldFailure';
  readonly code: GraphQLErrorCode;
  /** What the client reads. */
  readonly shown: string | undefined;
  /** What kind of failure it was, for traces: a status or the code of an error. */
  readonly type: string | undefined;

  constructor(reason: string, options: FieldFailureOptions = {}) {
    super(reason);
    this.code = options.code ?? 'ERR_GRAPHQL_RESOLVER';
    this.shown = options.shown;
    this.type = options.type;
  }
}

/** A failure that the client may read as it is. */
export function shownFailure(message: string): FieldFailure {
  return new FieldFailure(message, { shown: message });
}
