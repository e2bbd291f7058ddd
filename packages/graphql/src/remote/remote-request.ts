import { type Facts, FRAMING_HEADERS, isHeaderName } from '@edge-gateway/core';
import type { OperationRequest } from '../execute/executable-api.ts';
import { isConstant, parseTemplate, type Template } from '../template/expression.ts';
import { escapeComponent, parseHeader, renderHeader, renderText } from '../template/render.ts';

/** Headers and query parameters of requests to the server. */
export interface RemoteParts {
  readonly headers?: Readonly<Record<string, string>>;
  readonly queryParams?: Readonly<Record<string, string>>;
}

export interface RemoteHead {
  readonly path: string;
  readonly headers: readonly string[];
}

/** Characters of a template that a path must not have; values are already escaped. */
const NOT_IN_PATH = /[^\x21-\x7e]|#/gu;
/** Compiles the templates of `headers` and `queryParams`. Headers without a value are omitted. Throws an `Error`. */
export function compileRemoteHead(parts: RemoteParts): (path: string, facts: Facts) => RemoteHead {
  const headers = Object.entries(parts.headers ?? {}).map(([name, text]) => {
    if (!isHeaderName(name) || isReserved(name.toLowerCase())) throw new Error(`the header '${name}' cannot be set`);
    return [name.toLowerCase(), parseHeader(text, clientTemplate)] as const;
  });
  const query = Object.entries(parts.queryParams ?? {}).map(
    ([name, text]) => [encodeURIComponent(name), clientTemplate(text)] as const,
  );
  return (path, facts) => {
    const roots = { client: facts };
    const sent = headers.flatMap(([name, template]) => {
      const value = renderHeader(template, roots);
      return value === '' && !isConstant(template) ? [] : [name, value];
    });
    const added = query.map(([name, template]) => {
      const value = renderText(template, roots, escapeComponent);
      return `${name}=${value.replaceAll(NOT_IN_PATH, encodeURIComponent)}`;
    });
    return {
      path: added.length > 0 ? `${path}${path.includes('?') ? '&' : '?'}${added.join('&')}` : path,
      headers: sent,
    };
  };
}

/** Headers that are set by the body and by the framing of the request. */
function isReserved(name: string): boolean {
  return FRAMING_HEADERS.has(name) || name === 'content-type' || name === 'expect';
}

function clientTemplate(text: string): Template {
  const template = parseTemplate(text);
  for (const part of template) {
    if (typeof part === 'string' || part.root === 'headers' || part.root === 'metadata') continue;
    throw new Error(`{$${part.text}}: only $headers and $metadata are allowed`);
  }
  return template;
}

export function bodyOf(request: OperationRequest): string {
  return JSON.stringify(payloadOf(request));
}

/** Returns the request for the server: the client's document, and the name of the operation. */
export function payloadOf({ operation, variables, extensions }: OperationRequest) {
  const { persistedQuery: _, ...rest } = extensions;
  return {
    query: operation.text,
    ...(operation.name !== undefined && { operationName: operation.name }),
    ...(Object.keys(variables).length > 0 && { variables }),
    ...(Object.keys(rest).length > 0 && { extensions: rest }),
  };
}
