import { isUtf8 } from 'node:buffer';
import { fromByteString } from '@edge-gateway/core';
import { badBody } from './head-change.ts';
import type { Message } from './message.ts';
import type { ChangeMessage } from './transformation.ts';

/** `headerBodyTransform`: headers and body become one JSON body; on requests also method, path and query. */
export function compileHeaderBody(addsRequest: boolean): ChangeMessage {
  return {
    readsBody: true,
    apply(message, body) {
      if (!isUtf8(body)) throw badBody('the body is not UTF-8');
      const changed = JSON.stringify({
        headers: lastValues(message),
        ...(body.length > 0 && { body: body.toString('utf8') }),
        ...(addsRequest && message.request === message && requestParts(message)),
      });
      message.set('content-type', 'application/json');
      return Buffer.from(changed, 'utf8');
    },
  };
}

function lastValues(message: Message): Record<string, string> {
  const pseudo = message.request === message ? [':method', ':path', ':authority', ':scheme'] : [':status'];
  const values = pseudo.map((name) => [name, message.first(name)] as const).filter(([, value]) => value !== '');
  const own = pairsOf(message.headers).filter(([name]) => name !== 'host' || message.request !== message);
  return Object.fromEntries([...values, ...own]);
}

function pairsOf(flat: readonly string[]): (readonly [string, string])[] {
  return flat.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), fromByteString(flat[i + 1]!)] as const] : []));
}

function requestParts(message: Message): object {
  const [path = '', query = ''] = splitOnce(message.first(':path'));
  const parameters = query === '' ? [] : query.split('&').map(parameterOf);
  return {
    queryString: query,
    httpMethod: message.first(':method'),
    path,
    queryStringParameters: Object.fromEntries(parameters),
    multiValueQueryStringParameters: repeated(parameters),
    multiValueHeaders: repeated(pairsOf(message.headers)),
  };
}

function splitOnce(path: string): string[] {
  const at = path.indexOf('?');
  return at < 0 ? [path] : [path.slice(0, at), path.slice(at + 1)];
}

function parameterOf(part: string): readonly [string, string] {
  const at = part.indexOf('=');
  return at < 0 ? [unescaped(part), ''] : [unescaped(part.slice(0, at)), unescaped(part.slice(at + 1))];
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns all values of the names that occur more than once. */
function repeated(pairs: readonly (readonly [string, string])[]): Record<string, string[]> {
  const lists = Map.groupBy(pairs, ([name]) => name);
  const several = [...lists].filter(([, { length }]) => length > 1);
  return Object.fromEntries(several.map(([name, list]) => [name, list.map(([, value]) => value)]));
}
