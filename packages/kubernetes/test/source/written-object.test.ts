import { expect } from 'chai';
import { writtenObject } from '../../src/source/written-object.ts';

const upstream = (metadata: object = {}, more: object = {}) => ({
  metadata: { name: 'a', namespace: 'shop', ...metadata },
  spec: { static: { hosts: [] } },
  ...more,
});
const digest = (object: ReturnType<typeof upstream>) => writtenObject('Upstream', object).digest;

describe('the written part of an object', () => {
  it('does not change with its status or managed metadata', () => {
    const plain = digest(upstream());
    expect(digest(upstream({ resourceVersion: '2', managedFields: [{}], uid: 'u' }, { status: {} }))).to.equal(plain);
    expect(digest(upstream({}, { spec: { static: { hosts: [{}] } } }))).not.to.equal(plain);
    expect(digest(upstream({ labels: { a: '1' } }))).not.to.equal(plain);
  });

  it('omits the copy of the object that kubectl writes', () => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"password":"x"}}' };
    const { written } = writtenObject('Upstream', upstream({ annotations }));
    expect(JSON.stringify(written.map(({ value }) => value))).not.to.contain('password');
    const kept = writtenObject('Upstream', upstream({ annotations: { ...annotations, team: 'a' } }));
    expect((kept.written[0]!.value as any).metadata.annotations).to.deep.equal({ team: 'a' });
  });

  it('contains the time of creation of options that compete by age, and of no other object', () => {
    const aged = upstream({ creationTimestamp: '2026-01-01T00:00:00Z' });
    const metadataOf = (kind: 'Upstream' | 'ListenerOption' | 'HttpListenerOption') =>
      (writtenObject(kind, aged).written[0]!.value as any).metadata;
    expect(metadataOf('ListenerOption').creationTimestamp).to.equal('2026-01-01T00:00:00Z');
    expect(metadataOf('HttpListenerOption').creationTimestamp).to.equal('2026-01-01T00:00:00Z');
    expect(metadataOf('Upstream')).to.not.have.property('creationTimestamp');
  });
});
