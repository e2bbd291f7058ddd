import type { DescMethod } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** Number of the method option `google.api.http`. */
const HTTP_OPTION = 72_295_728;

/** Fields of `google.api.HttpRule` that contain a path, by number. */
const METHODS: Readonly<Record<number, string>> = { 2: 'GET', 3: 'PUT', 4: 'POST', 5: 'DELETE', 6: 'PATCH' };
const BODY = 7;
const CUSTOM = 8;
const ADDITIONAL_BINDINGS = 11;
const RESPONSE_BODY = 12;

/** A binding of a gRPC method to a method and a path of HTTP. */
export interface HttpRule {
  /** `*` for every method. */
  readonly method: string;
  readonly path: string;
  /** Field that the body is parsed into; `*` for the whole message, empty for none. */
  readonly body: string;
  /** Field that the response contains; empty for the whole message. */
  readonly responseBody: string;
}

/** Returns the rules of the option `google.api.http`; `undefined` without the option. Throws an `Error` for an invalid one. */
export function httpRulesOf({ proto }: DescMethod): readonly HttpRule[] | undefined {
  const options = proto.options?.$unknown?.filter(({ no }) => no === HTTP_OPTION) ?? [];
  if (options.length === 0) return undefined;
  // The parts of a repeated option are merged, which is what a message in several parts means.
  const parts = options.map(({ data }) => new BinaryReader(data).bytes());
  return readRule(Buffer.concat(parts), true);
}

function readRule(bytes: Uint8Array, isOuter: boolean): readonly HttpRule[] {
  const reader = new BinaryReader(bytes);
  const additional: HttpRule[] = [];
  let [method, path, body, responseBody] = ['', '', '', ''];
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    const written = METHODS[field];
    if (wireType !== WireType.LengthDelimited) reader.skip(wireType, field);
    else if (written) [method, path] = [written, reader.string()];
    else if (field === BODY) body = reader.string();
    else if (field === CUSTOM) [method, path] = readCustom(reader.bytes());
    else if (field === RESPONSE_BODY) responseBody = reader.string();
    else if (field === ADDITIONAL_BINDINGS && isOuter) additional.push(...readRule(reader.bytes(), false));
    else reader.skip(wireType, field);
  }
  return path === '' ? additional : [{ method, path, body, responseBody }, ...additional];
}

/** Reads a `CustomHttpPattern`: its kind and its path. */
function readCustom(bytes: Uint8Array): readonly [string, string] {
  const reader = new BinaryReader(bytes);
  let [kind, path] = ['', ''];
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1 && wireType === WireType.LengthDelimited) kind = reader.string();
    else if (field === 2 && wireType === WireType.LengthDelimited) path = reader.string();
    else reader.skip(wireType, field);
  }
  return [kind, path];
}
