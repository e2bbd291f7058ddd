import { fromByteString, type Facts } from '@edge-gateway/core';
import { splitStyle, type Style, type StyledPlace } from './style.ts';

export interface Roots {
  readonly args?: unknown;
  readonly parent?: unknown;
  readonly batch?: { readonly keys: readonly unknown[] };
  readonly body?: unknown;
  readonly client?: Pick<Facts, 'header' | 'metadata'>;
}

const EACH = Symbol('each');
/** A step into a value: a key, an index, or each element of a list or entry of an object. */
type Step = string | number | typeof EACH;

export interface Expression {
  readonly root: RootName;
  readonly text: string;
  readonly style?: Style | undefined;
  evaluate(roots: Roots): unknown;
}

export const ROOT_NAMES = ['args', 'parent', 'headers', 'metadata', 'body', 'batch'] as const;
export type RootName = (typeof ROOT_NAMES)[number];

/** A parsed template: literal parts and expressions. */
export type Template = readonly (string | Expression)[];

const MAX_TEMPLATE = 10_000;
const EXPRESSION = /\{\$([^{}]*)\}/g;

/** Parses a template. Throws an `Error` that names an invalid expression. Only parameters, at a `place`, have styles. */
export function parseTemplate(text: string, place?: StyledPlace): Template {
  if (text.length > MAX_TEMPLATE) throw new Error(`a template must have at most ${MAX_TEMPLATE} characters`);
  const parts: (string | Expression)[] = [];
  let end = 0;
  for (const match of text.matchAll(EXPRESSION)) {
    if (match.index > end) parts.push(text.slice(end, match.index));
    parts.push(parseStyled(match[1]!, place));
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push(text.slice(end));
  const rest = parts.filter((part) => typeof part === 'string').join('\n');
  if (rest.includes('{$')) throw new Error(`'${text}': an expression does not end`);
  return parts;
}

/** Returns true if the result depends on the client, i.e. on headers or metadata. */
export function readsClient(template: Template): boolean {
  return template.some((part) => typeof part !== 'string' && (part.root === 'headers' || part.root === 'metadata'));
}

/** Returns true if the template has no expression. */
export function isConstant(template: Template): boolean {
  return template.every((part) => typeof part === 'string');
}

function parseStyled(written: string, place: StyledPlace | undefined): Expression {
  const [text, style] = splitStyle(written, place);
  const expression = parseExpression(text);
  return style ? { ...expression, style } : expression;
}

function parseExpression(text: string): Expression {
  const cut = text.search(/[.[]/);
  const root = (cut < 0 ? text : text.slice(0, cut)) as RootName;
  const rest = cut < 0 ? '' : text.slice(cut);
  if (!ROOT_NAMES.includes(root)) throw new Error(`{$${text}}: expressions must begin with ${ROOT_NAMES.join(', ')}`);
  if (root === 'headers') return headerExpression(text, rest);
  if (root === 'metadata') return metadataExpression(text, rest);
  const steps = parsePath(rest, `{$${text}}`);
  return { root, text, evaluate: (roots) => follow((roots as Record<string, unknown>)[root], steps) };
}

function headerExpression(text: string, rest: string): Expression {
  const name = rest.slice(1).toLowerCase();
  if (!/^\.[!#$%&'*+^_`|~0-9a-z-]+$/i.test(rest)) throw new Error(`{$${text}}: $headers needs one header name`);
  return { root: 'headers', text, evaluate: (roots) => fromByteString(roots.client?.header(name) ?? '') };
}

function metadataExpression(text: string, rest: string): Expression {
  const cut = rest.lastIndexOf(':');
  if (!rest.startsWith('.') || cut < 2 || cut === rest.length - 1) {
    throw new Error(`{$${text}}: $metadata needs <namespace>:<key>`);
  }
  const [namespace, key] = [rest.slice(1, cut), rest.slice(cut + 1)];
  return { root: 'metadata', text, evaluate: (roots) => roots.client?.metadata.get(namespace)?.[key] };
}

/** Parses a path such as `details.items[0].name`. Throws an `Error` that names it. */
export function parseResultPath(text: string): (value: unknown) => unknown {
  const steps = parsePath(text.startsWith('[') || text === '' ? text : `.${text}`, `'${text}'`);
  return (value) => follow(value, steps);
}

function parsePath(path: string, place: string): Step[] {
  const steps: Step[] = [];
  const piece = /\.([^.[\]]+)|\[(\d{1,9}|\*)\]/y;
  while (piece.lastIndex < path.length) {
    const at = piece.lastIndex;
    const match = piece.exec(path);
    if (!match) throw new Error(`${place}: '${path.slice(at)}' is not a path`);
    const [, key, index] = match;
    steps.push(key ?? (index === '*' ? EACH : Number(index)));
  }
  return steps;
}

function follow(value: unknown, steps: readonly Step[], from = 0): unknown {
  let at = value;
  for (let i = from; i < steps.length; i++) {
    const step = steps[i]!;
    if (at === null || at === undefined) return undefined;
    if (step === EACH) {
      const elements = elementsOf(at);
      if (!elements || i + 1 === steps.length) return elements;
      return elements.map((element) => follow(element, steps, i + 1) ?? null);
    }
    at = typeof step === 'string' ? keyOf(at, step) : Array.isArray(at) ? at[step] : undefined;
  }
  return at;
}

/** Returns the elements of a list, or the entries of an object. */
function elementsOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  return typeof value === 'object' && value !== null ? Object.entries(value) : undefined;
}

/** Returns the value of a key of an object; `undefined` for inherited keys. */
export function keyOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}
