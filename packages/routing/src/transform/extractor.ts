import { compileRegex, extractorProblem, fromByteString, toByteString } from '@edge-gateway/core';
import type { TransformationTemplate } from '@edge-gateway/core/schema';
import { remember } from './remember.ts';
import { routingError } from '../error-codes.ts';

type ExtractorSpec = NonNullable<TransformationTemplate['extractors']>[string];

export interface Extractor {
  /** Lower case; empty reads no header. */
  readonly header: string;
  readonly readsBody: boolean;
  /** Extracts from the body, or the first value of the header, empty if it is missing; both are byte strings. */
  extract(value: string): string;
}

export function compileExtractor(name: string, spec: ExtractorSpec): Extractor {
  const problem = extractorProblem(spec);
  if (problem) throw routingError('ERR_ROUTING_OPTION', `extractor ${name}: ${problem}`);
  const { header = '', replacementText = '' } = spec;
  const ofText = compileExtract(spec, replacementText);
  const ofBytes = compileExtract(spec, toByteString(replacementText));
  // The expression matches characters, so the value is decoded, unless it is not valid UTF-8.
  const extract = (value: string): string => {
    const text = fromByteString(value);
    return text === value && !isAscii(value) ? ofBytes(value) : toByteString(ofText(text));
  };
  const readsBody = spec.body !== undefined;
  return { header: header.toLowerCase(), readsBody, extract: readsBody ? extract : remember(extract) };
}

// oxlint-disable-next-line no-control-regex -- the ASCII range is what is looked for
const isAscii = (value: string): boolean => /^[\u0000-\u007f]*$/.test(value);

function compileExtract(
  { mode = 'EXTRACT', subgroup = 0, regex: pattern = '' }: ExtractorSpec,
  replacementText: string,
): Extractor['extract'] {
  const regex = compileRegex(pattern);
  const substitution = toSubstitution(replacementText);
  const extract: Readonly<Record<typeof mode, Extractor['extract']>> = {
    EXTRACT: (value) => regex.fullGroups(value)?.[subgroup] ?? '',
    SINGLE_REPLACE(value) {
      const span = regex.fullSpan(value, subgroup);
      return span ? value.slice(0, span.start) + replacementText + value.slice(span.end) : value;
    },
    REPLACE_ALL: (value) => regex.replaceAll(value, substitution),
  };
  return extract[mode];
}

/** `$1`, `$&` and `$$` of ECMAScript as RE2 writes them. */
function toSubstitution(replacement: string): string {
  return replacement.replace(/\\|\$(\$|&|\d)?/g, (found, what: string | undefined) => {
    if (found === '\\') return '\\\\';
    if (what === undefined || what === '$') return '$';
    return what === '&' || what === '0' ? '\\0' : `\\${what}`;
  });
}
