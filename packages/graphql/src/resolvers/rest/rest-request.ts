import { FRAMING_HEADERS, isHeaderName } from '@edge-gateway/core';
import type { Resolution } from '@edge-gateway/core/schema';
import {
  isConstant,
  parseTemplate,
  readsClient,
  type Expression,
  type Roots,
  type Template,
} from '../../template/expression.ts';
import { isLeftOut, keepReserved, renderPairs, type StyledPlace } from '../../template/style.ts';
import {
  escapeComponent,
  parseHeader,
  renderHeader,
  renderPath,
  renderText,
  renderValue,
  textOf,
} from '../../template/render.ts';

export type RestResolver = NonNullable<Resolution['restResolver']>;

export interface RestRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: string | undefined;
}

/** Compiles the templates of a request. Throws an `Error` that says what is wrong. */
export function compileRestTemplate({ request }: RestResolver) {
  const templates = new Templates();
  const byName = headersByName(request);
  const method = methodOf(byName.get(':method'), request?.body !== undefined);
  const path = templates.read(byName.get(':path') ?? '/', 'path');
  if (typeof path[0] !== 'string' || !path[0].startsWith('/')) throw new Error(":path must begin with '/'");
  const headers = headersOf(byName, templates);
  const query = Object.entries(request?.queryParams ?? {}).map(
    ([name, value]) => [encodeURIComponent(name), queryTemplate(value, templates)] as const,
  );
  const body = request?.body === undefined ? undefined : compileBody(request.body, templates);
  if (body && !headers.some(([name]) => name === 'content-type')) headers.push(['content-type', ['application/json']]);
  const plainHeaders = headers.every(([, template]) => isConstant(template)) ? renderHeaders(headers, {}) : undefined;
  const plainPath = isConstant(path) ? path.join('') : undefined;
  return {
    method,
    get usesClient() {
      return templates.usesClient;
    },
    render: (roots: Roots): RestRequest => ({
      method,
      path: withQuery(plainPath ?? renderPath(path, roots), query, roots),
      headers: plainHeaders ?? renderHeaders(headers, roots),
      body: body && JSON.stringify(body(roots)),
    }),
  };
}

function renderHeaders(headers: readonly (readonly [string, Template])[], roots: Roots): readonly string[] {
  return headers.flatMap(([name, template]) => {
    const whole = onlyExpression(template);
    return whole && isLeftOut(whole.evaluate(roots), whole.style) ? [] : [name, renderHeader(template, roots)];
  });
}

/** Returns the expression of a template that consists of it alone. */
function onlyExpression(template: Template): Expression | undefined {
  const [first] = template;
  return template.length === 1 && typeof first === 'object' ? first : undefined;
}

function isNullish(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

class Templates {
  usesClient = false;

  read(text: string, place?: StyledPlace): Template {
    const template = parseTemplate(text, place);
    for (const part of template) {
      if (typeof part === 'string') continue;
      if (part.root === 'body') throw new Error(`{$${part.text}}: $body is allowed in setters only`);
    }
    if (readsClient(template)) this.usesClient = true;
    return template;
  }
}

/** Returns the request as the resource declares it, e.g. `GET /books/{$args.id}?all=yes`. */
export function declaredRequest({ request }: RestResolver): string {
  const byName = headersByName(request);
  const path = [
    byName.get(':path') ?? '/',
    ...Object.entries(request?.queryParams ?? {}).map((pair) => pair.join('=')),
  ];
  const whole = path.reduce((all, part) => `${all}${all.includes('?') ? '&' : '?'}${part}`);
  return `${methodOf(byName.get(':method'), request?.body !== undefined)} ${whole}`;
}

function headersByName(request: RestResolver['request']): Map<string, string> {
  return new Map(Object.entries(request?.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
}

function methodOf(written: string | undefined, hasBody: boolean): string {
  const method = written ?? (hasBody ? 'POST' : 'GET');
  if (!/^[A-Z]{1,20}$/.test(method) || method === 'CONNECT') throw new Error(`:method '${method}' cannot be sent`);
  return method;
}

function headersOf(written: ReadonlyMap<string, string>, templates: Templates): [string, Template][] {
  const headers: [string, Template][] = [
    ['accept', ['application/json']],
    ['accept-encoding', ['identity']],
  ];
  for (const [name, value] of written) {
    if (name === ':method' || name === ':path') continue;
    const own = name === ':authority' ? 'host' : name;
    if (!isHeaderName(own)) throw new Error(`'${name}' is not a header name`);
    if (FRAMING_HEADERS.has(own) || own === 'expect') throw new Error(`the header ${name} cannot be set here`);
    const template = parseHeader(value, (text) => templates.read(text, 'header'));
    const preset = headers.findIndex(([name], index) => index < 2 && name === own);
    if (preset < 0) headers.push([own, template]);
    else headers[preset] = [own, template];
  }
  return headers;
}

/** Reads the template of a query parameter; its literal parts are escaped, too. */
function queryTemplate(text: string, templates: Templates): Template {
  const template = templates.read(text, 'query');
  if (template.length > 1 && template.some((part) => typeof part === 'object' && part.style)) {
    throw new Error(`'${text}': an expression with a style must be the whole value of a query parameter`);
  }
  return template.map((part) => (typeof part === 'string' ? encodeURIComponent(part) : part));
}

function withQuery(path: string, query: readonly (readonly [string, Template])[], roots: Roots): string {
  let whole = path;
  for (const [name, template] of query) {
    for (const pair of pairsOf(name, template, roots)) whole += `${whole.includes('?') ? '&' : '?'}${pair}`;
  }
  return whole;
}

/** Returns the pairs of one parameter: none if its only expression is null, one for each element of a list, or as its style says. */
function pairsOf(name: string, template: Template, roots: Roots): readonly string[] {
  const only = onlyExpression(template);
  const value = only && (only.style || only.root !== 'batch') ? only.evaluate(roots) : '';
  if (isNullish(value)) return [];
  if (only?.style) {
    const { allowReserved } = only.style;
    const escape = (part: unknown): string => escapeComponent(textOf(part), only);
    return renderPairs(name, value, only.style, allowReserved ? (part) => keepReserved(escape(part)) : escape);
  }
  if (!Array.isArray(value)) return [`${name}=${renderText(template, roots, escapeComponent)}`];
  return value.filter((each) => !isNullish(each)).map((each) => `${name}=${escapeComponent(textOf(each), only!)}`);
}

/** Compiles a JSON body; every string in it may be a template. */
function compileBody(written: unknown, templates: Templates): (roots: Roots) => unknown {
  if (typeof written === 'string') {
    const template = templates.read(written);
    return isConstant(template) ? () => written : (roots) => renderValue(template, roots);
  }
  if (Array.isArray(written)) {
    const items = written.map((one) => compileBody(one, templates));
    return (roots) => items.map((item) => item(roots));
  }
  if (typeof written !== 'object' || written === null) return () => written;
  const entries = Object.entries(written).map(([key, value]) => [key, compileBody(value, templates)] as const);
  return (roots) => Object.fromEntries(entries.map(([key, value]) => [key, value(roots)]));
}

/** Compiles any JSON with templates, e.g. a gRPC message. */
export function compileJson(written: unknown): { render(roots: Roots): unknown; readonly usesClient: boolean } {
  const templates = new Templates();
  const render = compileBody(written, templates);
  return { render, usesClient: templates.usesClient };
}
