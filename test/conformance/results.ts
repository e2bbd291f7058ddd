/** What became of the tests of the conformance suite, by name. */
export interface ConformanceResults {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  /** Tests that were not run, by the feature that the gateway does not have. */
  readonly leftOut: ReadonlyMap<string, readonly string[]>;
}

const RESULT = /^ {4}--- (PASS|FAIL|SKIP): TestConformance\/(\w+) /gm;
const REASON = /Skipping (\w+): suite does not support (\w+)/g;

/** Reads the output of the suite. */
export function readResults(output: string): ConformanceResults {
  const found = [...output.matchAll(RESULT)].map(([, result, name]) => ({ result, name: name! }));
  const named = (result: string): string[] =>
    found
      .filter((each) => each.result === result)
      .map(({ name }) => name)
      .sort();
  const features = new Map([...output.matchAll(REASON)].map(([, name, feature]) => [name!, feature!]));
  const leftOut = Map.groupBy(named('SKIP'), (name) => features.get(name) ?? 'unknown');
  return { passed: named('PASS'), failed: named('FAIL'), leftOut };
}

/** Returns the page that lists the results. */
export function resultsPage({ passed, failed, leftOut }: ConformanceResults, version: string): string {
  const skipped = [...leftOut].sort(([a], [b]) => (a < b ? -1 : 1));
  const count = skipped.reduce((sum, [, names]) => sum + names.length, 0);
  const list = (names: readonly string[]): string => names.map((name) => `- ${name}`).join('\n') || 'None.';
  return `# Conformance with the Gateway API

The [conformance suite](https://gateway-api.sigs.k8s.io/concepts/conformance/) of version ${version} runs in the tests of this repository (\`npm run test:e2e test/conformance/gateway-api.e2e.ts\`)
against a control plane, a proxy process for each [Gateway](gateway-api.md), and a real API server, in a network namespace of one machine. There are no nodes: a program of the tests runs the pods of
the suite. The suite writes this page.

| result   | tests |
| -------- | ----- |
| passed   | ${passed.length} |
| failed   | ${failed.length} |
| left out | ${count} |

## Passed

${list(passed)}

## Failed

${list(failed)}

## Left out

The suite leaves out tests for features that the GatewayClass does not report.

| feature | tests |
| ------- | ----- |
${skipped.map(([feature, names]) => `| ${feature} | ${names.join(', ')} |`).join('\n')}
`;
}
