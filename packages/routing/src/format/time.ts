const two = (value: number): string => String(value).padStart(2, '0');
const three = (value: number): string => String(value).padStart(3, '0');

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

const SPECIFIERS: Readonly<Record<string, (date: Date) => string>> = {
  Y: (date) => String(date.getUTCFullYear()),
  m: (date) => two(date.getUTCMonth() + 1),
  d: (date) => two(date.getUTCDate()),
  H: (date) => two(date.getUTCHours()),
  M: (date) => two(date.getUTCMinutes()),
  S: (date) => two(date.getUTCSeconds()),
  s: (date) => String(Math.floor(date.getTime() / 1000)),
  f: (date) => `${three(date.getUTCMilliseconds())}000000`,
  '3f': (date) => three(date.getUTCMilliseconds()),
  '6f': (date) => `${three(date.getUTCMilliseconds())}000`,
  '9f': (date) => `${three(date.getUTCMilliseconds())}000000`,
  F: (date) => date.toISOString().slice(0, 10),
  T: (date) => date.toISOString().slice(11, 19),
  a: (date) => DAYS[date.getUTCDay()]!,
  b: (date) => MONTHS[date.getUTCMonth()]!,
  e: (date) => String(date.getUTCDate()).padStart(2, ' '),
  z: () => '+0000',
  Z: () => 'UTC',
  '%': () => '%',
};

/** Formats a time in UTC by `strftime` letters (`%Y-%m-%dT%H:%M:%S.%3fZ`); without a format as ISO 8601. */
export function formatTime(milliseconds: number, format: string): string {
  const date = new Date(milliseconds);
  if (format === '') return date.toISOString();
  return format.replace(/%([369]f|[A-Za-z%])/g, (written, letter: string) => {
    return Object.hasOwn(SPECIFIERS, letter) ? SPECIFIERS[letter]!(date) : written;
  });
}
