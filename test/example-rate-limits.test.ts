import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { splitDocuments } from '../packages/core/test/translate/load.ts';
import { unvalidated } from '../packages/core/test/translate/unvalidated.ts';
import { parseDocuments } from '../packages/core/src/parse/parse.ts';
import { translate } from '../packages/core/src/translate/translate.ts';
import { checkSemantics } from '../packages/core/src/validate/semantics.ts';
import { validateWritten } from '../packages/core/src/validate/validate.ts';

const FOLDER = join(import.meta.dirname, '..', 'examples', 'rate-limits');
const files = readdirSync(FOLDER);
const UPSTREAM = `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: shop, namespace: gw-system }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 9000 }] } }
`;

describe('the examples of rate limits', () => {
  it('are listed', () => {
    const readme = readFileSync(join(FOLDER, 'README.md'), 'utf8');
    const listed = [...readme.matchAll(/\]\((.+?\.yaml)\)/g)].map(([, name]) => name!);
    expect(listed.toSorted()).to.deep.equal(files.filter((name) => name.endsWith('.yaml')).toSorted());
  });

  for (const name of files.filter((file) => file.endsWith('.yaml'))) {
    it(`${name} has no problems`, () => {
      const text = readFileSync(join(FOLDER, name), 'utf8');
      const issues = splitDocuments(text).flatMap(
        (document) => validateWritten(parseDocuments(document, name)[0]!).issues,
      );
      expect(issues).to.deep.equal([]);
      const stored = unvalidated([text, UPSTREAM].join('---\n'));
      const found = [...stored.values()].flatMap(({ resource }) => [...checkSemantics(resource!)]);
      expect(found).to.deep.equal([]);
      const { problems, snapshots } = translate({ stored });
      expect(problems).to.deep.equal([]);
      expect([...snapshots.values()][0]!.listeners[0]!.virtualHosts).to.have.length(1);
    });
  }
});
