import { globSync } from 'node:fs';
import { join } from 'node:path';
import { formatIssue, parseDocuments, validateWritten } from '@edge-gateway/core';
import { expect } from 'chai';
import { readPage } from './docs/page.ts';
import { ROOT } from './docs/workspace.ts';

const PAGES = globSync(['README.md', 'docs/*.md', 'packages/*/README.md', 'apps/*/README.md'], {
  cwd: ROOT,
}).toSorted();

describe('resources in the documentation', () => {
  for (const page of PAGES) {
    const blocks = readPage(join(ROOT, page)).filter(
      ({ language, text, directives }) =>
        language === 'yaml' && /^apiVersion:/m.test(text) && !directives.has('refused'),
    );
    if (blocks.length === 0) continue;

    it(`${page} contains only valid resources`, () => {
      const wrong = blocks.flatMap(({ text, line }) =>
        parseDocuments(text, `${page}:${line}`).flatMap((written) =>
          validateWritten(written)
            .issues.filter(({ severity }) => severity === 'error')
            .map(formatIssue),
        ),
      );
      expect(wrong).to.deep.equal([]);
    });
  }
});
