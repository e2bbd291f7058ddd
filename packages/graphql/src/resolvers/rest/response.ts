import type { Resolution } from '@edge-gateway/core/schema';
import { isRecord } from '../../document/json.ts';
import { parseResultPath, parseTemplate, readsClient, type Roots } from '../../template/expression.ts';
import { renderValue } from '../../template/render.ts';

type Response = NonNullable<Resolution['restResolver']>['response'];

/** Compiles `resultRoot` and `setters`, in which `$body` is the value at `resultRoot`, or each element of that list. */
export function compileResponse(response: Response) {
  const root = response?.resultRoot ? parseResultPath(response.resultRoot) : undefined;
  const setters = Object.entries(response?.setters ?? {}).map(([field, text]) => [field, parseTemplate(text)] as const);
  const one = (body: unknown, roots: Roots): unknown => {
    const made = isRecord(body) ? { ...body } : {};
    for (const [field, template] of setters) {
      const value = renderValue(template, { ...roots, body });
      Object.defineProperty(made, field, { value, enumerable: true, writable: true, configurable: true });
    }
    return made;
  };
  const read = (body: unknown, roots: Roots): unknown => {
    const found = root ? root(body) : body;
    if (setters.length === 0 || found === null || found === undefined) return found;
    return Array.isArray(found) ? found.map((element) => one(element, roots)) : one(found, roots);
  };
  return Object.assign(read, { usesClient: setters.some(([, template]) => readsClient(template)) });
}
