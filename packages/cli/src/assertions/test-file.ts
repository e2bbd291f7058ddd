import {
  formatIssue,
  parseDocuments,
  parseDuration,
  type FieldPath,
  type Origin,
  type WrittenResource,
} from '@edge-gateway/core';
import { didYouMean } from '../command-line/command-help.ts';
import { cliError } from '../error-codes.ts';

/** A text that must equal the value, a regular expression that must match the whole value, or `null` if there must be no value. */
export type TextMatcher = string | { readonly matches: RegExp } | null;

/** The expected explanation of a request; missing fields are not checked. */
export interface Expectations {
  readonly listener?: TextMatcher;
  /** `namespace/name` or `name`. */
  readonly virtualService?: TextMatcher;
  readonly domain?: TextMatcher;
  /** Its complete name, or the name in the resource. */
  readonly route?: TextMatcher;
  readonly status?: number;
  readonly location?: TextMatcher;
  readonly body?: TextMatcher;
  /** `namespace/name` or `name`; or the share in percent by upstream. */
  readonly upstream?: TextMatcher | ReadonlyMap<string, number>;
  readonly method?: TextMatcher;
  readonly url?: TextMatcher;
  readonly timeoutMs?: number;
  readonly headers?: ReadonlyMap<string, TextMatcher>;
  readonly jwt?: 'allow' | 'deny' | 'none';
  readonly rbac?: 'allow' | 'deny' | 'none' | { readonly policy: string };
  /** `namespace/name` or `name` of the AuthConfig. */
  readonly extauth?: TextMatcher;
  /** The rules under which the request is counted. */
  readonly rateLimits?: readonly string[];
}

/** The request of a test. */
export interface TestRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly user?: string;
  readonly clientAddress?: string;
  readonly listener?: string;
  readonly proxy?: string;
}

/** One test of a file. */
export interface RequestTest {
  readonly name: string;
  readonly origin: Origin;
  readonly request: TestRequest;
  readonly expect: Expectations;
}

/** A file of tests. */
export interface TestFile {
  readonly file: string;
  /** Directory of the resources, relative to the file. */
  readonly config?: string;
  readonly tests: readonly RequestTest[];
}

/** Parses a test file. Throws `ERR_CLI_USAGE` with every problem and its position. */
export function parseTestFile(text: string, file: string): TestFile {
  const written = parseDocuments(text, file);
  const issues = written.flatMap((each) => each.issues).filter(({ severity }) => severity === 'error');
  if (issues.length > 0) throw cliError('ERR_CLI_USAGE', listOf(issues.map(formatIssue)));
  if (written.length !== 1) throw cliError('ERR_CLI_USAGE', `${file}: write all tests of a file in one document`);
  const reader = new Reader(written[0]!);
  const root = reader.map([], written[0]!.value, ['config', 'tests']);
  const config = root.has('config') ? reader.text(['config'], root.get('config')) : undefined;
  const list = reader.list(['tests'], root.get('tests'));
  if (list.length === 0) reader.report(['tests'], 'tests must be a list of at least one test');
  const tests = list.map((test, i) => readTest(reader, ['tests', i], test));
  rejectRepeatedNames(reader, tests);
  if (reader.problems.length > 0) throw cliError('ERR_CLI_USAGE', listOf(reader.problems));
  return { file, tests, ...(config !== undefined && { config }) };
}

function listOf(problems: readonly string[]): string {
  if (problems.length === 1) return problems[0]!;
  return [`${problems.length} errors occurred:`, ...problems.map((problem) => `\t* ${problem}`)].join('\n');
}

function rejectRepeatedNames(reader: Reader, tests: readonly RequestTest[]): void {
  const names = tests.map(({ name }) => name);
  for (const [i, name] of names.entries())
    if (name !== '' && names.indexOf(name) !== i)
      reader.report(['tests', i, 'name'], `the name "${name}" belongs to several tests`);
}

/** Reads untyped values, and collects problems with their positions. */
class Reader {
  readonly problems: string[] = [];
  readonly #written: WrittenResource;

  constructor(written: WrittenResource) {
    this.#written = written;
  }

