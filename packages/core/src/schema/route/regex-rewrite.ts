import * as f from '../field.ts';

const pattern = f.block({
  regex: f.regex('RE2 expression; every match is replaced.'),
  googleRe2: f.group('Limits of the expression.', {
    maxProgramSize: f.int('Maximum program size, in instructions. Default: Settings `gw.regexMaxProgramSize`.', {
      minimum: 1,
    }),
  }),
});
const fields = f.block({
  pattern: f.of(pattern, 'The pattern.'),
  substitution: f.text('The replacement; `\\1` is the first group, `\\0` the whole match.'),
});
/** Replaces what a regular expression matches. */
export interface RegexRewrite extends f.Static<typeof fields> {}
export const RegexRewrite = f.named<RegexRewrite>('RegexRewrite', fields);
