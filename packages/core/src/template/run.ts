import { RenderError } from './template-error.ts';
import { isList, memberOf, type Value } from './value.ts';

/** Most steps of one rendering: every operation is one, and every 64 characters it makes or looks at are one. */
export const MAX_STEPS = 100_000;
/** Longest text that a rendering may make, in characters. */
export const MAX_OUTPUT = 1_048_576;

/** What a template sees of the world. Texts are byte strings; what is missing is empty. */
export interface TemplateData {
  /** A value by its bare name, `undefined` when there is none. */
  variable(name: string): Value | undefined;
  /** First value of a header of the message, or of the request it belongs to. */
  header(name: string): string;
  requestHeader(name: string): string;
  extraction(name: string): string;
  env(name: string): string;
  dynamicMetadata(key: string, namespace: string | undefined): string;
  hostMetadata(key: string, namespace: string | undefined): string;
  clusterMetadata(key: string, namespace: string | undefined): string;
  body(): string;
  context(): Value;
}

/** One rendering: its data, what it has set, and what it may still spend. */
export class Run {
  readonly data: TemplateData;
  /** Keeps JSON escapes when texts are put in. */
  readonly escape: boolean;
  readonly locals = new Map<string, Value>();
  #separator: '.' | '/';
  #steps = MAX_STEPS;
  #out = '';

  constructor(data: TemplateData, syntax: { readonly escape: boolean; readonly pointers: boolean }) {
    this.data = data;
    this.escape = syntax.escape;
    this.#separator = syntax.pointers ? '/' : '.';
  }

  get output(): string {
    return this.#out;
  }

  /** Pays for work. */
  spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new RenderError('the template takes too many steps');
  }

  /** Pays for a text and gives it back. */
  text(text: string): string {
    if (text.length > MAX_OUTPUT) throw new RenderError('the template makes too long a text');
    this.spend(1 + (text.length >> 6));
    return text;
  }

  write(text: string): void {
    if (this.#out.length + text.length > MAX_OUTPUT) throw new RenderError('the template makes too long a text');
    this.#out += text;
  }

  /** A variable by its path; `undefined` when there is none. */
  find(name: string): Value | undefined {
    this.spend(1);
    const [first = '', ...rest] = name.split(this.#separator);
    const local = this.locals.get(first);
    if (local !== undefined) return memberOf(local, rest);
    const whole = this.data.variable(name);
    if (whole !== undefined || rest.length === 0) return whole;
    const root = this.data.variable(first);
    return root === undefined ? undefined : memberOf(root, rest);
  }

  /** True when both are the same, however deep. */
  equal(a: Value, b: Value): boolean {
    this.spend(1);
    if (typeof a === 'string' && typeof b === 'string') return this.text(a) === b;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
    if (isList(a) || isList(b)) {
      if (!isList(a) || !isList(b) || a.length !== b.length) return false;
      return a.every((item, i) => this.equal(item, b[i]!));
    }
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    return keys.every((key) => Object.hasOwn(b, key) && this.equal(a[key]!, b[key]!));
  }

  /** A value as text: texts as they are, nothing for null, JSON for lists and objects. */
  print(value: Value): string {
    if (typeof value === 'string') return this.text(this.escape ? escaped(value) : value);
    if (value === null) return '';
    return this.json(value);
  }

  /** A value as JSON. */
  json(value: Value): string {
    this.spend(1);
    if (typeof value !== 'object' || value === null) return this.text(JSON.stringify(value));
    const parts = isList(value)
      ? value.map((item) => this.json(item))
      : Object.keys(value).map((key) => `${JSON.stringify(key)}:${this.json(value[key]!)}`);
    return this.text(isList(value) ? `[${parts.join(',')}]` : `{${parts.join(',')}}`);
  }
}

/** A text with JSON escapes, without quotes around it. */
export function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
