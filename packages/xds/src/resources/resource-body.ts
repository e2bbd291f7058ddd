import { isDeepStrictEqual } from 'node:util';
import { freezeDeep, snapshotPartProblem, type SnapshotPartName } from '@edge-gateway/core';
import { decodeStrings } from '../protocol/wire.ts';
import { TYPE, typeName } from './resource-type.ts';

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

/** How a resource is read. */
export interface Reading {
  /** Its version before; parts that are equal are the same objects. */
  readonly before: Body | undefined;
  /** True if the content was checked by another process of this version. */
  readonly isTrusted: boolean;
}

/** Returns the JSON in the message of a resource; empty if the message is malformed. */
export function contentOf(value: Uint8Array): string {
  try {
    return decodeStrings(value, 1)[0]!;
  } catch {
    return '';
  }
}

/** Returns the content of a resource from its JSON. Throws `InvalidField` if it cannot be used. */
export function readBody(type: string, content: string, { before, isTrusted }: Reading): Body {
  const body = parse(content);
  const problem = isTrusted ? undefined : snapshotPartProblem(typeName(type) as SnapshotPartName, body);
  if (problem) throw new InvalidField(problem.field, problem.message);
  return freezeDeep(keep(body, before, SHAPES[type] ?? VALUE) as Body);
}

/**
 * Returns name, listener and domains of a virtual host that cannot be used otherwise; `undefined` if they cannot be read either. The host
 * has no routes.
 */
export function readDomains(content: string): Body | undefined {
  try {
    const { name, listener, domains, virtualService } = parse(content);
    if (typeof name !== 'string' || typeof listener !== 'string' || !Array.isArray(domains)) return undefined;
    const readable = domains.filter((domain) => typeof domain === 'string');
    if (readable.length === 0) return undefined;
    const ref = { name: '', namespace: '', ...(isRecord(virtualService) && virtualService) };
    return freezeDeep({ name, listener, domains: readable, virtualService: ref });
  } catch {
    return undefined;
  }
}

function parse(content: string): Record<string, unknown> {
  let body: unknown;
  try {
    body = JSON.parse(content);
  } catch {
    // The parser error quotes the content, which may be a secret.
    throw new InvalidField('', 'the content is not JSON');
  }
  if (!isRecord(body)) throw new InvalidField('', 'the content is not an object');
  return body;
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
