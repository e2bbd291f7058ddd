import { rateLimitError } from '../error-codes.ts';
import {
  MAX_UINT32,
  OVER_LIMIT,
  type WireDescriptor,
  type WireRequest,
  type WireResponse,
  type WireStatus,
} from '../protocol/messages.ts';
import { UNIT_NUMBERS, unitOfNumber } from '../protocol/units.ts';

/**
 * Returns the request in a text, in the JSON form of Protocol Buffers: names in both spellings, integers as numbers or texts, units by name
 * or number. Throws `ERR_RATE_LIMIT_REQUEST` if the text is not such a message.
 */
export function requestOfJson(text: string): WireRequest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw rateLimitError('ERR_RATE_LIMIT_REQUEST', 'the body is not JSON', { cause });
  }
  const { domain, descriptors, hitsAddend } = fieldsOf(value, 'the body', ['domain', 'descriptors', 'hits_addend']);
  return {
    domain: textOf(domain, 'domain'),
    descriptors: listOf(descriptors, 'descriptors').map(descriptorOf),
    hitsAddend: integerOf(hitsAddend, 'hits_addend', MAX_UINT32) ?? 0,
  };
}

function descriptorOf(value: unknown, i: number): WireDescriptor {
  const at = `descriptors[${i}]`;
  const fields = fieldsOf(value, at, ['entries', 'limit', 'hits_addend', 'is_negative_hits']);
  const hits = integerOf(fields['hitsAddend'], `${at}.hits_addend`, Number.MAX_SAFE_INTEGER);
  const isNegativeHits = fields['isNegativeHits'] ?? false;
  if (typeof isNegativeHits !== 'boolean') throw invalid(`${at}.is_negative_hits must be a boolean`);
  return {
    entries: listOf(fields['entries'], `${at}.entries`).map((entry, j) => {
      const { key, value: text } = fieldsOf(entry, `${at}.entries[${j}]`, ['key', 'value']);
      return { key: textOf(key, `${at}.entries[${j}].key`), value: textOf(text, `${at}.entries[${j}].value`) };
    }),
    limit: isAbsent(fields['limit']) ? null : limitOf(fields['limit'], `${at}.limit`),
    hitsAddend: hits === undefined ? null : { value: hits },
    isNegativeHits,
  };
}

function limitOf(value: unknown, at: string): NonNullable<WireDescriptor['limit']> {
  const { requestsPerUnit, unit } = fieldsOf(value, at, ['requests_per_unit', 'unit']);
  return {
    requestsPerUnit: integerOf(requestsPerUnit, `${at}.requests_per_unit`, MAX_UINT32) ?? 0,
    unit: typeof unit === 'string' ? unitNumber(unit, `${at}.unit`) : (integerOf(unit, `${at}.unit`, MAX_UINT32) ?? 0),
  };
}

function unitNumber(name: string, at: string): number {
  if (Object.hasOwn(UNIT_NUMBERS, name)) return UNIT_NUMBERS[name as keyof typeof UNIT_NUMBERS];
  throw invalid(`${at} must be one of ${Object.keys(UNIT_NUMBERS).join(', ')}`);
}

/** Returns the fields of a message by their names in camel case. */
function fieldsOf(value: unknown, at: string, names: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(`${at} must be an object`);
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    const known = names.find((each) => each === name || camelCase(each) === name);
    if (known === undefined) throw invalid(`${at} has an unknown field ${JSON.stringify(name.slice(0, 64))}`);
    fields[camelCase(known)] = field;
  }
  return fields;
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function textOf(value: unknown, at: string): string {
  if (isAbsent(value)) return '';
  if (typeof value === 'string') return value;
  throw invalid(`${at} must be a string`);
}

function listOf(value: unknown, at: string): readonly unknown[] {
  if (isAbsent(value)) return [];
  if (Array.isArray(value)) return value;
  throw invalid(`${at} must be a list`);
}

function integerOf(value: unknown, at: string, max: number): number | undefined {
  if (isAbsent(value)) return undefined;
  const number = typeof value === 'string' && /^\d{1,20}$/.test(value) ? Number(value) : value;
  if (Number.isInteger(number) && (number as number) >= 0 && (number as number) <= max) return number as number;
  throw invalid(`${at} must be an integer from 0 to ${max}`);
}

function invalid(message: string) {
  return rateLimitError('ERR_RATE_LIMIT_REQUEST', message);
}

/** Returns a response in the JSON form of Protocol Buffers, which leaves out zeros. */
export function responseToJson({ overallCode, statuses = [] }: WireResponse): object {
  return { overallCode: codeName(overallCode), ...(statuses.length > 0 && { statuses: statuses.map(statusToJson) }) };
}

function statusToJson({ code, currentLimit, limitRemaining, durationUntilReset }: WireStatus): object {
  return {
    code: codeName(code),
    ...(currentLimit && {
      currentLimit: {
        ...(currentLimit.requestsPerUnit && { requestsPerUnit: currentLimit.requestsPerUnit }),
        unit: unitOfNumber(currentLimit.unit ?? 0),
        name: currentLimit.name,
      },
    }),
    ...(limitRemaining && { limitRemaining }),
    ...(durationUntilReset && { durationUntilReset: `${durationUntilReset.seconds ?? 0}s` }),
  };
}

function codeName(code: number | undefined): string {
  return code === OVER_LIMIT ? 'OVER_LIMIT' : 'OK';
}
