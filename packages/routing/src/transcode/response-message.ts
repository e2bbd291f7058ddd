import {
  create,
  fromBinary,
  toJson,
  type DescField,
  type DescMessage,
  type Message,
  type Registry,
} from '@bufbuild/protobuf';
import type { GrpcJsonTranscoder } from '@edge-gateway/core/schema';
import { routingError } from '../error-codes.ts';
import { hasFloats, shortenFloats } from './short-floats.ts';

/** How messages are written as JSON. */
export interface JsonFormat {
  readonly registry: Registry;
  readonly alwaysEmitImplicit: boolean;
  readonly enumAsInteger: boolean;
  readonly useProtoFieldName: boolean;
  readonly whitespace: boolean;
}

/** Returns the format of these options. */
export function jsonFormatOf(registry: Registry, options: GrpcJsonTranscoder['printOptions'] = {}): JsonFormat {
  return {
    registry,
    alwaysEmitImplicit: options.alwaysPrintPrimitiveFields === true,
    enumAsInteger: options.alwaysPrintEnumsAsInts === true,
    useProtoFieldName: options.preserveProtoFieldNames === true,
    whitespace: options.addWhitespace === true,
  };
}

/** Returns the JSON of a message of an upstream, or of the field at a path. Throws `ERR_ROUTING_GRPC_JSON_RESPONSE` for an invalid one. */
export function decodeMessage(
  type: DescMessage,
  bytes: Uint8Array,
  { path, format }: { readonly path: readonly DescField[]; readonly format: JsonFormat },
): string {
  const written = read(() => toJson(type, fromBinary(type, bytes), format));
  const json = hasFloats(type) ? shortenFloats(type, written, format.useProtoFieldName) : written;
  return printed(valueAt(json, path, format), format);
}

/** Returns the text of JSON, with white space if the format says so. */
export function printed(json: unknown, { whitespace }: JsonFormat): string {
  return whitespace ? `${JSON.stringify(json, undefined, 1)}\n` : JSON.stringify(json);
}

/** A part of a response that is sent as it is. */
export interface RawBody {
  readonly contentType: string;
  readonly data: Uint8Array;
}

/** Returns the `google.api.HttpBody` at a path of a message, or the message itself. */
export function decodeRaw(type: DescMessage, bytes: Uint8Array, path: readonly DescField[]): RawBody {
  let found: Message | undefined = read(() => fromBinary(type, bytes));
  for (const field of path) found = found && innerOf(found, field);
  const { contentType = '', data = new Uint8Array() } = (found ?? {}) as Partial<RawBody>;
  return { contentType, data };
}

function innerOf(message: Message, { oneof, localName }: DescField): Message | undefined {
  const fields = message as unknown as Readonly<Record<string, unknown>>;
  if (!oneof) return fields[localName] as Message | undefined;
  const chosen = fields[oneof.localName] as { readonly case?: string; readonly value?: Message };
  return chosen.case === localName ? chosen.value : undefined;
}

function read<T>(attempt: () => T): T {
  try {
    return attempt();
  } catch (cause) {
    throw routingError(
      'ERR_ROUTING_GRPC_JSON_RESPONSE',
      'invalid gRPC response: a message does not match its type',
      cause,
    );
  }
}

function valueAt(json: unknown, path: readonly DescField[], format: JsonFormat): unknown {
  let value = json;
  for (const field of path) {
    const key = format.useProtoFieldName ? field.name : field.jsonName;
    const fields = (value ?? {}) as Readonly<Record<string, unknown>>;
    value = Object.hasOwn(fields, key) ? fields[key] : unsetValue(field, key, format);
  }
  return value;
}

/** Returns the JSON of a field that is not set, which is left out of the JSON of its message. */
function unsetValue({ fieldKind, parent }: DescField, key: string, format: JsonFormat): unknown {
  if (fieldKind === 'message') return {};
  const json = toJson(parent, create(parent), { ...format, alwaysEmitImplicit: true }) as Record<string, unknown>;
  return json[key] ?? null;
}
