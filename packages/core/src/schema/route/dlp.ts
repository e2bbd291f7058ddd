import * as f from '../field.ts';
import { Matcher } from './matcher.ts';

const mask = {
  name: f.text('Name of the action.'),
  maskChar: f.text('Replacement character.', { default: 'X' }),
  percent: f.group('Share of the match to mask, from the left.', {
    value: f.float('Percent.', { minimum: 0, maximum: 100, default: 75 }),
  }),
} as const;
const action = f.block({
  actionType: f.choice(
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
  ),
  customAction: f.group('Custom expressions.', {
    ...mask,
    regex: f.list(f.regex(), 'RE2 expressions; older form.'),
    regexActions: f.groups('RE2 expressions, in order.', {
      regex: f.regex('RE2 expression.'),
      subgroup: f.count('Capture group to mask.', { default: 0 }),
    }),
  }),
  keyValueAction: f.group('The value of a key.', f.required('keyToMask'), {
    ...mask,
    keyToMask: f.text('Header or metadata key whose value to mask.'),
  }),
  shadow: f.flag('Counts matches without masking.'),
});
const enabledFor = f.choice(['RESPONSE_BODY', 'ACCESS_LOGS', 'ALL'], 'Where values are masked.');

const fields = f.block({ actions: f.list(action, 'What to mask.'), enabledFor });
/** Masks sensitive values. */
export interface Dlp extends f.Static<typeof fields> {}
export const Dlp = f.named<Dlp>('Dlp', fields);

const listener = f.block({
  dlpRules: f.groups('The first match is used.', {
    matcher: f.of(Matcher, 'Requests to which it applies. Unset: all.'),
    actions: f.list(action, 'What to mask.'),
  }),
  enabledFor,
});
/** Masks sensitive values on a listener. */
export interface DlpListener extends f.Static<typeof listener> {}
export const DlpListener = f.named<DlpListener>('DlpListener', listener);
