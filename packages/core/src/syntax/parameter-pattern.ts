import type { FieldPath } from '../resource/problem.ts';
import type { FunctionParameters, TransformationTemplate } from '../schema/route/transformations.ts';

type Extractors = NonNullable<TransformationTemplate['extractors']>;

/** A pattern that cannot be used, and its path in its parameters. */
interface PatternProblem {
  readonly path: FieldPath;
  readonly message: string;
}

/** What a parameter matches: nothing that separates segments of a path or parts of a query. */
const VALUE = '[-._0-9A-Za-z]+';
const PARAMETER = /\{([^{}]*)\}/g;
const NAME = /^(?!__)[A-Za-z_]\w*$/;
const PATH = ':path';

/** Returns problems of the patterns of a function call. */
export function parameterProblems(parameters: FunctionParameters): readonly PatternProblem[] {
  const known = new Set<string>();
  return patternsOf(parameters).flatMap(({ pattern, path }) => {
    const rest = pattern.replaceAll(PARAMETER, '');
    if (/[{}]/.test(rest)) return [{ path, message: `invalid pattern '${pattern.slice(0, 60)}': unmatched brace` }];
    return namesOf(pattern).flatMap((name): PatternProblem[] => {
      if (!NAME.test(name)) {
        const message = `invalid parameter '${name.slice(0, 60)}': names have letters, digits and underscores`;
        return [{ path, message }];
      }
      if (known.has(name)) return [{ path, message: `the parameter ${name} appears twice` }];
      known.add(name);
      return [];
    });
  });
}

/**
 * Returns an extractor for each parameter of the patterns of a function call.
 *
 * @example
 * parameterExtractors({ path: '/pets/{id}' }).id; // { header: ':path', regex: …, subgroup: 1 }
 */
export function parameterExtractors(parameters: FunctionParameters): Extractors {
  const extractors: Record<string, Extractors[string]> = {};
  for (const { header, pattern } of patternsOf(parameters)) {
    for (const name of namesOf(pattern))
      extractors[name] = { header, regex: regexOf(header, pattern, name), subgroup: 1 };
  }
  return extractors;
}

function quote(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function patternsOf({ headers = {}, path }: FunctionParameters) {
  const ofHeaders = Object.entries(headers).map(([name, pattern]) => {
    return { header: name.toLowerCase(), pattern, path: ['headers', name] };
  });
  return path ? [...ofHeaders, { header: PATH, pattern: path, path: ['path'] }] : ofHeaders;
}

function namesOf(pattern: string): string[] {
  return [...pattern.matchAll(PARAMETER)].map(([, name]) => name!.trim());
}

/** Captures one parameter; a path is matched without its query unless the pattern has one. */
function regexOf(header: string, pattern: string, captured: string): string {
  let regex = '';
  let end = 0;
  for (const found of pattern.matchAll(PARAMETER)) {
    const isCaptured = found[1]!.trim() === captured;
    regex += `${quote(pattern.slice(end, found.index))}${isCaptured ? `(${VALUE})` : VALUE}`;
    end = found.index + found[0].length;
  }
  regex += quote(pattern.slice(end));
  return header === PATH && !pattern.includes('?') ? `${regex}(?:\\?.*)?` : regex;
}
