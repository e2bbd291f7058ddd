import { expect } from 'chai';
import { GatewayProcess, until } from './gateway-process.ts';
import { direct } from './workers/resources.ts';

const secret = (value: string): string => `
apiVersion: v1
kind: Secret
metadata: { name: headers }
type: Opaque
stringData: { x-team: ${value} }
`;
const withHeaders = (body: string): string =>
  direct(body).replace(
    'routes:',
    'options: { headerManipulation: { requestHeadersToAdd: [{ headerSecretRef: { name: headers, namespace: gw-system } }] } }\n    routes:',
  );

describe('a virtual service that cannot be compiled in one process', () => {
  const gateway = new GatewayProcess();
  after(() => gateway.close());

  it('keeps its last version and has the rejection in its status, until it is fixed', async () => {
    const body = async () => (await fetch(gateway.url)).text();
    const problems = async () =>
      ((await (await fetch(`${gateway.stats}/problems`)).json()) as { problems: { message: string; name: string }[] })
        .problems;
    gateway.write('secret.yaml', secret('"a\\nb"'));
    gateway.write('a.yaml', direct('one'));
    await gateway.start();
    expect(await body()).to.equal('one');
    gateway.write('a.yaml', withHeaders('two'));
    const [problem] = (await until(async () => {
      const found = await problems();
      return found.length > 0 ? found : undefined;
    }, 'the rejection'))!;
    expect(problem).to.include({ name: 'direct' });
    expect(problem!.message).to.match(/^rejected by proxy gateway-proxy \(.+\): .*contains a line break/);
    expect(await body()).to.equal('one');
    // Another change compiles the rest.
    gateway.write('b.yaml', direct('three').replace('name: direct', 'name: other').replace("'*'", 'other.example'));
    await until(async () => {
      const config = await (await fetch(`${gateway.admin}/config_dump`)).text();
      return config.includes('other.example');
    }, 'the other virtual service');
    expect(await body()).to.equal('one');
    expect(await problems()).to.have.lengthOf(1);
    gateway.write('secret.yaml', secret('team-a'));
    await until(async () => (await body()) === 'two', 'the fixed version');
    await until(async () => (await problems()).length === 0, 'no problem');
  });
});
