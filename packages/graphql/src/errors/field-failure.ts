import type { GraphQLError } from 'graphql';
import type { GraphQLErrorCode } from '../error-codes.ts';

/** Why a field has no value. The message is for the log; the client receives the message of the code unless `shown` is set. */
export class FieldFailure extends Error {
  override readonly name = 'FieldFailure';
  readonly code: GraphQLErrorCode;
  readonly shown: string | undefined;
  /** Kind of failure for traces: a status or an error code. */
  readonly type: string | undefined;

  constructor(reason: string, options: Partial<Pick<FieldFailure, 'code' | 'shown' | 'type'>> = {}) {
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

const START = ', but encountered error "';
const END = '"; found: ';

/** Returns the message without the quoted text of an error that a scalar threw for an input: it may reveal internals. */
export function inputMessage({ message }: GraphQLError): string {
  const start = message.indexOf(START);
  // The quoted text may contain the end as well.
  const end = message.lastIndexOf(END);
  return start < 0 || end < start ? message : `${message.slice(0, start)}, found: ${message.slice(end + END.length)}`;
}
