import { formatIssue, formatOrigin, parseDocuments } from '@edge-gateway/core';
import { parse, YAMLParseError } from 'yaml';
import { cliError, type CliErrorCode } from '../error-codes.ts';

/** What only this parser rejects, by its error code. Everything else has the words of the gateway. */
const OWN_REASONS: Readonly<Record<string, string>> = {
  KEY_OVER_1024_CHARS: 'a key of more than 1024 characters',
  MULTIPLE_DOCS: 'more than one document  (write one, without ---)',
};

/**
 * Returns the value of a YAML text with one document; `undefined` if it contains only comments. An error has the given code, and says what is wrong
 * in `file`, and where, in the words of the gateway.
 */
export function parseYamlText(text: string, file: string, code: CliErrorCode): unknown {
  try {
    return (parse(text) as unknown) ?? undefined;
  } catch (error) {
    throw cliError(code, problemOf(text, file, error), error);
  }
}

function problemOf(text: string, file: string, error: unknown): string {
  const { code, linePos } = error instanceof YAMLParseError ? error : { code: '', linePos: undefined };
  const issue = parseDocuments(text, file)
    .flatMap(({ issues }) => issues)
    .find((one) => one.severity === 'error' && one.code !== 'NOT_AN_OBJECT');
  if (issue && OWN_REASONS[code] === undefined) {
    const { severity, origin, path, message, hint } = issue;
    return formatIssue({ code: issue.code, severity, origin, path, message, ...(hint !== undefined && { hint }) });
  }
  const { line, col } = linePos?.[0] ?? { line: 1, col: 1 };
  return `${formatOrigin({ file, line, column: col })}  ${OWN_REASONS[code] ?? 'the text is not valid YAML from here on'}`;
}