  originOf(path: FieldPath): Origin {
    return this.#written.locate(path);
  }

  report(path: FieldPath, message: string): void {
    const { file, line, column } = this.originOf(path);
    this.problems.push(`${file}:${line}:${column}  ${message}`);
  }

  /** Returns the fields of an object; reports unknown ones if the known ones are given. */
  map(path: FieldPath, value: unknown, known?: readonly string[]): ReadonlyMap<string, unknown> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.report(path, `${nameOf(path)} must be an object, not ${shown(value)}`);
      return new Map();
    }
    for (const key of Object.keys(value))
      if (known && !known.includes(key)) {
        const hint = didYouMean(key, known) || `; allowed are ${known.join(', ')}`;
        this.report([...path, key], `unknown key ${key}${hint}`);
      }
    return new Map(Object.entries(value));
  }

  list(path: FieldPath, value: unknown): readonly unknown[] {
    if (Array.isArray(value)) return value;
    if (value !== undefined) this.report(path, `${nameOf(path)} must be a list, not ${shown(value)}`);
    return [];
  }

  text(path: FieldPath, value: unknown): string {
    if (typeof value === 'string' && value !== '') return value;
    this.report(path, `${nameOf(path)} must be a text, not ${shown(value)}`);
    return '';
  }

  /** A text; an unquoted number or boolean is accepted too. */
  scalar(path: FieldPath, value: unknown): string {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
    this.report(path, `${nameOf(path)} must be a text, not ${shown(value)}`);
    return '';
  }

  choice<T extends string>(path: FieldPath, value: unknown, choices: readonly T[]): T | undefined {
    const found = choices.find((choice) => choice === value);
    if (found === undefined)
      this.report(path, `${nameOf(path)} must be one of ${choices.join(', ')}, not ${shown(value)}`);
    return found;
  }

  matcher(path: FieldPath, value: unknown): TextMatcher {
    if (value === null) return null;
    if (typeof value !== 'object') return this.scalar(path, value);
    const source = this.map(path, value, ['matches']).get('matches');
    if (typeof source !== 'string') {
      this.report(path, `${nameOf(path)} must be a text, null, or { matches: EXPRESSION }`);
      return null;
    }
    try {
      return { matches: new RegExp(`^(?:${source})$`, 'su') };
    } catch {
      this.report([...path, 'matches'], `invalid regular expression ${JSON.stringify(source)}`);
      return null;
    }
  }
}

const nameOf = (path: FieldPath): string => String(path.at(-1) ?? 'the file');

const shown = (value: unknown): string => (value === undefined ? 'missing' : (JSON.stringify(value) ?? 'invalid'));

const NO_REQUEST: TestRequest = { method: 'GET', url: '', headers: {} };
const REQUEST_KEYS = ['method', 'url', 'headers', 'claims', 'user', 'clientAddress', 'listener', 'proxy'];

function readTest(reader: Reader, path: FieldPath, value: unknown): RequestTest {
  const fields = reader.map(path, value, ['name', 'request', 'expect']);
  const isEmpty = typeof value === 'object' && value !== null && fields.size === 0;
  if (isEmpty) reader.report(path, 'a test has a name, a request and expect');
  if (fields.size === 0) return { name: '', origin: reader.originOf(path), request: NO_REQUEST, expect: {} };
  const name = reader.text([...path, 'name'], fields.get('name'));
  const request = readRequest(reader, [...path, 'request'], fields.get('request'));
  const expect = readExpectations(reader, [...path, 'expect'], fields.get('expect'));
  return { name, origin: reader.originOf(path), request, expect };
}

function readRequest(reader: Reader, path: FieldPath, value: unknown): TestRequest {
  const fields = reader.map(path, value, REQUEST_KEYS);
  if (fields.size === 0) return NO_REQUEST;
  const url = reader.text([...path, 'url'], fields.get('url'));
  if (url !== '' && !/^(?:\*|https?:\/\/[^/\s]\S*)$/i.test(url))
    reader.report([...path, 'url'], `url must be an absolute URL such as http://shop.example/cart, not "${url}"`);
  const texts = ['user', 'clientAddress', 'listener', 'proxy'].filter((key) => fields.has(key));
  const claims = fields.has('claims') ? reader.map([...path, 'claims'], fields.get('claims')) : undefined;
  return {
    method: fields.has('method') ? reader.text([...path, 'method'], fields.get('method')) : 'GET',
    url,
    headers: readHeaders(reader, [...path, 'headers'], fields.get('headers')),
    ...(claims && { claims: Object.fromEntries(claims) }),
    ...Object.fromEntries(texts.map((key) => [key, reader.text([...path, key], fields.get(key))])),
  };
}

