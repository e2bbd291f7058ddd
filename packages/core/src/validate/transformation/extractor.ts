import { isHeaderName } from '../../http/reserved-headers.ts';
import { compileRegex } from '../../syntax/regex.ts';
import { thrownBy } from '../check.ts';
import type { TransformationTemplate } from '../../schema/route/transformations.ts';

/** Returns why an extractor is invalid; `undefined` if it is valid. */
export function extractorProblem(spec: NonNullable<TransformationTemplate['extractors']>[string]): string | undefined {
  const { header, body, regex, mode = 'EXTRACT', subgroup = 0, replacementText } = spec;
  if (header === undefined && body === undefined) return 'it names neither a header nor the body';
  if (header !== undefined && !PSEUDO_HEADER.test(header) && !isHeaderName(header))
    return `'${header.slice(0, 60)}' is not a header name`;
  if (!regex) return 'it needs a regex';
  let groups = 0;
  const invalid = thrownBy(() => (groups = compileRegex(regex).groupCount));
  if (invalid !== undefined) return `not a valid RE2 expression: ${invalid}`;
  if (subgroup > groups) return `subgroup ${subgroup} is more than the ${groups} groups of its regex`;
  if (mode === 'EXTRACT' && replacementText !== undefined) return 'replacementText needs a replacing mode';
  if (mode !== 'EXTRACT' && replacementText === undefined) return `mode ${mode} needs a replacementText`;
  if (mode === 'REPLACE_ALL' && subgroup !== 0) return 'subgroup must be 0 in mode REPLACE_ALL';
  return undefined;
}

/** The pseudo headers of a request and a response. */
const PSEUDO_HEADER = /^:(?:path|method|authority|scheme|status)$/i;
