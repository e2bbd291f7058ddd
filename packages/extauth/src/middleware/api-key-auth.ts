import { createContext, plainSecrets, type Context, type Handler, type MiddlewareOptions } from '@edge-gateway/core';
import * as f from '@edge-gateway/core/options';
import { configError } from '../error-codes.ts';
import { extauth } from '../middleware.ts';
import { ON_REFUSAL } from './on-refusal.ts';

/** An API key and its owner. */
export interface PlainApiKey {
  readonly key: string;
  /** Name for `identityOf`, the user header and logs. Default: `key-1`, `key-2`, … in the order of the list. */
  readonly name?: string;
  /** Metadata for `headersFromMetadata`. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Options of {@link apiKeyAuth}. */
export interface ApiKeyAuthOptions extends MiddlewareOptions {
  /** At least one. */
  readonly keys: readonly (string | PlainApiKey)[];
  /** Request header with the key. Default `api-key`. */
  readonly headerName?: string;
  /** Metadata entry by request header. These headers of the client are removed. */
  readonly headersFromMetadata?: Readonly<Record<string, string>>;
  /** Request header with the name of the key for later handlers. Default `x-user-id`. */
  readonly userIdHeader?: string;
}

const STEP = 'apiKeyAuth';
const fields = {
  keys: f.list(
    f.either(f.text(), f.block(f.required('key'), { key: f.text(), name: f.text(), metadata: f.map(f.text()) })),
  ),
  headerName: f.text(),
  headersFromMetadata: f.map(f.text()),
  userIdHeader: f.text(),
  onRefusal: ON_REFUSAL,
} satisfies Record<keyof ApiKeyAuthOptions, f.Schema>;
const rules: f.OptionRules = { schema: f.block(f.required('keys'), fields), error: configError };

/**
 * Allows requests with one of the given keys; `identityOf(req)?.subject` is the name of the key. All others are rejected with 401.
 * Throws `ERR_EXTAUTH_CONFIG` for an empty list, an empty key, or a key or name that occurs twice.
 *
 * @example
 * app.use(apiKeyAuth({ keys: [{ name: 'shop', key: process.env.SHOP_KEY! }], headerName: 'x-api-key' }));
 */
export function apiKeyAuth(written: ApiKeyAuthOptions, context: Context = createContext()): Handler {
  const options = f.checkOptions(STEP, written, rules);
  const { headerName, headersFromMetadata = {}, userIdHeader, onRefusal } = options;
  const keys = keysOf(options.keys);
  const secrets = plainSecrets(
    Object.fromEntries(keys.map(({ name, key, metadata }) => [name, { ...metadata, 'api-key': key }])),
  );
  const apiKeySecretRefs = keys.map(({ name }) => ({ name, namespace: '' }));
  const headersFromMetadataEntry = Object.fromEntries(
    Object.entries(headersFromMetadata).map(([header, name]) => [header, { name }]),
  );
  const step = { headerName, headersFromMetadataEntry, k8sSecretApikeyStorage: { apiKeySecretRefs } };
  const own: Context = { ...context, state: context.state.bind(context), secrets };
  const config = { configs: [{ name: STEP, apiKeyAuth: step }] };
  return extauth({ config, settings: { userIdHeader }, name: STEP, onRefusal }, own);
}

function keysOf(written: ApiKeyAuthOptions['keys']): readonly Required<PlainApiKey>[] {
  if (written.length === 0) throw configError(`${STEP}: keys must contain at least one key`);
  const seen = new Set<string>();
  const names = new Set<string>();
  return written.map((each, i) => {
    const { key, name = `key-${i + 1}`, metadata = {} } = typeof each === 'string' ? { key: each } : each;
    if (key === '') throw configError(`${STEP}: keys[${i}]: the key is empty`);
    if (seen.has(key)) throw configError(`${STEP}: keys[${i}]: duplicate key`);
    if (name === '' || names.has(name))
      throw configError(
        `${STEP}: keys[${i}]: invalid name ${JSON.stringify(name)}: it must not be empty or occur twice`,
      );
    seen.add(key);
    names.add(name);
    return { key, name, metadata };
  });
}
