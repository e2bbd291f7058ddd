import {
  create,
  fromJson,
  mergeFromJson,
  ScalarType,
  toBinary,
  type DescField,
  type DescMessage,
  type JsonValue,
  type Message,
  type Registry,
} from '@bufbuild/protobuf';
import { hasCustomJsonRepresentation, isWrapperDesc } from '@bufbuild/protobuf/wkt';
import { ExactNumber, parseStrictJson } from '@edge-gateway/core';
import { routingError } from '../error-codes.ts';
import { nested } from './field-path.ts';
import { jsonOfText } from './field-text.ts';

/** A field with a text of the path or the query. */
export interface FieldText {
  readonly path: readonly DescField[];
  readonly text: string;
}

/** What a message is made of. */
export interface MessageParts {
  readonly type: DescMessage;
  readonly registry: Registry;
  /** Field that the body is parsed into; empty for the whole message. */
  readonly bodyPath: readonly DescField[];
  /** Override fields of the body; lists are appended to. */
  readonly texts: readonly FieldText[];
}

/**
 * Encodes the JSON of a request as a message. Unknown members are ignored, so that clients may be newer than the server. Throws
 * `ERR_ROUTING_GRPC_JSON` for anything else that does not match the type.
 */
export function encodeMessage(
  body: Uint8Array | undefined,
  { type, registry, bodyPath, texts }: MessageParts,
): Uint8Array {
  const message = checked(() => {
    if (body === undefined) return create(type);
    const json = knownPart(type, nested(bodyPath, parseStrictJson(body)));
    return fromJson(type, json as JsonValue, { registry });
  });
  setTexts(message, type, texts);
  return toBinary(type, message);
}

/** Encodes raw bytes as a message with a `google.api.HttpBody` at `bodyPath`, or as one. */
export function encodeRaw(
  { bytes, contentType }: { readonly bytes: Uint8Array; readonly contentType: string },
  { type, bodyPath, texts }: MessageParts,
): Uint8Array {
  const message = create(type);
  let target = message as HttpBody;
  for (const field of bodyPath) {
    const inner = create(field.message!);
    assign(target, field, inner);
    target = inner as HttpBody;
  }
  target.contentType = contentType;
  target.data = bytes;
  setTexts(message, type, texts);
  return toBinary(type, message);
}

interface HttpBody extends Message {
  contentType: string;
  data: Uint8Array;
}

/** Sets a message field, which may be a part of a oneof. */
function assign(message: Message, field: DescField, value: Message): void {
  const fields = message as unknown as Record<string, unknown>;
  if (field.oneof) fields[field.oneof.localName] = { case: field.localName, value };
  else fields[field.localName] = value;
}

function setTexts(message: Message, type: DescMessage, texts: readonly FieldText[]): void {
  for (const { path, text } of texts) {
    const name = path.map((field) => field.name).join('.');
    checked(() => {
      checkOneofs(message, path);
      mergeFromJson(type, message, nested(path, jsonOfText(path.at(-1)!, text)) as JsonValue);
    }, name);
  }
}

/** Throws an `Error` if another field of the oneof is already set. */
function checkOneofs(message: Message, path: readonly DescField[]): void {
  let fields: Readonly<Record<string, unknown>> | undefined = message as unknown as Readonly<Record<string, unknown>>;
  for (const { oneof, localName } of path) {
    const chosen = oneof && (fields[oneof.localName] as { readonly case?: string; readonly value?: unknown });
    if (chosen?.case !== undefined && chosen.case !== localName) throw new Error(`${oneof!.name} is set twice`);
    const inner = chosen ? chosen.value : fields[localName];
    if (typeof inner !== 'object' || inner === null) return;
    fields = inner as Readonly<Record<string, unknown>>;
  }
}

/** Longest explanation that a client receives, in characters. */
const MAX_MESSAGE = 300;

/** Converts what a function throws to a response that says what is wrong with the request. */
function checked<T>(attempt: () => T, parameter?: string): T {
  try {
    return attempt();
  } catch (error) {
    const reason = (error as Error).message.slice(0, MAX_MESSAGE);
    const of = parameter === undefined ? '' : ` parameter '${parameter}'`;
    throw routingError('ERR_ROUTING_GRPC_JSON', `invalid request${of}: ${reason}`, error);
  }
}

/** Returns JSON without the members that a type does not have, and with numbers as their fields need them. Its depth is limited already. */
function knownPart(type: DescMessage, json: unknown): unknown {
  if (isWrapperDesc(type)) return numberFor(type.fields[0]!.scalar, json);
  if (hasCustomJsonRepresentation(type)) return inexact(json);
  if (!isObject(json)) return inexact(json);
  const known: Record<string, unknown> = {};
  for (const field of type.fields) {
    for (const name of new Set([field.jsonName, field.name])) {
      if (Object.hasOwn(json, name)) known[name] = knownValue(field, json[name]);
    }
  }
  return known;
}

function knownValue({ fieldKind, message, scalar }: DescField, json: unknown): unknown {
  const convert = (part: unknown): unknown => (message ? knownPart(message, part) : numberFor(scalar, part));
  if (fieldKind === 'list') return Array.isArray(json) ? json.map(convert) : inexact(json);
  if (fieldKind !== 'map') return convert(json);
  return isObject(json) ? mapValues(json, convert) : inexact(json);
}

/** Integers of 64 bits may be strings in the JSON of a message. */
function numberFor(scalar: ScalarType | undefined, json: unknown): unknown {
  if (!(json instanceof ExactNumber)) return json;
  return scalar !== undefined && LONG.has(scalar) ? json.text : Number(json.text);
}

const LONG: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
]);

/** Returns JSON with numbers as JavaScript has them. */
function inexact(json: unknown): unknown {
  if (json instanceof ExactNumber) return Number(json.text);
  if (Array.isArray(json)) return json.map(inexact);
  return isObject(json) ? mapValues(json, inexact) : json;
}

function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json) && !(json instanceof ExactNumber);
}

/** Keeps `__proto__` a member like any other. */
function mapValues(json: Readonly<Record<string, unknown>>, change: (part: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(json).map(([key, part]) => [key, change(part)]));
}
