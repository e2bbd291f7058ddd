import { isHeaderBytes, toByteString } from '@edge-gateway/core';
import { parseTemplate, type Expression, type Roots, type Template } from './expression.ts';
import { renderStyled, type StyledPlace } from './style.ts';
import { FieldFailure } from '../errors/field-failure.ts';

/** Renders a template as a JSON value: a single expression keeps its type, everything else is text. */
export function renderValue(template: Template, roots: Roots): unknown {
  const [first] = template;
  if (template.length === 1 && typeof first === 'object') return first.evaluate(roots) ?? null;
  return renderText(template, roots, (text) => text);
}

/** Renders a template as text. Values of expressions are passed through `escape`. */
export function renderText(
  template: Template,
  roots: Roots,
  escape: (text: string, expression: Expression) => string,
  place: StyledPlace = 'path',
): string {
  let text = '';
  for (const part of template) {
    if (typeof part === 'string') text += part;
    else if (!part.style) text += escaped(part, roots, escape);
    else text += renderStyled(part.evaluate(roots), part.style, (value) => escape(textOf(value), part), place);
  }
  return text;
}

/** Escapes each key of a batch, but not the commas between them. */
function escaped(part: Expression, roots: Roots, escape: (text: string, expression: Expression) => string): string {
  const value = part.evaluate(roots);
  if (part.root !== 'batch' || !Array.isArray(value)) return escape(textOf(value), part);
  return value.map((one) => escape(textOf(one), part)).join(',');
}

/** Renders a value within text: an empty text for null, JSON for objects and lists. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value as number | boolean);
}

/** Escapes a value as one component of a path or query. */
export function escapeComponent(text: string, { text: expression }: Pick<Expression, 'text'>): string {
  try {
    return encodeURIComponent(text).replaceAll(/[!'()*]/g, percent);
  } catch {
    throw new FieldFailure(`{$${expression}} is not valid Unicode`);
  }
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Renders a path, optionally with a query. Throws a `FieldFailure` if a value would remove its segment or leave it. */
export function renderPath(template: Template, roots: Roots): string {
  return plainPath(template, roots) ?? checkedPath(template, roots);
}

const PLAIN = /^[\w-]+$/;

/** Returns the path if its values have only letters, digits, `_` and `-` and it contains no dot segment: the common case. */
function plainPath(template: Template, roots: Roots): string | undefined {
  let path = '';
  for (const part of template) {
    if (typeof part === 'string') {
      if (part.includes('.') || part.includes('%')) return undefined;
      path += part;
    } else {
      const text = part.style ? '' : textOf(part.evaluate(roots));
      if (!PLAIN.test(text)) return undefined;
      path += text;
    }
  }
  return path;
}

function checkedPath(template: Template, roots: Roots): string {
  const path = renderText(template, roots, escapeComponent);
  const cut = path.indexOf('?');
  const pathname = cut < 0 ? path : path.slice(0, cut);
  for (const segment of pathname.split('/')) {
    const plain = segment.replaceAll(/%2e/gi, '.');
    if (plain === '.' || plain === '..') throw new FieldFailure('a value would change the path of the request');
  }
  if (pathname.split('/').length !== segmentsOf(template) || leavesOut(template, roots)) {
    throw new FieldFailure('a value in the path of the request is empty');
  }
  return path;
}

/** Returns the number of segments of the template; values cannot contain a slash. */
function segmentsOf(template: Template): number {
  let count = 1;
  for (const part of template) {
    if (typeof part !== 'string') continue;
    const cut = part.indexOf('?');
    count += (cut < 0 ? part : part.slice(0, cut)).split('/').length - 1;
    if (cut >= 0) break;
  }
  return count;
}

/** Returns true if a value of the path, not of its query, is empty: the request would go to another resource. */
function leavesOut(template: Template, roots: Roots): boolean {
  for (const part of template) {
    if (typeof part === 'string') {
      if (part.includes('?')) return false;
    } else if (renderText([part], roots, escapeComponent) === '') return true;
  }
  return false;
}

/** Renders a header value, in UTF-8. Throws a `FieldFailure` if it contains characters that headers must not have. */
export function renderHeader(template: Template, roots: Roots): string {
  return toByteString(renderText(template, roots, headerText, 'header'));
}

function headerText(text: string, { text: expression }: Expression): string {
  if (!canBeSent(text)) throw new FieldFailure(`{$${expression}} cannot be sent in a header`);
  return text;
}

const canBeSent = (text: string): boolean => isHeaderBytes(toByteString(text));

/** Parses the template of a header value, trimmed. Throws an `Error` for characters that headers must not have. */
export function parseHeader(text: string, parse: (text: string) => Template = parseTemplate): Template {
  const template = parse(text.trim());
  const isInvalid = template.some((part) => typeof part === 'string' && !canBeSent(part));
  if (isInvalid) throw new Error(`${JSON.stringify(text)} cannot be sent in a header`);
  return template;
}
