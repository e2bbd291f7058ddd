import { block, bool, enumeration, float, int, list, named, of, regex, text, type Static } from '../field.ts';
import { Matcher } from './matcher.ts';

const mask = {
  name: text('Name of the action.'),
  maskChar: text('Replacement character.', { default: 'X' }),
  percent: of(
    block({ value: float('Percent.', { minimum: 0, maximum: 100, default: 75 }) }),
    'Share of the match to mask, from the left.',
  ),
} as const;
const action = block({
  actionType: enumeration(
    [
      'CUSTOM',
      'SSN',
      'MASTERCARD',
      'VISA',
      'AMEX',
      'DISCOVER',
      'JCB',
      'DINERS_CLUB',
      'CREDIT_CARD_TRACKERS',
      'ALL_CREDIT_CARDS',
      'ALL_CREDIT_CARDS_COMBINED',
      'KEYVALUE',
    ],
    'Patterns to find.',
    { default: 'CUSTOM' },
  ),
  customAction: of(
    block({
      ...mask,
      regex: list(regex(), 'RE2 expressions; older form.'),
      regexActions: list(
        block({
          regex: regex('RE2 expression.'),
          subgroup: int('Capture group to mask.', { minimum: 0, default: 0 }),
        }),
        'RE2 expressions, in order.',
      ),
    }),
    'Custom expressions.',
  ),
  keyValueAction: of(
    block({ ...mask, keyToMask: text('Header or metadata key whose value to mask.') }, { required: ['keyToMask'] }),
    'The value of a key.',
  ),
  shadow: bool('Counts matches without masking.', { default: false }),
});
const enabledFor = enumeration(['RESPONSE_BODY', 'ACCESS_LOGS', 'ALL'], 'Where values are masked.', {
  default: 'RESPONSE_BODY',
});

const fields = block({ actions: list(action, 'What to mask.'), enabledFor });
/** Masks sensitive values. */
export interface Dlp extends Static<typeof fields> {}
export const Dlp = named<Dlp>('Dlp', fields);

const listener = block({
  dlpRules: list(
    block({
      matcher: of(Matcher, 'Requests to which it applies. Unset: all.'),
      actions: list(action, 'What to mask.'),
    }),
    'The first match is used.',
  ),
  enabledFor,
});
/** Masks sensitive values on a listener. */
export interface DlpListener extends Static<typeof listener> {}
export const DlpListener = named<DlpListener>('DlpListener', listener);
