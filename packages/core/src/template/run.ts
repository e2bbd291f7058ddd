import { RenderError } from './template-error.ts';
import { isList, memberOf, type Value } from './value.ts';

/** Maximum number of steps per rendering: one per operation, and one per 64 characters read or written. */
export const MAX_STEPS = 100_000;
/** Maximum length of a rendered text, in characters. */
export const MAX_OUTPUT = 1_048_576;

/** The input of a template. Strings are byte strings; missing values are empty. */
export interface TemplateData {
  /** Returns a value by its bare name, `undefined` if there is none. */
  variable(name: string): Value | undefined;
  /** Returns the first value of a header of the message, or of its request. */
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

/** One rendering: its data, its variables, and its remaining steps. */
export class Run {
  readonly data: TemplateData;
  /** Keeps JSON escapes when strings are inserted. */
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

  /** Spends steps. */
  spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new RenderError('the template takes too many steps');
  }

  /** Spends the steps of a text, and returns it. */
  text(text: string): string {
    if (text.length > MAX_OUTPUT) throw new RenderError('the rendered text is too long');
    this.spend(1 + (text.length >> 6));
    return text;
  }

  write(text: string): void {
    if (this.#out.length + text.length > MAX_OUTPUT) throw new RenderError('the rendered text is too long');
    this.#out += text;
  }

  /** Returns a variable by its path; `undefined` if there is none. */
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

  /** Returns true if both are deeply equal. */
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

  /** Returns a value as text: strings unchanged, empty for null, JSON for lists and objects. */
  print(value: Value): string {
    if (typeof value === 'string') return this.text(this.escape ? escaped(value) : value);
    if (value === null) return '';
    return this.json(value);
  }

  /** Returns a value as JSON. */
  json(value: Value): string {
    this.spend(1);
    if (typeof value !== 'object' || value === null) return this.text(JSON.stringify(value));
    const parts = isList(value)
      ? value.map((item) => this.json(item))
      : Object.keys(value).map((key) => `${JSON.stringify(key)}:${this.json(value[key]!)}`);
    return this.text(isList(value) ? `[${parts.join(',')}]` : `{${parts.join(',')}}`);
  }
}

/** Returns a text with JSON escapes, without quotes. */
export function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
