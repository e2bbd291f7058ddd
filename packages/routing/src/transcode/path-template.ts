/** Matches exactly one segment. */
export const ONE = '*';
/** Matches any number of segments. */
export const REST = '**';

/** A field that a part of the path is bound to. */
export interface PathVariable {
  /** The names of the field path. */
  readonly field: readonly string[];
  /** Index of its first segment in the template, and the index after its last one. */
  readonly start: number;
  readonly end: number;
  /** True if it may have several segments: reserved characters then stay escaped. */
  readonly isMulti: boolean;
}

/** A path template of `google.api.http`. */
export interface PathTemplate {
  /** Literals, {@link ONE} and {@link REST}. Only literals follow a {@link REST}. */
  readonly segments: readonly string[];
  readonly variables: readonly PathVariable[];
  /** Text after the last colon; empty without one. */
  readonly verb: string;
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Parses a path template: `/v1/{name=shelves/*}/books/{id}:archive`. Throws an `Error` for an invalid one.
 *
 * @example
 * parsePathTemplate('/v1/{id}:archive').verb; // 'archive'
 */
export function parsePathTemplate(text: string): PathTemplate {
  const invalid = (reason: string): Error => new Error(`invalid path '${text}': ${reason}`);
  if (!text.startsWith('/')) throw invalid('it must start with a slash');
  const segments: string[] = [];
  const variables: PathVariable[] = [];
  let verb = '';
  let at = 1;

  /** Reads up to one of these characters. */
  function until(stops: string): string {
    const from = at;
    while (at < text.length && !stops.includes(text[at]!)) at++;
    return text.slice(from, at);
  }

  function readSegment(stops: string): void {
    const segment = until(stops);
    if (segment === '') throw invalid('a segment is empty');
    if (segment !== ONE && segment !== REST && /[*={}]/.test(segment)) throw invalid(`unexpected segment '${segment}'`);
    segments.push(segment);
  }

  function readVariable(): void {
    at++;
    const field = until('=}/').split('.');
    if (!field.every((name) => IDENTIFIER.test(name))) throw invalid(`'${field.join('.')}' is not a field path`);
    const start = segments.length;
    if (text[at] === '=') {
      do {
        at++;
        if (text[at] === '{') throw invalid('variables must not be nested');
        readSegment('/}');
      } while (text[at] === '/');
    } else segments.push(ONE);
    if (text[at] !== '}') throw invalid(`the variable '${field.join('.')}' is not closed`);
    at++;
    const own = segments.slice(start);
    variables.push({ field, start, end: segments.length, isMulti: own.length > 1 || own[0] === REST });
  }

  if (text === '/') return { segments, variables, verb };
  for (;;) {
    if (text[at] === '{') readVariable();
    else readSegment('/:{');
    if (at === text.length) break;
    if (text[at] === ':') {
      verb = text.slice(at + 1);
      if (verb === '' || /[/:*{}=]/.test(verb)) throw invalid('the verb is invalid');
      break;
    }
    if (text[at] !== '/') throw invalid(`unexpected '${text[at]}'`);
    at++;
  }
  const rest = segments.indexOf(REST);
  if (rest >= 0 && segments.slice(rest + 1).some((segment) => segment === ONE || segment === REST))
    throw invalid('only literals may follow **');
  const fields = variables.map(({ field }) => field.join('.'));
  if (new Set(fields).size < fields.length) throw invalid('a field is bound twice');
  return { segments, variables, verb };
}
