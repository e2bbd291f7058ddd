import { parseDocuments } from '../parse/parse.ts';
import type { WrittenResource } from './source.ts';

/**
 * Returns the resource of an object, or those of a `List`, all at one position. Objects are converted to JSON: values that a file cannot
 * contain are rejected here as well.
 */
export function writtenObjects(
  { unit, origin }: Pick<WrittenResource, 'unit' | 'origin'>,
  resource: unknown,
): WrittenResource[] {
  let text: string | undefined;
  let message = 'a value that JSON does not support';
  try {
    text = JSON.stringify(resource);
  } catch (error) {
    message = error instanceof TypeError ? 'a circular object, or a value that JSON does not support' : message;
  }
  if (text === undefined) {
    const issue = { code: 'NOT_AN_OBJECT', severity: 'error', origin, path: [], message } as const;
    return [{ unit, origin, value: undefined, issues: [issue], locate: () => origin }];
  }
  return parseDocuments(text, `${unit}.json`).map(({ value, issues }) => ({
    unit,
    origin,
    value,
    issues: issues.map((issue) => ({ ...issue, origin })),
    locate: () => origin,
  }));
}
