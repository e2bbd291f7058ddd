import { memberOf, toByteString, toValue, type TemplateData, type Value } from '@edge-gateway/core';
import type { MessageBody } from './body.ts';
import type { Message } from './message.ts';

/** Namespace of dynamic metadata where none is named. */
export const TRANSFORMATION_NAMESPACE = 'io.vendor.transformation';

/** Namespace of the labels by which subsets select. */
const LABELS_NAMESPACE = 'envoy.lb';

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly extracted: ReadonlyMap<string, string>;
  /** False where extracted values are only given by `extraction()`. */
  readonly bareNames: boolean;
  /** Empty if the body is not read. */
  readonly body: MessageBody;
}

/** A message as templates see it. */
export class MessageData implements TemplateData {
  readonly #message: Message;
  readonly #surroundings: Surroundings;

  constructor(message: Message, surroundings: Surroundings) {
    this.#message = message;
    this.#surroundings = surroundings;
  }

  variable(name: string): Value | undefined {
    const { bareNames, extracted, body } = this.#surroundings;
    const value = bareNames ? extracted.get(name) : undefined;
    return value ?? memberOf(body.json ?? null, [name]);
  }

  header(name: string): string {
    return this.#message.first(name);
  }

  requestHeader(name: string): string {
    return this.#message.request.first(name);
  }

  extraction(name: string): string {
    return this.#surroundings.extracted.get(name) ?? '';
  }

  env(name: string): string {
    const { env } = this.#surroundings;
    return toByteString((Object.hasOwn(env, name) ? env[name] : undefined) ?? '');
  }

  dynamicMetadata(key: string, namespace = TRANSFORMATION_NAMESPACE): string {
    return metadataAt(this.#message.facts.metadata.get(namespace), key);
  }

  /** Of the endpoint, which is chosen before `postRouting`. */
  hostMetadata(key: string, namespace = TRANSFORMATION_NAMESPACE): string {
    const { hostMetadata } = this.#message.facts;
    return metadataAt(namespace === LABELS_NAMESPACE ? hostMetadata : hostMetadata?.[namespace], key);
  }

  /** Upstreams carry no metadata. */
  clusterMetadata(): string {
    return '';
  }

  body(): string {
    return this.#surroundings.body.text;
  }

  context(): Value {
    return this.#surroundings.body.json ?? {};
  }
}

/** Returns a value by its keys, which are separated by colons. */
function metadataAt(values: unknown, key: string): string {
  let found = values;
  for (const step of key.split(':')) {
    found =
      typeof found === 'object' && found !== null && Object.hasOwn(found, step) ? Reflect.get(found, step) : undefined;
  }
  return textOf(found);
}

/** Texts as they are, lists and objects as JSON. */
function textOf(value: unknown): string {
  const plain = toValue(value);
  if (typeof plain === 'string') return plain;
  return plain === null ? '' : JSON.stringify(plain);
}
