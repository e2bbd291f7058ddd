import { fromByteString, isSecretHeader, isToken, REDACTED_IN_LOG, redactPath, type Context } from '@edge-gateway/core';
import type { ListenerTracing } from '@edge-gateway/core/schema';
import type { RequestRecord } from '../format/record.ts';
import { findHeader } from '../http1/flat-headers.ts';

/** Namespace of the claims of verified tokens. */
const JWT_METADATA = 'envoy.filters.http.jwt_authn';
const ENDPOINT_METADATA = 'envoy.lb';

/** Metadata of the endpoint that responded: that of the namespace `envoy.lb`. */
export type EndpointMetadata = Readonly<Record<string, string>> | undefined;

/** Returns the value of a tag for a request; `undefined` omits it. */
type TagReader = (record: RequestRecord, endpoint?: EndpointMetadata) => string | undefined;

/** A tag that the configuration adds to each span of a request. */
export interface CustomTag {
  readonly name: string;
  readonly value: TagReader;
}

/** Compiles the tags of a listener: headers, environment variables, literals and metadata. */
export function compileTags(tracing: ListenerTracing, { env }: Pick<Context, 'env'>): readonly CustomTag[] {
  const { requestHeadersForTags = [], environmentVariablesForTags = [] } = tracing;
  const { literalsForTags = [], metadataForTags = [] } = tracing;
  return [
    ...literalsForTags.map(({ tag = '', value }) => constant(tag, value)),
    ...environmentVariablesForTags.map(({ tag = '', name = '', defaultValue }) => {
      return constant(tag, (env && Object.hasOwn(env, name) ? env[name] : undefined) ?? defaultValue);
    }),
    ...requestHeadersForTags.map(headerTag),
    ...metadataForTags.map(metadataTag),
  ].filter(({ name }) => name !== '');
}

/** Returns a value that is safe to send to a collector. */
const safe = (value: string): string => (isToken(value) ? REDACTED_IN_LOG : value);

function constant(name: string, written: string | undefined): CustomTag {
  const value = written ? safe(written) : undefined;
  return { name, value: () => value };
}

function headerTag(written: string): CustomTag {
  const lower = written.toLowerCase();
  const read: TagReader = ({ head }) => findHeader(head.headers, lower);
  if (isSecretHeader(lower)) {
    return { name: written, value: (record) => (read(record) === undefined ? undefined : REDACTED_IN_LOG) };
  }
  return {
    name: written,
    value: (record) => {
      const value = read(record);
      return value === undefined ? undefined : safe(redactPath(fromByteString(value)));
    },
  };
}

type MetadataForTags = NonNullable<ListenerTracing['metadataForTags']>[number];

function metadataTag({ tag = '', kind, value = {}, defaultValue }: MetadataForTags): CustomTag {
  const ofEndpoint = kind === 'ENDPOINT';
  const namespace = value.namespace || (ofEndpoint ? ENDPOINT_METADATA : JWT_METADATA);
  const key = value.key ?? '';
  const keys = ofEndpoint ? [key] : key.split(value.nestedFieldDelimiter || '.');
  return {
    name: tag,
    value(record, endpoint) {
      let found: unknown = ofEndpoint ? namespace === ENDPOINT_METADATA && endpoint : record.metadata.get(namespace);
      for (const part of keys) {
        if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part))
          return defaultValue || undefined;
        found = (found as Record<string, unknown>)[part];
      }
      if (found === undefined || found === null) return defaultValue || undefined;
      return safe(typeof found === 'string' ? found : JSON.stringify(found));
    },
  };
}
