import { isHeaderName } from '../../http/reserved-headers.ts';
import { compileRegex } from '../../syntax/regex.ts';
import { thrownBy } from '../check.ts';
import type { TransformationTemplate } from '../../schema/route/transformations.ts';

/** Returns why an extractor is invalid; `undefined` if it is valid. */
export function extractorProblem(spec: NonNullable<TransformationTemplate['extractors']>[string]): string | undefined {
  const { header, body, regex, mode = 'EXTRACT', subgroup = 0, replacementText } = spec;
  if (header === undefined && body === undefined) return 'header or body is required';
  if (header !== undefined && !PSEUDO_HEADER.test(header) && !isHeaderName(header))
    return `invalid header name '${header.slice(0, 60)}'`;
  if (!regex) return 'regex is required';
  let groups = 0;
  const invalid = thrownBy(() => (groups = compileRegex(regex).groupCount));
  if (invalid !== undefined) return `not a valid RE2 expression: ${invalid}`;
  if (subgroup > groups) return `subgroup ${subgroup} is greater than the number of groups of the regex, ${groups}`;
  if (mode === 'EXTRACT' && replacementText !== undefined)
    return 'replacementText needs mode SINGLE_REPLACE or REPLACE_ALL';
  if (mode !== 'EXTRACT' && replacementText === undefined) return `mode ${mode} needs replacementText`;
  if (mode === 'REPLACE_ALL' && subgroup !== 0) return 'subgroup must be 0 in mode REPLACE_ALL';
  return undefined;
}

/** The pseudo headers of a request and a response. */
const PSEUDO_HEADER = /^:(?:path|method|authority|scheme|status)$/i;
