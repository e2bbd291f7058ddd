import { expect } from 'chai';
import { createServiceTable } from '../../src/discovery/service-table.ts';
import { service, slice } from './objects.ts';

const pod = (address: string, name: string) => ({
  addresses: [address],
  targetRef: { kind: 'Pod', namespace: 'apps', name },
});
const one = (address: string, name = 'a') => ({ endpoints: [pod(address, name)] });

describe('the table of Services', () => {
  it('has a Service once it exists, with slices that came before', () => {
    const table = createServiceTable();
    table.setSlices([['apps/web-1', slice('apps/web-1', 'web', one('10.0.0.1'))]]);
    expect([...table.take()]).to.deep.equal([]);
    table.setServices([['apps/web', service('apps/web')]]);
    const web = table.take().get('apps/web')!;
    expect(web.ref).to.deep.equal({ name: 'web', namespace: 'apps' });
    expect(web.ports[0]!.endpoints).to.have.length(1);
    expect(Object.isFrozen(web.ports[0]!.endpoints[0])).to.equal(true);
  });

  it('reports only what changed, with the same objects for the rest', () => {
    const table = createServiceTable();
    const spec = {
      ports: [
        { name: 'http', port: 80 },
        { name: 'admin', port: 81 },
      ],
    };
    table.setServices([
      ['apps/web', service('apps/web', { spec })],
      ['apps/other', service('apps/other')],
    ]);
    const ports = [{ name: 'admin', port: 9000 }];
    table.setSlices([
      ['apps/web-1', slice('apps/web-1', 'web', one('10.0.0.1'))],
      ['apps/web-2', slice('apps/web-2', 'web', { ...one('10.0.0.1'), ports })],
    ]);
    const first = table.take();
    expect([...first.keys()].sort()).to.deep.equal(['apps/other', 'apps/web']);
    table.setSlices([['apps/web-1', slice('apps/web-1', 'web', one('10.0.0.2', 'b'))]]);
    const second = table.take();
    expect([...second.keys()]).to.deep.equal(['apps/web']);
    const [before, after] = [first.get('apps/web')!, second.get('apps/web')!];
    expect(after.ports[1]).to.equal(before.ports[1]);
    expect(after.ports[0]!.upstream).to.equal(before.ports[0]!.upstream);
    table.setServices([['apps/web', service('apps/web', { spec })]]);
    expect([...table.take()]).to.deep.equal([]);
  });

  it('forgets endpoints of removed slices, of slices of another Service, and removed Services', () => {
    const table = createServiceTable();
    table.setServices([
      ['apps/web', service('apps/web')],
      ['apps/other', service('apps/other')],
    ]);
    table.setSlices([['apps/x', slice('apps/x', 'web', one('10.0.0.1'))]]);
    table.take();
    table.setSlices([['apps/x', slice('apps/x', 'other', one('10.0.0.1'))]]);
    const moved = table.take();
    expect(moved.get('apps/web')!.ports[0]!.endpoints).to.deep.equal([]);
    expect(moved.get('apps/other')!.ports[0]!.endpoints).to.have.length(1);
    table.setSlices([['apps/x', undefined]]);
    expect(table.take().get('apps/other')!.ports[0]!.endpoints).to.deep.equal([]);
    table.setServices([['apps/web', undefined]]);
    expect([...table.take()]).to.deep.equal([['apps/web', undefined]]);
    table.setSlices([['apps/none', undefined]]);
    expect([...table.take()]).to.deep.equal([]);
  });

  it('adds the labels of pods when they become known', () => {
    const table = createServiceTable();
    table.setServices([['apps/web', service('apps/web')]]);
    table.setSlices([['apps/x', slice('apps/x', 'web', one('10.0.0.1'))]]);
    table.take();
    table.setPodLabels([
      ['apps/a', { version: 'v1' }],
      ['apps/unknown', { version: 'v2' }],
    ]);
    expect(table.take().get('apps/web')!.ports[0]!.endpoints[0]!.metadata).to.deep.equal({ version: 'v1' });
    table.setPodLabels([['apps/a', { version: 'v1' }]]);
    expect([...table.take()]).to.deep.equal([]);
    table.setPodLabels([['apps/a', undefined]]);
    expect(table.take().get('apps/web')!.ports[0]!.endpoints[0]).not.to.have.property('metadata');
  });

  it('shows the fault of a port, and its upstream when it is repaired', () => {
    const table = createServiceTable();
    const web = (value: string) => service('apps/web', { annotations: { 'gw.vendor.io/h2_service': value } });
    table.setServices([['apps/web', web('maybe')]]);
    const [port] = table.take().get('apps/web')!.ports;
    expect(port).to.have.property('fault').that.contains('h2_service');
    expect(port).not.to.have.property('upstream');
    table.setServices([['apps/web', web('true')]]);
    expect(table.take().get('apps/web')!.ports[0]).to.have.nested.property('upstream.useHttp2', true);
  });

  it('builds every Service again when the default annotations change', () => {
    const table = createServiceTable();
    table.setServices([['apps/web', service('apps/web')]]);
    table.take();
    table.setDefaults({ 'gw.vendor.io/h2_service': 'true' });
    expect(table.take().get('apps/web')!.ports[0]).to.have.nested.property('upstream.useHttp2', true);
    table.setDefaults({ 'gw.vendor.io/h2_service': 'true' });
    expect([...table.take()]).to.deep.equal([]);
  });
});
