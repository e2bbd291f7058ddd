import type { TextProblem } from './source-text.ts';

// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufeff]/g;
const MAX_PROBLEMS = 10;

/** Finds control characters and byte order marks, which are not allowed unescaped in a document. */
export function findUnprintable(text: string): TextProblem[] {
  const problems: TextProblem[] = [];
  for (const match of text.matchAll(UNPRINTABLE)) {
    if (problems.length === MAX_PROBLEMS) break;
    problems.push(problemOf(match[0], match.index));
  }
  return problems;
}

function problemOf(character: string, offset: number): TextProblem {
  if (character === '\ufeff') {
    const hint = 'save the file as UTF-8 without a byte order mark';
    return { code: 'BYTE_ORDER_MARK', offset, message: 'a byte order mark (U+FEFF)', hint };
  }
  if (character === '\0') return { code: 'NUL_BYTE', offset, message: 'a NUL byte' };
  const name = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  const hint = 'write it as an escape in double quotes';
  return { code: 'CONTROL_CHARACTER', offset, message: `the control character ${name}`, hint };
}
