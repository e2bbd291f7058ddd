import type { GraphQLError } from 'graphql';

const START = ', but encountered error "';
const END = '"; found: ';

/**
 * Returns the message of an error of GraphQL.js without the text of a plain error that a scalar threw for an input, which may reveal
 * internals. The message of a `GraphQLError` that a scalar throws is not quoted, so it stays.
 */
export function inputMessage({ message }: GraphQLError): string {
  const start = message.indexOf(START);
  // The quoted text may contain the end as well.
  const end = message.lastIndexOf(END);
  return start < 0 || end < start ? message : `${message.slice(0, start)}, found: ${message.slice(end + END.length)}`;
}
