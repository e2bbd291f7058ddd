import { expect } from 'chai';
import { createControlPlane, formatIssue, groupByCause, memorySource } from '../../../src/index.ts';

const optionsOf = (kind: string, text: string): string => `apiVersion: gateway.vendor.io/v1
kind: ${kind}
metadata: { name: shared, namespace: team }
spec:
  options:
    stagedTransformations:
      early:
        requestTransforms:
          - requestTransformation:
              transformationTemplate:
                headers:
                  x-bad: { text: '${text}' }
`;
const USER = `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    routes:
      - matchers: [{ prefix: / }]
        directResponseAction: { status: 200 }
        optionsConfigRefs: { delegateOptions: [{ name: shared, namespace: team }] }
`;
const UNCHECKED = `apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { gateway: { validation: { disableTransformationValidation: true } } }
`;
const FIELD =
  'stagedTransformations.early.requestTransforms[0].requestTransformation.transformationTemplate.headers.x-bad.text';
const PROBLEM = `${FIELD}: template line 1, column 4: there is no function 'uper'`;

async function stateOf(files: Readonly<Record<string, string>>) {
  const controlPlane = createControlPlane({ source: memorySource(files) });
  await controlPlane.start();
  const { issues, statuses } = controlPlane.state!;
  await controlPlane.close();
  const reportOf = (key: string) => Object.values(statuses.get(key as never)!.statuses)[0]!;
  return { issues, reportOf };
}

describe('shared options with an invalid template', () => {
  for (const kind of ['RouteOption', 'VirtualHostOption']) {
    it(`are rejected at the template of the ${kind}, also without a user`, async () => {
      const { issues, reportOf } = await stateOf({ 'shared.yaml': optionsOf(kind, '{{ uper("a") }}') });
      expect(reportOf(`${kind}/team/shared`)).to.include({ state: 'Rejected', reason: PROBLEM });
      expect(issues.map(formatIssue)).to.deep.equal([
        `memory:shared.yaml:12:28  ${kind} team/shared  spec.options.${FIELD}  ${PROBLEM}`,
      ]);
    });
  }

  it('have the same cause as the problems of their users', async () => {
    const { issues } = await stateOf({ 'shared.yaml': optionsOf('RouteOption', '{{ uper("a") }}'), 'user.yaml': USER });
    const groups = groupByCause(issues);
    expect(groups.map((group) => group.map(({ kind }) => kind))).to.deep.equal([['RouteOption', 'VirtualService']]);
  });

  it('are accepted with a valid template, and if templates are not checked', async () => {
    const valid = await stateOf({ 'shared.yaml': optionsOf('RouteOption', '{{ upper("a") }}') });
    expect(valid.reportOf('RouteOption/team/shared').state).to.equal('Accepted');
    const files = { 'shared.yaml': optionsOf('RouteOption', '{{ uper("a") }}'), 'settings.yaml': UNCHECKED };
    expect((await stateOf(files)).reportOf('RouteOption/team/shared').state).to.equal('Accepted');
  });
});
