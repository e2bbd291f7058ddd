import { expect } from 'chai';
import { createControlPlane, formatIssue, memorySource } from '../../../src/index.ts';

const UPSTREAM = `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo, namespace: gw-system }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 9000 }] } }
`;
const BAD = `
stagedTransformations:
  early:
    requestTransforms:
      - requestTransformation:
          transformationTemplate:
            headers:
              x-bad: { text: '{{ uper("a") }}' }
`;

/** Returns a template with an unknown function, indented to its place. */
const badAt = (indent: number): string =>
  BAD.trim()
    .split('\n')
    .map((line) => ' '.repeat(indent) + line)
    .join('\n');

const shared = (kind: string): string => `apiVersion: gateway.vendor.io/v1
kind: ${kind}
metadata: { name: shared, namespace: team }
spec:
  options:
${badAt(4)}
`;
const FIELD =
  'stagedTransformations.early.requestTransforms[0].requestTransformation.transformationTemplate.headers.x-bad.text';
const PROBLEM = `${FIELD}: template line 1, column 4: there is no function 'uper'`;
const REF = 'optionsConfigRefs: { delegateOptions: [{ name: shared, namespace: team }] }';

async function issuesOf(service: string, options = ''): Promise<readonly string[]> {
  const source = memorySource({
    'service.yaml': `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
${service}`,
    'upstream.yaml': UPSTREAM,
    ...(options && { 'options.yaml': options }),
  });
  const controlPlane = createControlPlane({ source });
  await controlPlane.start();
  const issues = controlPlane.state!.issues.map(formatIssue);
  await controlPlane.close();
  return issues;
}

describe('the place of an invalid template', () => {
  it('is the template for an inline one', async () => {
    const issues = await issuesOf(`    routes:
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
        options:
${badAt(10)}
`);
    expect(issues).to.deep.equal([
      `memory:service.yaml:16:34  VirtualService gw-system/shop  spec.virtualHost.routes[0].options.${FIELD}  Route Error: ProcessingError. Reason: ${PROBLEM}. Route Name: <unnamed-0>`,
    ]);
  });

  it('is the template of a virtual host', async () => {
    const issues = await issuesOf(`    options:
${badAt(6)}
    routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200 } }]
`);
    expect(issues).to.deep.equal([
      `memory:service.yaml:13:30  VirtualService gw-system/shop  spec.virtualHost.options.${FIELD}  VirtualHost Error: ProcessingError. Reason: ${PROBLEM}`,
    ]);
  });

  it('is the template of a weighted destination', async () => {
    const issues = await issuesOf(`    routes:
      - matchers: [{ prefix: / }]
        routeAction:
          multi:
            destinations:
              - weight: 1
                destination: { upstream: { name: echo } }
                options:
${badAt(18)}
`);
    expect(issues).to.deep.equal([
      `memory:service.yaml:20:42  VirtualService gw-system/shop  spec.virtualHost.routes[0].routeAction.multi.destinations[0].options.${FIELD}  Route Error: ProcessingError. Reason: ${PROBLEM}. Route Name: <unnamed-0>`,
    ]);
  });

  it('is the file of a RouteOption, which the message names', async () => {
    const issues = await issuesOf(
      `    routes:
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
        ${REF}
`,
      shared('RouteOption'),
    );
    expect(issues).to.deep.equal([
      `memory:options.yaml:12:28  RouteOption team/shared  spec.options.${FIELD}  ${PROBLEM}`,
      `memory:options.yaml:12:28  VirtualService gw-system/shop  spec.virtualHost.routes[0].optionsConfigRefs.delegateOptions[0]  Route Error: ProcessingError. Reason: RouteOption team.shared: ${PROBLEM}. Route Name: <unnamed-0>`,
    ]);
  });

  it('is the file of a VirtualHostOption, which the message names', async () => {
    const issues = await issuesOf(
      `    ${REF}
    routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200 } }]
`,
      shared('VirtualHostOption'),
    );
    expect(issues).to.deep.equal([
      `memory:options.yaml:12:28  VirtualHostOption team/shared  spec.options.${FIELD}  ${PROBLEM}`,
      `memory:options.yaml:12:28  VirtualService gw-system/shop  spec.virtualHost.optionsConfigRefs.delegateOptions[0]  VirtualHost Error: ProcessingError. Reason: VirtualHostOption team.shared: ${PROBLEM}`,
    ]);
  });
});
