import { expect } from 'chai';
import { createControlPlane, formatIssue, memorySource } from '../../../src/index.ts';

const UPSTREAM = `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: pets, namespace: gw-system }
spec:
  static:
    hosts: [{ addr: 127.0.0.1, port: 9000 }]
    serviceSpec: { rest: { transformations: { findPetById: { headers: { ':method': { text: GET } } }, drop: {} } } }
`;

const serviceWith = (action: string): string => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    routes:
      - matchers: [{ prefix: / }]
        routeAction:
${action}`;

const call = (indent: number, rest: string): string => {
  const space = ' '.repeat(indent);
  return `${space}upstream: { name: pets }\n${space}destinationSpec:\n${space}  rest:\n${rest.replaceAll(/^/gm, `${space}    `)}`;
};

async function issuesOf(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const controlPlane = createControlPlane({ source: memorySource({ 'upstream.yaml': UPSTREAM, ...files }) });
  await controlPlane.start();
  const issues = controlPlane.state!.issues.map(formatIssue);
  await controlPlane.close();
  return issues;
}

const PLACE = 'destinationSpec.rest.functionName';
const unknown = (name: string, hint: string) =>
  `Route Error: ProcessingError. Reason: the upstream pets_gw-system has no function '${name}' (${hint}). Route Name: <unnamed-0>`;

describe('calls of functions', () => {
  it('locate an unknown function at its name, with the most similar one', async () => {
    const action = `          single:\n${call(12, 'functionName: findPetByld')}`;
    expect(await issuesOf({ 'shop.yaml': serviceWith(action) })).to.deep.equal([
      `memory:shop.yaml:13:17  VirtualService gw-system/shop  spec.virtualHost.routes[0].routeAction.single.${PLACE}  ${unknown('findPetByld', 'did you mean findPetById?')}`,
    ]);
  });

  it('locate that of a weighted destination, and name the known functions', async () => {
    const action = `          multi:
            destinations:
              - weight: 1
                destination: { upstream: { name: pets }, destinationSpec: { rest: { functionName: drop } } }
              - weight: 1
                destination:
${call(18, 'functionName: completelyElse')}`;
    expect(await issuesOf({ 'shop.yaml': serviceWith(action) })).to.deep.equal([
      `memory:shop.yaml:18:23  VirtualService gw-system/shop  spec.virtualHost.routes[0].routeAction.multi.destinations[1].destination.${PLACE}  ${unknown('completelyElse', 'known: findPetById, drop')}`,
    ]);
  });

  it('locate that of a group in the file of the group', async () => {
    const group = `apiVersion: gw.vendor.io/v1
kind: UpstreamGroup
metadata: { name: all, namespace: gw-system }
spec:
  destinations:
    - weight: 1
      destination:
${call(8, 'functionName: dorp')}`;
    const service = serviceWith('          upstreamGroup: { name: all }\n');
    expect(await issuesOf({ 'shop.yaml': service, 'group.yaml': group })).to.deep.equal([
      `memory:group.yaml:11:13  VirtualService gw-system/shop  spec.virtualHost.routes[0].routeAction.upstreamGroup  ${unknown('dorp', 'did you mean drop?')}`,
    ]);
  });

  it('locate an invalid template of the response', async () => {
    const rest = `functionName: drop\nresponseTransformation:\n  headers:\n    x-a: { text: '{{ a' }`;
    const [issue, ...more] = await issuesOf({ 'shop.yaml': serviceWith(`          single:\n${call(12, rest)}`) });
    expect(more).to.deep.equal([]);
    expect(issue).to.match(/^memory:shop.yaml:16:28 .*rest\.responseTransformation\.headers\.x-a\.text {2}Route Error/);
  });
});
