import type { RequestResult } from '../format/record.ts';

/** What a listener has sent instead of the response of a handler. */
export type ReplacedResponse = Readonly<Pick<RequestResult, 'flags' | 'details' | 'status'>>;

const replaced = new WeakMap<object, ReplacedResponse>();

/** Notes that a listener has ended the exchange of a handler, for the access log of the handler. */
export function noteReplaced(res: object, by: ReplacedResponse): void {
  replaced.set(res, by);
}

/** Returns what a listener has sent instead of a response; `undefined` if nothing. */
export const replacementOf = (res: object): ReplacedResponse | undefined => replaced.get(res);
