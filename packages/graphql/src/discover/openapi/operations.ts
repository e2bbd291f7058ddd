import type { Skipped } from '../discovered-api.ts';
import { isRecord } from '../../document/json.ts';
import type { Document } from './document.ts';
import { METHODS, listOf, textOf, type Json, type Placed } from './values.ts';

/** Characters of the address of a server, and of each variable of it. */
const MAX_ADDRESS = 1024;

export interface Operation {
  readonly path: string;
  readonly method: string;
  readonly placed: Placed;
  /** Parameters of its path. */
  readonly shared: readonly unknown[];
}

/** Returns the name of an operation in reports, e.g. `GET /pets/{id}`. */
export function whereOf({ method, path }: Operation): string {
  return `${method.toUpperCase()} ${path}`;
}

/** Returns the operations of a document; those that cannot be read are added to `skipped`. */
export function operationsOf(document: Document, skipped: Skipped[]): Operation[] {
  const paths = isRecord(document.root['paths']) ? document.root['paths'] : {};
  return Object.entries(paths).flatMap(([path, item]) => {
    if (path.startsWith('x-')) return [];
    try {
      const { value, pointer } = document.follow(item, `#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}`);
      const shared = listOf(value['parameters']);
      return METHODS.flatMap((method): Operation[] => {
        const operation = value[method];
        if (!isRecord(operation)) return [];
        return [{ path, method, shared, placed: { value: operation, pointer: `${pointer}/${method}` } }];
      });
    } catch (error) {
      skipped.push({ where: path, reason: (error as Error).message });
      return [];
    }
  });
}

/** Returns the path of the first server, with the defaults of its variables. Throws an `Error` for one that is too long. */
export function basePathOf(root: Json): string {
  const [server] = listOf(root['servers']);
  if (!isRecord(server)) return '';
  const variables = isRecord(server['variables']) ? server['variables'] : {};
  const url = short(textOf(server['url']) ?? '').replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isRecord(variable) ? short(String(variable['default'] ?? '')) : '';
  });
  const parsed = URL.canParse(url, 'http://upstream') ? new URL(url, 'http://upstream') : undefined;
  return parsed ? withoutLastSlashes(parsed.pathname).replaceAll('{', '%7B') : '';
}

/** A part of an address; every operation repeats it. */
function short(text: string): string {
  if (text.length > MAX_ADDRESS) throw new Error(`the address of the server has more than ${MAX_ADDRESS} characters`);
  return text;
}

/** A pattern would take quadratic time. */
function withoutLastSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}
