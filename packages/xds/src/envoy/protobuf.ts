import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import protobuf, { type Enum, type Field, type Root } from 'protobufjs';
import type { EnvoyMessage } from '@edge-gateway/core/envoy';
import { toStruct } from '@edge-gateway/core/grpc';
import { ENVOY_API } from '../protocol/load-service.ts';
import { unpooled, varint } from '../protocol/wire.ts';
import { rulesOf, type MessageRules } from './field-rules.ts';
import { FURTHER_RULES } from './further-rules.ts';

const PREFIX = 'type.googleapis.com/';
const FOLDERS = [
  ENVOY_API,
  // google/protobuf/descriptor.proto
  dirname(createRequire(import.meta.url).resolve('protobufjs/package.json')),
];

/** The files of all types that the translation uses, also inside of `Any`. */
const FILES = [
  'config/cluster/v3/cluster',
  'config/listener/v3/listener',
  'config/route/v3/route',
  'config/endpoint/v3/endpoint',
  'extensions/access_loggers/file/v3/file',
  'extensions/access_loggers/stream/v3/stream',
  'extensions/filters/http/buffer/v3/buffer',
  'extensions/filters/http/cors/v3/cors',
  'extensions/filters/http/csrf/v3/csrf',
  'extensions/filters/http/ext_authz/v3/ext_authz',
  'extensions/filters/http/fault/v3/fault',
  'extensions/filters/http/grpc_web/v3/grpc_web',
  'extensions/filters/http/header_mutation/v3/header_mutation',
  'extensions/filters/http/jwt_authn/v3/config',
  'extensions/filters/http/local_ratelimit/v3/local_rate_limit',
  'extensions/filters/http/ratelimit/v3/rate_limit',
  'extensions/filters/http/rbac/v3/rbac',
  'extensions/filters/http/router/v3/router',
  'extensions/filters/listener/proxy_protocol/v3/proxy_protocol',
  'extensions/filters/listener/tls_inspector/v3/tls_inspector',
  'extensions/filters/network/http_connection_manager/v3/http_connection_manager',
  'extensions/filters/network/sni_cluster/v3/sni_cluster',
  'extensions/filters/network/tcp_proxy/v3/tcp_proxy',
  'extensions/http/early_header_mutation/header_mutation/v3/header_mutation',
  'extensions/http/header_formatters/preserve_case/v3/preserve_case',
  'extensions/retry/priority/previous_priorities/v3/previous_priorities_config',
  'extensions/transport_sockets/proxy_protocol/v3/upstream_proxy_protocol',
  'extensions/transport_sockets/raw_buffer/v3/raw_buffer',
  'extensions/transport_sockets/tls/v3/tls',
  'extensions/upstreams/http/v3/http_protocol_options',
];

/** A type with its fields by name; built when it is first used. */
interface MessageType {
  readonly fields: ReadonlyMap<string, Convert>;
  readonly rules: MessageRules;
  serialize(message: object): Buffer;
}

type Convert = (value: unknown, path: string) => unknown;

let root: Root | undefined;
const types = new Map<string, MessageType>();

/** Loads the types; takes some tenths of a second once. */
function loaded(): Root {
  if (root) return root;
  const created = new protobuf.Root();
  created.resolvePath = (_origin, target) =>
    protobuf.common.get(target) ? target : (FOLDERS.map((each) => join(each, target)).find(existsSync) ?? target);
  created.loadSync(
    FILES.map((file) => `envoy/${file}.proto`),
    { keepCase: true },
  );
  created.resolveAll();
  return (root = created);
}

/**
 * Serializes a message in the JSON form of Protocol Buffers with original field names. Throws an `Error` that names the path of an unknown
 * field, enum value or type, and of a value that Envoy rejects: nothing is dropped silently, and no value makes Envoy reject all others.
 *
 * @example
 * encodeMessage('envoy.config.route.v3.RouteConfiguration', { name: 'routes' });
 */
export function encodeMessage(type: string, message: EnvoyMessage): Buffer {
  const { serialize } = typeOf(type);
  return serialize(objectOf(type, message, type));
}

/** {@link encodeMessage} of the type in `@type`. */
export function encodeTyped({ '@type': type, ...message }: EnvoyMessage): Buffer {
  return encodeMessage(typeNameOf(type, ''), message);
}