function readHeaders(reader: Reader, path: FieldPath, value: unknown): Record<string, string[]> {
  if (value === undefined) return {};
  const headers: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const [name, written] of reader.map(path, value)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) reader.report([...path, name], `invalid header name "${name}"`);
    const values = Array.isArray(written) ? written : [written];
    headers[name.toLowerCase()] = values.map((one) => reader.scalar([...path, name], one));
  }
  return headers;
}

type Read = (reader: Reader, path: FieldPath, value: unknown) => Partial<Expectations>;

const matcherField =
  (
    field: 'listener' | 'virtualService' | 'domain' | 'route' | 'location' | 'body' | 'method' | 'url' | 'extauth',
  ): Read =>
  (reader, path, value) => ({ [field]: reader.matcher(path, value) });

const DECISIONS = ['allow', 'deny', 'none'] as const;

/** How each expectation is read. */
const EXPECTATIONS: Readonly<Record<string, Read>> = {
  listener: matcherField('listener'),
  virtualService: matcherField('virtualService'),
  domain: matcherField('domain'),
  route: matcherField('route'),
  status: (reader, path, value) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 999) return { status: value };
    reader.report(path, `status must be a number from 100 to 999, not ${shown(value)}`);
    return {};
  },
  location: matcherField('location'),
  body: matcherField('body'),
  upstream: readUpstream,
  method: matcherField('method'),
  url: matcherField('url'),
  timeout: (reader, path, value) => {
    try {
      if (typeof value === 'string') return { timeoutMs: parseDuration(value) };
    } catch {
      // Reported below, together with values that are not text.
    }
    reader.report(path, `timeout must be a duration such as 15s, or 0s for none, not ${shown(value)}`);
    return {};
  },
  headers: (reader, path, value) => {
    const fields = reader.map(path, value);
    const read = [...fields].map(([name, one]) => [name.toLowerCase(), reader.matcher([...path, name], one)] as const);
    return { headers: new Map(read) };
  },
  jwt: (reader, path, value) => ({ jwt: reader.choice(path, value, DECISIONS) }),
  rbac: (reader, path, value) => {
    if (typeof value !== 'object' || value === null) return { rbac: reader.choice(path, value, DECISIONS) };
    const policy = reader.map(path, value, ['policy']).get('policy');
    return { rbac: { policy: reader.text([...path, 'policy'], policy) } };
  },
  extauth: matcherField('extauth'),
  rateLimits: (reader, path, value) => ({
    rateLimits: reader.list(path, value ?? []).map((rule, i) => reader.text([...path, i], rule)),
  }),
};

function readUpstream(reader: Reader, path: FieldPath, value: unknown): Partial<Expectations> {
  const isShares = typeof value === 'object' && value !== null && !('matches' in value);
  if (!isShares) return { upstream: reader.matcher(path, value) };
  const shares = Array.from(reader.map(path, value), ([name, share]) => {
    if (typeof share === 'number' && share >= 0 && share <= 100) return [name, share] as const;
    reader.report([...path, name], `the share of ${name} must be a percentage from 0 to 100, not ${shown(share)}`);
    return [name, 0] as const;
  });
  return { upstream: new Map(shares) };
}

function readExpectations(reader: Reader, path: FieldPath, value: unknown): Expectations {
  const fields = reader.map(path, value, Object.keys(EXPECTATIONS));
  const isEmpty = typeof value === 'object' && value !== null && fields.size === 0;
  if (isEmpty) reader.report(path, 'expect must have at least one expectation');
  return Object.assign({}, ...[...fields].map(([key, one]) => EXPECTATIONS[key]?.(reader, [...path, key], one)));
}
