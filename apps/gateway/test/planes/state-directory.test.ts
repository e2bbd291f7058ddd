import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { GatewayProcess, until } from '../gateway-process.ts';
import { direct } from '../workers/resources.ts';
import { proxiesOf, startControlPlane, startProxy } from './planes.ts';

/** Resources that need more than 100 KB. */
const large = Array.from(
  { length: 100 },
  (_, i) => `---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: large-${i} }
spec:
  virtualHost:
    domains: ['${i}.example']
    routes:
      - matchers: [{ prefix: / }]
        directResponseAction: { status: 200, body: '${'x'.repeat(1000)}' }
`,
).join('');

describe('a state directory', () => {
  let dir: string;
  const running: GatewayProcess[] = [];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'state-'));
  });
  afterEach(async () => {
    for (const each of running.splice(0)) await each.close();
    rmSync(dir, { recursive: true });
  });
  const create = (limits: ConstructorParameters<typeof GatewayProcess>[0] = {}) => {
    const gateway = new GatewayProcess(limits);
    running.push(gateway);
    return gateway;
  };
  const fileOf = (ending: string) => {
    const name = readdirSync(dir).find((each) => each.endsWith(ending));
    return name === undefined ? undefined : readFileSync(join(dir, name), 'utf8');
  };
  const linesWith = ({ errors }: GatewayProcess, text: string) =>
    errors.split('\n').filter((line) => line.includes(text));
  /** A snapshot file contains resources as JSON in strings. */
  const inSnapshot = (body: string) => `\\"${body}\\"`;
  const bodyOf = async (gateway: GatewayProcess) => (await fetch(gateway.url)).text();

  it('of one proxy is not overwritten by another, which serves and says why it saves nothing', async () => {
    const controlPlane = create();
    controlPlane.write('a.yaml', direct('one'));
    await startControlPlane(controlPlane);
    const file = ['--snapshot-file', join(dir, 'proxy.snapshot')];
    const first = await startProxy(create(), [controlPlane.ready.xdsPort], ...file);
    await until(() => fileOf('.snapshot')?.includes(inSnapshot('one')), 'the file');
    const second = await startProxy(create(), [controlPlane.ready.xdsPort], ...file);
    const reason = `it is in use by process ${first.child.pid} of `;
    await until(() => linesWith(second, reason).length > 0, 'the reason');
    controlPlane.write('a.yaml', direct('two'));
    await until(async () => (await bodyOf(second)) === 'two', 'the change');
    await until(() => fileOf('.snapshot')?.includes(inSnapshot('two')), 'the change in the file');
    expect(linesWith(second, 'failed to write snapshot file')).to.have.length(1);
    expect(linesWith(first, 'failed to write')).to.deep.equal([]);
    first.child.kill('SIGKILL');
    await first.ended();
    controlPlane.write('a.yaml', direct('three'));
    await until(() => fileOf('.snapshot')?.includes(inSnapshot('three')), 'the second proxy takes over');
    await until(() => linesWith(second, 'snapshot file written again').length === 1, 'the message');
  });

  it('on a full disk costs nothing but the saved state, with one warning, and recovers', async () => {
    // 8 KB or 16 KB, by the unit of the shell.
    const gateway = create({ fileBlocks: 16 });
    gateway.write('a.yaml', direct('one'));
    await gateway.start('--state-dir', dir);
    await until(() => fileOf('.accepted')?.includes('"one"'), 'the file');
    gateway.write('large.yaml', large);
    const failed = 'failed to save accepted versions of resources';
    await until(() => linesWith(gateway, failed).length > 0, 'the warning');
    for (const body of ['two', 'three']) {
      gateway.write('a.yaml', direct(body));
      await until(async () => (await bodyOf(gateway)) === body, `the change to ${body}`);
    }
    expect(linesWith(gateway, failed)).to.have.length(1);
    expect(linesWith(gateway, failed)[0]).to.contain('EFBIG');
    // An earlier version must not be restored.
    expect(fileOf('.accepted')).to.equal(undefined);
    rmSync(join(gateway.dir, 'large.yaml'));
    await until(() => fileOf('.accepted')?.includes('"three"'), 'the file is written again');
    await until(() => linesWith(gateway, 'accepted versions of resources are saved again').length === 1, 'the message');
    expect(await bodyOf(gateway)).to.equal('three');
  });

  it('on a full disk does not keep a proxy from following its control plane', async () => {
    const controlPlane = create();
    controlPlane.write('a.yaml', direct('one') + large);
    await startControlPlane(controlPlane);
    const proxy = create({ fileBlocks: 16 });
    await startProxy(proxy, [controlPlane.ready.xdsPort], '--snapshot-file', join(dir, 'proxy.snapshot'));
    await until(() => linesWith(proxy, 'failed to write snapshot file').length > 0, 'the message');
    controlPlane.write('a.yaml', direct('two') + large);
    await until(async () => (await bodyOf(proxy)) === 'two', 'the change');
    await until(async () => (await proxiesOf(controlPlane))[0]?.current, 'the proxy is current');
    expect(linesWith(proxy, 'failed to write snapshot file')).to.have.length(1);
    controlPlane.write('a.yaml', direct('three'));
    await until(() => fileOf('.snapshot')?.includes(inSnapshot('three')), 'the file');
  });
});