/** Returns a message as a field of another one, to be appended to it: the order of fields is free. */
export function fieldOf(field: number, value: Uint8Array): Uint8Array {
  return unpooled(Buffer.concat([varint((field << 3) | 2), varint(value.length), value]));
}

function typeNameOf(url: unknown, path: string): string {
  if (typeof url !== 'string' || !url.startsWith(PREFIX)) throw new Error(`${path}: @type is missing`);
  return url.slice(PREFIX.length);
}

function typeOf(name: string): MessageType {
  let known = types.get(name);
  if (!known) {
    const type = loaded().lookupType(name);
    const fields = new Map(type.fieldsArray.map((field) => [field.name, converterOf(field)] as const));
    const serialize = (message: object): Buffer => type.encode(type.fromObject(message)).finish() as Buffer;
    types.set(name, (known = { fields, rules: rulesOf(type), serialize }));
  }
  return known;
}

function objectOf(type: string, value: unknown, path: string): object {
  const { fields, rules } = typeOf(type);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${path} must be an object`);
  const found: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value) as [string, unknown][]) {
    if (inner === undefined) continue;
    const convert = fields.get(name);
    if (!convert) throw new Error(`${path}: unknown field ${name}`);
    const problem = rules.fields.get(name)?.(inner);
    if (problem !== undefined) throw new Error(`${path}.${name}: ${problem}`);
    found[name] = convert(inner, `${path}.${name}`);
  }
  const problem = rules.missing(new Set(Object.keys(found))) ?? FURTHER_RULES[type]?.(value as EnvoyMessage);
  if (problem !== undefined) throw new Error(`${path}: ${problem}`);
  return found;
}

function converterOf(field: Field): Convert {
  const convert = lazily(() => singleConverter(field.resolve()));
  if (field.map)
    return (value, path) =>
      Object.fromEntries(
        Object.entries(value as object).map(([key, inner]) => [key, convert(inner, `${path}.${key}`)]),
      );
  if (!field.repeated) return convert;
  return (value, path) => {
    if (!Array.isArray(value)) throw new Error(`${path} must be a list`);
    return value.map((each, index) => convert(each, `${path}[${index}]`));
  };
}

/** The types of messages refer to themselves. */
function lazily(create: () => Convert): Convert {
  let known: Convert | undefined;
  return (value, path) => (known ??= create())(value, path);
}

function singleConverter({ resolvedType }: Field): Convert {
  if (!resolvedType) return (value) => value;
  if (resolvedType instanceof protobuf.Enum) return enumConverter(resolvedType);
  const name = resolvedType.fullName.slice(1);
  return WELL_KNOWN[name] ?? ((value, path) => objectOf(name, value, path));
}

/** Numbers are allowed, as in JSON. */
function enumConverter({ values }: Enum): Convert {
  return (value, path) => {
    if (typeof value !== 'number' && !Object.hasOwn(values, value as string))
      throw new Error(`${path}: unknown value ${String(value)}`);
    return value;
  };
}

const wrapper: Convert = (value) => ({ value });

/** Types with a JSON form of their own. */
const WELL_KNOWN: Readonly<Record<string, Convert>> = {
  'google.protobuf.Any': (value, path) => {
    const { '@type': url, ...message } = value as EnvoyMessage;
    const type = typeNameOf(url, path);
    return { type_url: url, value: typeOf(type).serialize(objectOf(type, message, path)) };
  },
  'google.protobuf.Duration': duration,
  'google.protobuf.Struct': (value) => toStruct(value as object),
  'google.protobuf.Value': (value) => toStruct({ value }).fields!['value'],
  ...Object.fromEntries(
    ['Bool', 'Bytes', 'Double', 'Float', 'Int32', 'Int64', 'String', 'UInt32', 'UInt64'].map((name) => [
      `google.protobuf.${name}Value`,
      wrapper,
    ]),
  ),
};

function duration(value: unknown, path: string): object {
  const [, sign = '', seconds, fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,9}))?s$/.exec(String(value)) ?? [];
  if (seconds === undefined) throw new Error(`${path}: invalid duration ${String(value)}`);
  const nanos = Number(fraction.padEnd(9, '0'));
  return sign === '' ? { seconds, nanos } : { seconds: `-${seconds}`, nanos: -nanos };
}
