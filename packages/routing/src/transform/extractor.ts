import { compileRegex, extractorProblem } from '@edge-gateway/core';
import type { TransformationTemplate } from '@edge-gateway/core/schema';
import { unusable } from './unusable.ts';

type ExtractorSpec = NonNullable<TransformationTemplate['extractors']>[string];

/** Takes a value out of a header. */
export interface Extractor {
  /** Lower case; empty reads nothing. */
  readonly header: string;
  /** What is taken from the first value of the header, which is empty when the header is missing. */
  extract(value: string): string;
}

/** Compiles an extractor. Throws `ERR_ROUTING_OPTION` for one that cannot work. */
export function compileExtractor(name: string, spec: ExtractorSpec): Extractor {
  const problem = extractorProblem(spec);
  if (problem) throw unusable(`extractor ${name}: ${problem}`);
  const { header = '', mode = 'EXTRACT', subgroup = 0, replacementText = '' } = spec;
  const regex = compileRegex(spec.regex ?? '');
  const substitution = toSubstitution(replacementText);
  const extract: Readonly<Record<typeof mode, Extractor['extract']>> = {
    EXTRACT: (value) => regex.fullGroups(value)?.[subgroup] ?? '',
    SINGLE_REPLACE(value) {
      const span = regex.fullSpan(value, subgroup);
      return span ? value.slice(0, span.start) + replacementText + value.slice(span.end) : value;
    },
    REPLACE_ALL: (value) => regex.replaceAll(value, substitution),
  };
  return { header: header.toLowerCase(), extract: extract[mode] };
}

/** `$1`, `$&` and `$$` of ECMAScript as RE2 writes them. */
function toSubstitution(replacement: string): string {
  return replacement.replace(/\\|\$(\$|&|\d)?/g, (found, what: string | undefined) => {
    if (found === '\\') return '\\\\';
    if (what === undefined || what === '$') return '$';
    return what === '&' || what === '0' ? '\\0' : `\\${what}`;
  });
}
