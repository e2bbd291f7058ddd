import type { Dlp } from '@edge-gateway/core/schema';

/** A type of action with patterns of its own. */
export type KnownType = Exclude<NonNullable<NonNullable<Dlp['actions']>[number]['actionType']>, 'CUSTOM' | 'KEYVALUE'>;

const GAP = '[ -]?';
/** Groups of digits after the first four of a card number. */
const GROUPS_OF_FOUR = `${GAP}\\d{4}${GAP}\\d{4}${GAP}\\d{4}`;

const MASTERCARD = `5[1-5]\\d\\d${GROUPS_OF_FOUR}`;
const VISA = `4\\d{3}${GROUPS_OF_FOUR}`;
const AMEX = `3[47]\\d\\d${GAP}\\d{6}${GAP}\\d{5}`;
const DISCOVER = `6011${GROUPS_OF_FOUR}`;
const JCB = `3\\d{3}${GROUPS_OF_FOUR}|(?:2131|1800)\\d{11}`;
const DINERS_CLUB = `3(?:0[0-5]|[68]\\d)\\d${GAP}\\d{6}${GAP}\\d{4}`;
/** The first two tracks of a magnetic stripe. */
const TRACKERS = '%?[Bb]\\d{13,19}\\^[-/.\\w ]{2,26}\\^\\d\\d[01]\\d{4,25}|;\\d{13,19}=\\d{4,25}';
const CARDS = [MASTERCARD, VISA, AMEX, DISCOVER, JCB, DINERS_CLUB, TRACKERS];

/**
 * Returns the patterns of a type, each for numbers that no other digit touches (reference: security-graphql 6). Their quantifiers are
 * bounded, so that they match in linear time.
 */
export function knownPatterns(type: KnownType): readonly RegExp[] {
  return SOURCES[type].map((source) => new RegExp(`(?<!\\d)(?:${source})(?!\\d)`, 'g'));
}

const SOURCES: Readonly<Record<KnownType, readonly string[]>> = {
  SSN: ['\\d{9}|\\d{3}[- ]\\d{2}[- ]\\d{4}'],
  MASTERCARD: [MASTERCARD],
  VISA: [VISA],
  AMEX: [AMEX],
  DISCOVER: [DISCOVER],
  JCB: [JCB],
  DINERS_CLUB: [DINERS_CLUB],
  CREDIT_CARD_TRACKERS: [TRACKERS],
  ALL_CREDIT_CARDS: CARDS,
  ALL_CREDIT_CARDS_COMBINED: [CARDS.join('|')],
};
