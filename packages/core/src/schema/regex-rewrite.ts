import { block, int, named, of, regex, text, type Static } from './field.ts';

const pattern = block({
  regex: regex('RE2 expression; every place it fits is replaced.'),
  googleRe2: of(
    block({
      maxProgramSize: int('Largest compiled size, in instructions. Default: Settings `gw.regexMaxProgramSize`.', {
        minimum: 1,
      }),
    }),
    'Limits of the expression.',
  ),
});
const fields = block({
  pattern: of(pattern, 'What to look for.'),
  substitution: text('What to put there; `\\1` stands for the first group, `\\0` for the whole match.'),
});
/** Replaces what a regular expression matches. */
export interface RegexRewrite extends Static<typeof fields> {}
export const RegexRewrite = named<RegexRewrite>('RegexRewrite', fields);
