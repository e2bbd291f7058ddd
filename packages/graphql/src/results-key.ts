import { deriveKey, randomToken, secretText, SIGNING_KEY_SECRET, type Context } from '@edge-gateway/core';
import { graphqlError } from './refusal.ts';

/** Minimum length of a key in characters. */
const MIN_KEY_LENGTH = 32;
const USE = 'graphql results';

/**
 * Creates a getter of the encryption key of cached results: from `given`, or else from `signing-key` in the Secret that logins use too, which may change
 * while the process runs, or else a random one: then only this process can read its results, until it restarts. Throws
 * `ERR_GRAPHQL_API` where `given` is shorter than 32 characters.
 */
export function createResultsKey(given: string | undefined, context: Context): () => Uint8Array {
  if (given !== undefined && given.length < MIN_KEY_LENGTH) {
    throw graphqlError('ERR_GRAPHQL_API', `cacheKey must have at least ${MIN_KEY_LENGTH} characters.`);
  }
  const log = context.log.get('graphql');
  let known: { readonly text: string; readonly key: Uint8Array } | undefined;

  function textOf(): string {
    const text = given ?? secretText(context.secrets.get(SIGNING_KEY_SECRET), 'signing-key');
    if (text !== undefined && text.length >= MIN_KEY_LENGTH) return text;
    return context.state('graphql:results-key', () => {
      const secret = `${SIGNING_KEY_SECRET.namespace}.${SIGNING_KEY_SECRET.name}`;
      const reason = text === undefined ? 'no key' : `signing-key has fewer than ${MIN_KEY_LENGTH} characters`;
      log.warn({ secret, reason }, 'cached results are not shared with other processes');
      return randomToken();
    });
  }

  return () => {
    const text = textOf();
    if (known?.text !== text) known = { text, key: deriveKey(text, USE) };
    return known.key;
  };
}
