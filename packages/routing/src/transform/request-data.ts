import { toByteString, toValue, type TemplateData, type Value } from '@edge-gateway/core';
import type { Message } from './message.ts';

/** Namespace of dynamic metadata where none is named. */
export const TRANSFORMATION_NAMESPACE = 'io.vendor.transformation';

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly extracted: ReadonlyMap<string, string>;
  /** False where extracted values are only given by `extraction()`. */
  readonly bareNames: boolean;
}

/** A request as templates see it. No body is read, so that it is empty to them. */
export class RequestData implements TemplateData {
  readonly #message: Message;
  readonly #surroundings: Surroundings;

  constructor(message: Message, surroundings: Surroundings) {
    this.#message = message;
    this.#surroundings = surroundings;
  }

  variable(name: string): Value | undefined {
    return this.#surroundings.bareNames ? this.#surroundings.extracted.get(name) : undefined;
  }

  header(name: string): string {
    return this.#message.first(name);
  }

  requestHeader(name: string): string {
    return this.#message.first(name);
  }

  extraction(name: string): string {
    return this.#surroundings.extracted.get(name) ?? '';
  }

  env(name: string): string {
    const { env } = this.#surroundings;
    return toByteString((Object.hasOwn(env, name) ? env[name] : undefined) ?? '');
  }

  dynamicMetadata(key: string, namespace = TRANSFORMATION_NAMESPACE): string {
    let found: unknown = this.#message.facts.metadata.get(namespace);
    for (const step of key.split(':')) {
      found =
        typeof found === 'object' && found !== null && Object.hasOwn(found, step)
          ? Reflect.get(found, step)
          : undefined;
    }
    return textOf(found);
  }

  /** The endpoint is not chosen before any of these stages. */
  hostMetadata(): string {
    return '';
  }

  /** Upstreams carry no metadata. */
  clusterMetadata(): string {
    return '';
  }

  body(): string {
    return '';
  }

  context(): Value {
    return {};
  }
}

/** Texts as they are, lists and objects as JSON. */
function textOf(value: unknown): string {
  const plain = toValue(value);
  if (typeof plain === 'string') return plain;
  return plain === null ? '' : JSON.stringify(plain);
}
