import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PARSE_CODES, SCHEMA_CODES, SEMANTIC_CODES } from '../../src/resource/problem-codes.ts';

describe('problem codes', () => {
  it('are in one table, each once', () => {
    const source = join(import.meta.dirname, '../../src');
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const used = files.flatMap((name) =>
      [...readFileSync(join(source, name), 'utf8').matchAll(/\bcode: '(?!ERR_)([A-Z][A-Z0-9_]+)'/g)].map(
        (match) => match[1]!,
      ),
    );
    const tables = [PARSE_CODES, SCHEMA_CODES, SEMANTIC_CODES].flatMap((table) => Object.keys(table));
    expect(tables).include.members(used);
    expect(new Set(tables).size).equal(tables.length);
  });
});
