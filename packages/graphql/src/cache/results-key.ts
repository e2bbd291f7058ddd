import {
  deriveKey,
  randomToken,
  secretText,
  SIGNING_KEY_ENTRY,
  signingKeySecret,
  signingKeyProblem,
  type Context,
} from '@edge-gateway/core';
import { graphqlError } from '../errors/refusal.ts';

const USE = 'graphql results';

/** Creates a getter of the encryption key of results: from `given`, else from the Secret of logins, which may change, else random. */
export function createResultsKey(given: string | undefined, context: Context): () => Uint8Array {
  const problem = given === undefined ? undefined : signingKeyProblem(given);
  if (problem) throw graphqlError('ERR_GRAPHQL_API', `cacheKey ${problem}.`);
  const log = context.log.get('graphql');
  let known: { readonly text: string; readonly key: Uint8Array } | undefined;

  function textOf(): string {
    const text = given ?? secretText(context.secrets.get(signingKeySecret()), SIGNING_KEY_ENTRY);
    const weakness = text === undefined ? undefined : signingKeyProblem(text);
    if (text !== undefined && weakness === undefined) return text;
    if (context.processKey !== undefined) return context.processKey;
    return context.state('graphql:results-key', () => {
      const resource = `Secret ${signingKeySecret().namespace}.${signingKeySecret().name}`;
      const reason = weakness === undefined ? 'no key' : `${SIGNING_KEY_ENTRY} ${weakness}`;
      log.warn({ resource, reason }, 'cached results are not shared with other processes');
      return randomToken();
    });
  }

  return () => {
    const text = textOf();
    if (known?.text !== text) known = { text, key: deriveKey(text, USE) };
    return known.key;
  };
}
