import { block, int, named, of, regex, text, type Static } from '../field.ts';

const pattern = block({
  regex: regex('RE2 expression; every match is replaced.'),
  googleRe2: of(
    block({
      maxProgramSize: int('Maximum program size, in instructions. Default: Settings `gw.regexMaxProgramSize`.', {
        minimum: 1,
      }),
    }),
    'Limits of the expression.',
  ),
});
const fields = block({
  pattern: of(pattern, 'The pattern.'),
  substitution: text('The replacement; `\\1` is the first group, `\\0` the whole match.'),
});
/** Replaces what a regular expression matches. */
export interface RegexRewrite extends Static<typeof fields> {}
export const RegexRewrite = named<RegexRewrite>('RegexRewrite', fields);
