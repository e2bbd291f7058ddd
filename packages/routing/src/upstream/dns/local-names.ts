import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import { readRegularFile } from '@edge-gateway/core';

/** Files that describe names on this machine. */
export interface LocalFiles {
  /** Addresses with their names. Default: `/etc/hosts`. */
  readonly hosts: string;
  /** Domains in which short names are looked up. Default: `/etc/resolv.conf`. */
  readonly resolver: string;
}

/** The files of this machine. */
export const LOCAL_FILES: LocalFiles = {
  hosts:
    process.platform === 'win32'
      ? `${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\drivers\\etc\\hosts`
      : '/etc/hosts',
  resolver: '/etc/resolv.conf',
};

/** Names that are known without a DNS server. */
export interface LocalNames {
  /** Returns the addresses of a name in the hosts file, and of `localhost`; `undefined` if it is neither. */
  find(name: string): readonly string[] | undefined;
  /** Returns the names to look up for a name, in order: short ones are completed with the search domains. */
  candidates(name: string): readonly string[];
}

const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

/** Returns true for names that are never resolved by a DNS server (RFC 6761 §6.3). */
function isLocalhost(lower: string): boolean {
  return lower === 'localhost' || lower.endsWith('.localhost');
}

/** Returns the addresses of a name that are the same on every machine: those of an address and of `localhost`. */
export function fixedAddresses(name: string): readonly string[] | undefined {
  if (isIP(name) !== 0) return [name];
  return isLocalhost(withoutDot(name.toLowerCase())) ? LOOPBACK : undefined;
}

/** Creates a reader of local names. Changed files are read again at the next lookup; unreadable ones are empty. */
export function createLocalNames(files: LocalFiles = LOCAL_FILES): LocalNames {
  const hosts = cachedFile(files.hosts, parseHosts);
  const search = cachedFile(files.resolver, parseSearch);
  return {
    find(name) {
      const lower = withoutDot(name.toLowerCase());
      const found = hosts().get(lower);
      if (found) return found;
      return isLocalhost(lower) ? LOOPBACK : undefined;
    },
    candidates(name) {
      if (name.endsWith('.')) return [withoutDot(name)];
      const { domains, ndots } = search();
      const completed = domains.map((domain) => `${name}.${domain}`);
      return name.split('.').length > ndots ? [name, ...completed] : [...completed, name];
    },
  };
}

function withoutDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

/** Maximum size of a file, in bytes: lists of blocked names have some megabytes. */
const MAX_BYTES = 64 * 1024 * 1024;

function cachedFile<T>(path: string, parse: (text: string) => T): () => T {
  let stamp: string | undefined;
  let value = parse('');
  return () => {
    try {
      const { mtimeMs, size, ino } = statSync(path);
      const now = `${mtimeMs} ${size} ${ino}`;
      if (now !== stamp) value = parse(readRegularFile(path, MAX_BYTES).toString('utf8'));
      stamp = now;
    } catch {
      stamp = undefined;
      value = parse('');
    }
    return value;
  };
}

function* linesOf(text: string, comment: RegExp): Generator<string[]> {
  for (const line of text.split('\n')) {
    const words = line.replace(comment, '').trim().split(/\s+/);
    if (words.length > 1) yield words;
  }
}

function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [address = '', ...names] of linesOf(text, /#.*/)) {
    if (isIP(address) === 0) continue;
    for (const name of names.map((each) => withoutDot(each.toLowerCase()))) {
      const known = found.get(name);
      if (!known) found.set(name, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return found;
}

/** Without `ndots`, only names without a dot are completed first. */
function parseSearch(text: string): { readonly domains: readonly string[]; readonly ndots: number } {
  let domains: readonly string[] = [];
  let ndots = 1;
  for (const [keyword, ...words] of linesOf(text, /[#;].*/)) {
    if (keyword === 'search' || keyword === 'domain') domains = words.map(withoutDot).filter((domain) => domain !== '');
    const option = keyword === 'options' ? words.findLast((word) => /^ndots:\d+$/.test(word)) : undefined;
    if (option !== undefined) ndots = Math.min(Number(option.slice(6)), 15);
  }
  return { domains, ndots };
}
