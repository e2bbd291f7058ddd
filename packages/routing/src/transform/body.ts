import { isUtf8 } from 'node:buffer';
import { ExactNumber, findJsonProblem, parseJson, toValue, type Value } from '@edge-gateway/core';
import { badBody } from './head-change.ts';

/** How the body of a message is read. */
export interface BodyReading {
  readonly parses: boolean;
  readonly ignoresErrors: boolean;
}

/** A JSON object whose members can be set. */
export type JsonObject = Record<string, unknown>;

const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';
/** Only numbers with so many digits or an exponent may become an {@link ExactNumber}. */
const LONG_NUMBER = /[\d.]{16}|[\d.][eE]/;

/** The body of a message, as templates see it. */
export class MessageBody {
  readonly bytes: Buffer;
  /** One character per byte. */
  readonly text: string;
  /** `undefined` if it is empty or was not parsed. */
  readonly json: Value | undefined;

  /** Throws 400 for a body that is not JSON, unless that is ignored. An empty body is never an error. */
  constructor(bytes: Buffer, { parses, ignoresErrors }: BodyReading) {
    this.bytes = bytes;
    this.text = bytes.toString('latin1');
    this.json = parses && bytes.length > 0 ? this.#read(ignoresErrors) : undefined;
  }

  /** Returns a copy of the JSON object, to which members can be added. Strings are byte strings, numbers keep all digits. */
  toObject(): JsonObject {
    if (this.json === undefined || this.json === null) return {};
    const whole = parseBytes(this.text);
    if (typeof whole !== 'object' || whole === null || Array.isArray(whole) || whole instanceof ExactNumber)
      throw badBody('the body is not a JSON object');
    return whole as JsonObject;
  }

  #read(ignoresErrors: boolean): Value | undefined {
    try {
      if (!isUtf8(this.bytes)) throw badBody('the body is not UTF-8');
      const json = parseBytes(this.text);
      return (LONG_NUMBER.test(this.text) ? withTexts(json) : json) as Value;
    } catch (error) {
      if (ignoresErrors) return undefined;
      throw error instanceof SyntaxError || error instanceof RangeError ? badBody(problemOf(this.text)) : error;
    }
  }
}

/** Parses the bytes of a text: a UTF-8 string becomes a byte string, so that only escapes have to be converted. */
function parseBytes(text: string): unknown {
  const json = text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
  return json.includes('\\u') ? bytesOf(parseJson(Buffer.from(json, 'latin1').toString('utf8'))) : parseJson(json);
}

function bytesOf(json: unknown): unknown {
  if (json instanceof ExactNumber) return json;
  if (Array.isArray(json)) return json.map(bytesOf);
  if (typeof json !== 'object' || json === null) return toValue(json);
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [toValue(key), bytesOf(value)]));
}

/** Templates read a number that would lose digits as text. */
function withTexts(json: unknown): unknown {
  if (json instanceof ExactNumber) return json.text;
  if (Array.isArray(json)) return json.map(withTexts);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, withTexts(value)]));
}

/** Says where the JSON is invalid, without what is there. */
function problemOf(text: string): string {
  const { offset } = findJsonProblem(text);
  return `the body is not JSON: unexpected byte ${offset + 1}`;
}

/**
 * Sets a member of an object by its path, and creates the objects in between. Throws 400 if the path leads through another value.
 */
export function setMember(root: JsonObject, path: readonly string[], value: unknown): void {
  let object = root;
  for (const step of path.slice(0, -1)) {
    if (!Object.hasOwn(object, step)) define(object, step, {});
    const next = object[step];
    if (typeof next !== 'object' || next === null || Array.isArray(next))
      throw badBody(`the member ${JSON.stringify(step)} of the body is not an object`);
    object = next as JsonObject;
  }
  define(object, path.at(-1)!, value);
}

/** An assignment to `__proto__` would change the prototype. */
function define(object: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Returns the bytes of a JSON value whose strings are byte strings. */
export function jsonBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value), 'latin1');
}
