import { dig, items, text } from '../resources/objects.ts';

/** The matchers of a route; without any, the one that matches every path. */
export function matchersOf(route: unknown): readonly unknown[] {
  const written = items(route, 'matchers');
  return written.length > 0 ? written : [{ prefix: '/' }];
}

/** The path a matcher asks for. */
export function pathOf(matcher: unknown): string {
  if (dig(matcher, 'connectMatcher')) return 'CONNECT';
  return text(matcher, 'prefix') || text(matcher, 'exact') || text(matcher, 'regex');
}

/** How a matcher compares the path. */
export function pathType(matcher: unknown): string {
  if (dig(matcher, 'prefix') !== undefined) return 'Path Prefix';
  if (dig(matcher, 'exact') !== undefined) return 'Exact Path';
  if (dig(matcher, 'regex') !== undefined) return 'Regex Path';
  return 'Unknown';
}

/** The methods of a matcher; `*` is any. */
export function verbsOf(matcher: unknown): string {
  return items(matcher, 'methods').map(String).join(', ') || '*';
}

/** The header conditions of a matcher as `name:value`, a line each; `!` in front inverts. */
export function headersOf(matcher: unknown): string {
  return items(matcher, 'headers')
    .map((header) => `${dig(header, 'invertMatch') ? '!' : ''}${text(header, 'name')}:${text(header, 'value')}`)
    .join('\n');
}
