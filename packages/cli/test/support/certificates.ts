import { readFileSync } from 'node:fs';

const FOLDER = new URL('../../../routing/test/upstream/certificates/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

/** PEM files of a certificate, its key, the root above it, and a key of another one. */
export const CERTIFICATES = {
  'tls.crt': read('server.crt'),
  'tls.key': read('server.key'),
  'ca.crt': read('ca.crt'),
  'other.key': read('client.key'),
} as const;
