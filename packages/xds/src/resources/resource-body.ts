import { isDeepStrictEqual } from 'node:util';
import { freezeDeep } from '@edge-gateway/core';
import { decodeStrings } from '../protocol/wire.ts';
import { TYPE } from './resource-type.ts';

/** The content of a resource. Frozen. */
export type Body = Readonly<Record<string, unknown>>;

/** A field of a resource is missing or has the wrong type. */
export class InvalidField extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

type Expected = 'string' | 'number' | 'boolean' | 'object' | 'list' | 'list of strings' | 'list of objects';

const NAME = { name: 'string' } as const;
const REF = { ref: 'object', spec: 'object' } as const;

/** The required fields of a resource. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, Expected>>>> = {
  [TYPE.listener]: {
    ...NAME,
    bindAddress: 'string',
    bindPort: 'number',
    ssl: 'boolean',
    options: 'object',
    httpOptions: 'object',
    routeOptions: 'object',
    sslConfigurations: 'list',
  },
  [TYPE.virtualHost]: {
    ...NAME,
    listener: 'string',
    domains: 'list of strings',
    options: 'object',
    routes: 'list of objects',
    authConfigs: 'list of strings',
    rateLimitConfigs: 'list of strings',
    graphqlApis: 'list of strings',
  },
  [TYPE.upstream]: { ...NAME, ...REF, tls: 'boolean' },
  [TYPE.endpointSet]: { endpoints: 'list' },
  [TYPE.authConfig]: REF,
  [TYPE.rateLimitConfig]: REF,
  [TYPE.graphqlApi]: REF,
  [TYPE.secret]: { data: 'object' },
  [TYPE.settings]: { requireRbac: 'boolean' },
  [TYPE.snapshot]: {
    proxy: 'string',
    version: 'string',
    listeners: 'list of strings',
    unserved: 'list of objects',
    versions: 'object',
  },
};

/** Members of a body that readers compare by identity, besides the body itself. */
interface Shape {
  readonly one?: Readonly<Record<string, Shape>>;
  /** Lists of such members. */
  readonly many?: Readonly<Record<string, Shape>>;
  /** All members. */
  readonly members?: Shape;
}

const VALUE: Shape = {};
const RECORD: Shape = { members: VALUE };
const SHAPES: Readonly<Record<string, Shape>> = {
  [TYPE.settings]: RECORD,
  [TYPE.listener]: {
    one: { options: RECORD, httpOptions: VALUE, routeOptions: VALUE },
    many: { sslConfigurations: VALUE, parts: { one: { tcp: { many: { sslConfigurations: VALUE } } } } },
  },
};

/**
 * Returns the content of a resource; parts that are equal in `before` are the same objects. Throws `InvalidField` if it cannot be used.
 */
export function readBody(type: string, value: Uint8Array, before: Body | undefined): Body {
  const body = parse(value);
  for (const [field, expected] of Object.entries(FIELDS[type] ?? {})) {
    if (!isOf(body[field], expected))
      throw new InvalidField(field, `must be a ${expected}, not ${shownType(body[field])}`);
  }
  return freezeDeep(keep(body, before, SHAPES[type] ?? VALUE) as Body);
}

/**
 * Returns name, listener and domains of a virtual host that cannot be used otherwise; `undefined` if they cannot be read either. The host
 * has no routes.
 */
export function readDomains(value: Uint8Array): Body | undefined {
  try {
    const { name, listener, domains } = parse(value);
    const isHost = isOf(name, 'string') && isOf(listener, 'string') && isOf(domains, 'list of strings');
    return isHost ? freezeDeep({ name, listener, domains }) : undefined;
  } catch {
    return undefined;
  }
}

function parse(value: Uint8Array): Record<string, unknown> {
  let body: unknown;
  try {
    body = JSON.parse(decodeStrings(value, 1)[0]!);
  } catch {
    // The parser error quotes the content, which may be a secret.
    throw new InvalidField('', 'the content is not JSON');
  }
  if (typeNameOf(body) !== 'object') throw new InvalidField('', 'the content is not an object');
  return body as Record<string, unknown>;
}

function isOf(value: unknown, expected: Expected): boolean {
  const [type, element] = expected.split(' of ') as [string, string | undefined];
  if (typeNameOf(value) !== type) return false;
  return element === undefined || (value as unknown[]).every((each) => `${typeNameOf(each)}s` === element);
}

function shownType(value: unknown): string {
  return Array.isArray(value) ? `a list of ${[...new Set(value.map(typeNameOf))].join(', ')}` : typeNameOf(value);
}

function typeNameOf(value: unknown): string {
  if (value === undefined || value === null) return 'missing';
  return Array.isArray(value) ? 'list' : typeof value;
}

/** Returns `before` if it is equal; otherwise `now`, with the equal members of `before`. */
function keep(now: unknown, before: unknown, shape: Shape): unknown {
  if (!isRecord(now) || !isRecord(before)) return now;
  if (isDeepStrictEqual(now, before)) return before;
  const { one = {}, many = {}, members } = shape;
  const kept: Record<string, unknown> = { ...now };
  const single = members ? Object.keys(now).map((field) => [field, members] as const) : Object.entries(one);
  for (const [field, inner] of single) if (field in now) kept[field] = keep(now[field], before[field], inner);
  for (const [field, inner] of Object.entries(many)) {
    const [list, known] = [now[field], before[field]];
    if (Array.isArray(list) && Array.isArray(known)) kept[field] = keepList(list, known, inner);
  }
  return kept;
}

function keepList(now: readonly unknown[], before: readonly unknown[], shape: Shape): readonly unknown[] {
  return now.map((each, i) => before.find((known) => isDeepStrictEqual(known, each)) ?? keep(each, before[i], shape));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
