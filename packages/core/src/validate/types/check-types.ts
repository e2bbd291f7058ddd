import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { FieldPath } from '../../resource/problem.ts';
import type { Kind } from '../../resource/resource.ts';
import { contentSchema } from '../../schema/json-schema.ts';
import type { KindInfo } from '../../schema/kinds.ts';
import { suggest } from '../../syntax/did-you-mean.ts';
import { nodeAt, nodeOf } from './node.ts';
import { writtenPath, type Move } from './normalise.ts';
import type { DocumentReport, WrittenProblem } from '../document-report.ts';
import { unknownKey } from './unknown-key.ts';

const DURATION_HINT = 'a duration, for example 5s';
// Not optimised: an optimised validator takes twice as long to compile and is not faster.
const ajv = new Ajv({ allErrors: true, strict: false, verbose: true, messages: false, code: { optimize: false } });
const validators = new Map<Kind, ValidateFunction>();

/** The input of the check: a normalised content, its path, and its renamed fields. */
export interface Content {
  readonly value: unknown;
  readonly at: FieldPath;
  readonly moves: readonly Move[];
}

/** Reports keys, types, enums and bounds that do not match the schema of the kind. */
export function checkTypes(info: KindInfo, content: Content, report: DocumentReport): void {
  let validate = validators.get(info.kind);
  if (!validate) validators.set(info.kind, (validate = ajv.compile(contentSchema(info))));
  if (validate(content.value)) return;
  for (const error of validate.errors ?? []) {
    if (report.full) break;
    const path = toPath(error.instancePath, content.value);
    const key = error.params['additionalProperty'] as string | undefined;
    const root = nodeOf(info.schema);
    const problem =
      key === undefined
        ? wrongValue(error, nodeAt(root, path)?.type === 'duration')
        : unknownKey({ node: root, at: content.at }, path, key);
    const now = [...content.at, ...path, ...(key === undefined ? [] : [key])];
    report.add({ ...problem, path: writtenPath(content.moves, now) });
  }
}

/** Returns the steps of a JSON pointer; digits are indices only in lists. */
function toPath(pointer: string, root: unknown): (string | number)[] {
  let value = root;
  return pointer
    .split('/')
    .slice(1)
    .map((part) => {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      const step = Array.isArray(value) ? Number(key) : key;
      value = (value as Record<string | number, unknown>)[step];
      return step;
    });
}

function wrongValue(error: ErrorObject, isDuration: boolean): Omit<WrittenProblem, 'path'> {
  const { keyword, data, params } = error;
  const { minimum, maximum } = (error.parentSchema ?? {}) as { minimum?: number; maximum?: number };
  if (keyword === 'enum') return badEnum(data, (params['allowedValues'] ?? []) as string[]);
  if (keyword === 'minimum' || keyword === 'maximum') {
    const message = `${String(data)} is ${keyword === 'minimum' ? 'less' : 'more'} than allowed`;
    const bounds = [
      minimum === undefined ? '' : `at least ${minimum}`,
      maximum === undefined ? '' : `at most ${maximum}`,
    ];
    return { code: 'OUT_OF_RANGE', message, hint: bounds.filter(Boolean).join(', '), on: 'value' };
  }
  const wanted = TYPE_NAMES[params['type'] as string] ?? String(params['type']);
  const hint = isDuration ? DURATION_HINT : data === null ? 'leave it out, or give it a value' : undefined;
  return { code: 'WRONG_TYPE', message: `must be ${wanted}, is ${typeName(data)}`, hint, on: 'value' };
}

function badEnum(value: unknown, allowed: readonly string[]): Omit<WrittenProblem, 'path'> {
  if (typeof value !== 'string' && typeof value !== 'number') {
    return {
      code: 'WRONG_TYPE',
      message: `must be one of its names, is ${typeName(value)}`,
      hint: `one of ${allowed.join(', ')}`,
      on: 'value',
    };
  }
  const near = typeof value === 'string' ? suggest(value, allowed) : undefined;
  const list = `one of ${allowed.join(', ')}`;
  const hint = near?.startsWith('did') ? `${near} ${list}` : list;
  return { code: 'BAD_ENUM', message: `${String(value).slice(0, 60)} is not allowed`, hint, on: 'value' };
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  object: 'an object',
  string: 'text',
  'string,boolean': 'text, or true or false',
};

/** Returns the type of a value, never the value: it may be a secret. */
function typeName(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : 'a fraction';
  if (typeof value === 'boolean') return 'true or false';
  return typeof value === 'object' ? 'an object' : 'text';
}
