/** `JSON.rawJSON`, which the types lack. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(source: string): unknown };

/** Key of the digits: no path of names leads to it. */
const TEXT = Symbol('text');

/**
 * A number that JavaScript cannot represent exactly, such as an integer of 64 bits, or writes with an exponent, such as `0.0000001`: it keeps all of its digits. Texts and JSON made of it
 * contain the number as it was written.
 *
 * @example
 * String(new ExactNumber('9007199254740993')); // '9007199254740993'
 * JSON.stringify({ id: new ExactNumber('9007199254740993') }); // '{"id":9007199254740993}'
 */
export class ExactNumber {
  private readonly [TEXT]: string;

  constructor(text: string) {
    this[TEXT] = text;
  }

  /** As it is written in JSON. */
  get text(): string {
    return this[TEXT];
  }

  toString(): string {
    return this.text;
  }

  /** Called by `JSON.stringify`. */
  toJSON(): unknown {
    return rawJson(this.text);
  }
}

/** Converts each value of a JSON text; `source` is the text of a value that is neither an object nor a list. */
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
/** `JSON.parse` with a reviver that gets the source text, which the types lack. */
const parse = JSON.parse as (text: string, reviver?: Reviver) => unknown;

/** Numbers that may be inexact: at least 16 digits, an exponent, or so small that JavaScript writes one. Strings may match too. */
const MAY_BE_INEXACT = /(?:^|[[,:\s])-?(?:[\d.]{16}|0\.000000|[\d.]+[eE])/;

/**
 * Parses JSON like `JSON.parse`, but keeps the digits of numbers that JavaScript cannot represent or writes in another form: they become an {@link ExactNumber}.
 * Every value that is passed on is parsed by it. Throws a `SyntaxError` if the text is invalid
 * or contains a number beyond the range of a double, which parsers read differently.
 *
 * @example
 * parseJson('{"id": 9007199254740993, "count": 2}'); // { id: ExactNumber, count: 2 }
 */
export function parseJson(text: string): unknown {
  return MAY_BE_INEXACT.test(text) ? parse(text, keepDigits) : parse(text);
}

const keepDigits: Reviver = (_key, value, { source = '' }) =>
  typeof value === 'number' && isInexact(value, source) ? new ExactNumber(source) : value;

/** Returns true if a number lost digits, or would be written with an exponent that it does not have in JSON. Throws if it is infinite. */
function isInexact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) throw new SyntaxError('a number is out of range');
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return true;
  const shortest = String(value);
  if (shortest.includes('e') && !/e/i.test(source)) return true;
  return significantDigits(source) !== significantDigits(shortest);
}

/** Returns the digits of a number without sign, point, exponent, and zeros at its ends. */
function significantDigits(number: string): string {
  const [mantissa = ''] = number.split(/[eE]/, 1);
  const digits = mantissa.replaceAll(/[-.]/g, '');
  let start = 0;
  let end = digits.length;
  while (digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  return digits.slice(start, end);
}
