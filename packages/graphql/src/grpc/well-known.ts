/** A message of protocol buffers whose JSON is not an object of its fields. */
export interface WellKnown {
  /** Of an object with all fields, each under its name in JSON and made JSON already. */
  toJson(fields: Fields): unknown;
  /** The fields, with values that are JSON still; `undefined` where it is none of this form. Throws for what does not fit. */
  fromJson(json: unknown): Fields | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i;
const DURATION = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;

const timestamp: WellKnown = {
  toJson({ seconds, nanos }) {
    const whole = new Date(Number(seconds) * 1000).toISOString();
    return `${whole.slice(0, -'.000Z'.length)}${fraction(Number(nanos))}Z`;
  },
  fromJson(json) {
    if (typeof json !== 'string') return undefined;
    const [, whole, part = '', zone] = TIME.exec(json) ?? [];
    const ms = Date.parse(`${whole}${zone}`);
    if (Number.isNaN(ms)) throw new Error('a point in time is like 2030-01-31T12:00:00Z');
    return { seconds: ms / 1000, nanos: nanosOf(part) };
  },
};

const duration: WellKnown = {
  toJson({ seconds, nanos }) {
    const isNegative = Number(seconds) < 0 || Number(nanos) < 0;
    return `${isNegative ? '-' : ''}${Math.abs(Number(seconds))}${fraction(Math.abs(Number(nanos)))}s`;
  },
  fromJson(json) {
    if (typeof json !== 'string') return undefined;
    const match = DURATION.exec(json);
    if (!match) throw new Error('a duration is like 1.5s');
    const [, minus, whole, part = ''] = match;
    const sign = minus === '-' ? -1 : 1;
    return { seconds: sign * Number(whole), nanos: sign * nanosOf(part) };
  },
};

const wrapper: WellKnown = {
  toJson: ({ value }) => value,
  fromJson: (json) => (isRecord(json) ? undefined : { value: json }),
};

const struct: WellKnown = {
  toJson: ({ fields }) => fields,
  fromJson: (json) => (isRecord(json) ? { fields: json } : undefined),
};

const list: WellKnown = {
  toJson: ({ values }) => values,
  fromJson: (json) => (Array.isArray(json) ? { values: json } : undefined),
};

const value: WellKnown = {
  toJson: (fields) =>
    fields['structValue'] ??
    fields['listValue'] ??
    fields['stringValue'] ??
    fields['numberValue'] ??
    fields['boolValue'] ??
    null,
  fromJson(json) {
    if (json === null || json === undefined) return { nullValue: 0 };
    if (Array.isArray(json)) return { listValue: json };
    return { [`${typeof json === 'object' ? 'struct' : typeof json === 'boolean' ? 'bool' : typeof json}Value`]: json };
  },
};

const fieldMask: WellKnown = {
  toJson: ({ paths }) =>
    (paths as readonly string[])
      .map((path) => path.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
      .join(','),
  fromJson(json) {
    if (typeof json !== 'string') return undefined;
    const paths = json.split(',').filter((path) => path !== '');
    return { paths: paths.map((path) => path.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)) };
  },
};

const WRAPPED = ['Double', 'Float', 'Int64', 'UInt64', 'Int32', 'UInt32', 'Bool', 'String', 'Bytes'];

const KNOWN = new Map<string, WellKnown>([
  ['Timestamp', timestamp],
  ['Duration', duration],
  ['Struct', struct],
  ['ListValue', list],
  ['Value', value],
  ['FieldMask', fieldMask],
  ...WRAPPED.map((type) => [`${type}Value`, wrapper] as const),
]);

/** What is special about a message of this full name, e.g. `.google.protobuf.Timestamp`. */
export function wellKnown(fullName: string): WellKnown | undefined {
  const [, name] = /^\.google\.protobuf\.(\w+)$/.exec(fullName) ?? [];
  return name === undefined ? undefined : KNOWN.get(name);
}

/** Nothing, or a point with 3, 6 or 9 digits. */
function fraction(nanos: number): string {
  if (nanos === 0) return '';
  return `.${String(nanos)
    .padStart(9, '0')
    .replace(/(?:000){1,2}$/, '')}`;
}

function nanosOf(digits: string): number {
  return Number(digits.padEnd(9, '0'));
}

function isRecord(json: unknown): json is Fields {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
