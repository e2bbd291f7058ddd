import { expect } from 'chai';
import { createLoggers, formatIssue, loadSource, memorySource } from '../../src/index.ts';

const LONG = 'x'.repeat(300_000);
const UPSTREAM = 'apiVersion: gw.vendor.io/v1\nkind: Upstream\n';
const HOST = (domain: string, route: string) =>
  `apiVersion: gateway.vendor.io/v1\nkind: VirtualService\nmetadata: {name: a}\nspec: {virtualHost: {domains: [${domain}], routes: [${route}]}}\n`;

const DOCUMENTS: Record<string, string> = {
  kind: `apiVersion: gw.vendor.io/v1\nkind: ${LONG}\nmetadata: {name: a}\n`,
  apiVersion: `apiVersion: ${LONG}\nkind: Upstream\nmetadata: {name: a}\n`,
  name: `${UPSTREAM}metadata: {name: ${LONG}}\nspec: {}\n`,
  namespace: `${UPSTREAM}metadata: {name: a, namespace: ${LONG}}\nspec: {}\n`,
  'unknown key': `${UPSTREAM}metadata: {name: a}\nspec: {${LONG}: 1}\n`,
  'repeated key': `${UPSTREAM}${LONG}: 1\n${LONG}: 2\n`,
  label: `${UPSTREAM}metadata: {name: a, labels: {${LONG}: 1}}\nspec: {}\n`,
  address: `${UPSTREAM}metadata: {name: a}\nspec: {static: {hosts: [{addr: "${LONG} b", port: 80}]}}\n`,
  domain: HOST(`"${LONG} b"`, '{matchers: [{prefix: /}], directResponseAction: {status: 200}}'),
  regex: HOST('"*"', `{matchers: [{regex: "(${LONG}"}], directResponseAction: {status: 200}}`),
  reference: HOST('"*"', `{matchers: [{prefix: /}], routeAction: {single: {upstream: {name: ${LONG}}}}}`),
};

describe('a long value of a resource', () => {
  for (const [what, text] of Object.entries(DOCUMENTS)) {
    it(`is cut in problems and in the log: ${what}`, async () => {
      const lines: string[] = [];
      const log = createLoggers({ destination: { write: (line) => void lines.push(line) } });
      const { issues } = await loadSource(memorySource({ a: text }), { log });
      expect(issues).to.have.length.above(0);
      expect(JSON.stringify(issues).length).to.be.below(10_000);
      expect(issues.map(formatIssue).join().length).to.be.below(10_000);
      expect(lines.join('').length).to.be.below(10_000);
    });
  }
});
