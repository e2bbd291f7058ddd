import { expect } from 'chai';
import {
  planUpstreams,
  readUpstream,
  type ExistingUpstream,
  type UpstreamDiscoverySettings,
} from '../../src/discovery/upstream-plan.ts';
import type { Service } from '../../src/discovery/cluster-objects.ts';
import { applied, service } from './objects.ts';

const SETTINGS: UpstreamDiscoverySettings = {
  namespace: 'gw-system',
  enabled: true,
  watchLabels: {},
  globalAnnotations: {},
};

function plan(
  services: readonly Service[],
  existing: readonly ExistingUpstream[] = [],
  settings: Partial<UpstreamDiscoverySettings> = {},
) {
  const byName = new Map(existing.map((each) => [each.name, each]));
  return planUpstreams({ services, existing: byName, settings: { ...SETTINGS, ...settings } });
}
const names = (list: readonly { name?: string; metadata?: { name: string } }[]) =>
  list.map((each) => each.metadata?.name ?? each.name).sort();
const byHand = (name: string, spec: object, labels?: Record<string, string>): ExistingUpstream =>
  readUpstream({ metadata: { name, uid: 'u', ...(labels && { labels }) }, spec });

describe('the plan of discovered upstreams', () => {
  it('creates an upstream per port in the namespace of discovery', () => {
    const spec = {
      ports: [
        { name: 'http', port: 80 },
        { name: 'grpc', port: 90 },
      ],
    };
    const { apply, remove, problems } = plan([service('default/petstore', { labels: { app: 'p' }, spec })]);
    expect(apply).to.have.length(2);
    expect(apply[1]).to.deep.equal({
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Upstream',
      metadata: { name: 'default-petstore-90', namespace: 'gw-system', labels: { discovered_by: 'kubernetesplugin' } },
      spec: {
        discoveryMetadata: { labels: { app: 'p' } },
        kube: { serviceName: 'petstore', serviceNamespace: 'default', servicePort: 90, selector: { app: 'petstore' } },
        useHttp2: true,
      },
    });
    expect([remove, problems]).to.deep.equal([[], []]);
  });

  it('writes nothing if everything is as it should be', () => {
    const services = [
      service('a/web', { labels: { x: 'y' }, annotations: { 'gw.vendor.io/sslService.secret': 's' } }),
      service('a/b'),
    ];
    const existing = plan(services).apply.map((draft) => applied(draft));
    expect(plan(services, existing)).to.deep.equal({ apply: [], remove: [], problems: [] });
  });

  it('updates selector, labels and annotations', () => {
    const existing = plan([service('a/web', { labels: { x: '1', old: '' } })]).apply.map((draft) => applied(draft));
    const changed = service('a/web', { labels: { x: '2' }, spec: { selector: { app: 'other' } } });
    const { apply } = plan([changed], existing);
    expect(apply[0]!.spec).to.deep.equal({
      discoveryMetadata: { labels: { x: '2' } },
      kube: { serviceName: 'web', serviceNamespace: 'a', servicePort: 80, selector: { app: 'other' } },
    });
    expect(
      plan([service('a/web')], existing, { globalAnnotations: { team: 'x' } }).apply[0]!.metadata.annotations,
    ).to.deep.equal({ team: 'x' });
  });

  it('keeps fields that others have set, also where an annotation sets them', () => {
    const h2 = service('a/web', { annotations: { 'gw.vendor.io/h2_service': 'true' } });
    const [draft] = plan([service('a/web')]).apply;
    const others = { useHttp2: false, healthChecks: [{}], kube: { serviceSpec: { rest: {} } } };
    const existing = [applied(draft!, others)];
    expect(plan([service('a/web')], existing).apply).to.deep.equal([]);
    expect(plan([h2], existing).apply).to.deep.equal([]);
    const [change] = plan(
      [service('a/web', { annotations: { 'gw.vendor.io/h2_service': 'true' }, labels: { new: '1' } })],
      existing,
    ).apply;
    expect(change!.spec).not.to.have.property('useHttp2');
    expect(change!.spec).to.have.nested.property('discoveryMetadata.labels.new', '1');
  });

  it('does not replace an object of which others have set a part', () => {
    const [draft] = plan([service('a/web')]).apply;
    const existing = [applied(draft!, { sslConfig: { sni: 'x.example.com' } })];
    const tls = service('a/web', { annotations: { 'gw.vendor.io/sslService.secret': 's' } });
    expect(plan([tls], existing).apply[0]!.spec).to.have.deep.nested.property('sslConfig', {
      secretRef: { name: 's', namespace: 'a' },
    });
  });

  it('takes back the port and the selector if others changed them', () => {
    const [draft] = plan([service('a/web')]).apply;
    const { apply } = plan([service('a/web')], [applied(draft!, { kube: { servicePort: 9, selector: { app: 'x' } } })]);
    expect(apply[0]!.spec).to.deep.equal(draft!.spec);
  });

  it('takes back the port if others have become its only owner', () => {
    const [draft] = plan([service('a/web')]).apply;
    const shared = applied(draft!, { kube: { servicePort: 9 } });
    const own = new Set([...shared.fields.own].filter((field) => field !== 'spec/kube/servicePort'));
    const { apply } = plan([service('a/web')], [{ ...shared, fields: { ...shared.fields, own } }]);
    expect(apply[0]!.spec).to.have.nested.property('kube.servicePort', 80);
  });

  it('removes a field that an annotation no longer sets', () => {
    const h2 = service('a/web', { annotations: { 'gw.vendor.io/h2_service': 'true' } });
    const existing = plan([h2]).apply.map((draft) => applied(draft));
    expect(plan([service('a/web')], existing).apply[0]!.spec).not.to.have.property('useHttp2');
  });

  it('removes upstreams whose Service, or port, is gone', () => {
    const spec = {
      ports: [
        { name: 'http', port: 80 },
        { name: 'other', port: 81 },
      ],
    };
    const existing = plan([service('a/web', { spec }), service('a/gone')]).apply.map((draft) => applied(draft));
    const { apply, remove } = plan([service('a/web')], existing);
    expect(apply).to.deep.equal([]);
    expect(names(remove)).to.deep.equal(['a-gone-80', 'a-web-81']);
  });

  it('never touches an upstream that discovery did not create', () => {
    const own = byHand('a-web-80', { static: { hosts: [{ addr: 'example.com', port: 80 }] } });
    const other = byHand('unrelated', { kube: { serviceName: 'gone' } }, { discovered_by: 'someone' });
    const { apply, remove, problems } = plan([service('a/web')], [own, other]);
    expect([apply, remove]).to.deep.equal([[], []]);
    expect(problems).to.deep.equal([
      {
        service: 'a/web',
        upstream: 'a-web-80',
        reason: 'an Upstream of this name exists that discovery did not create; to replace it, delete it',
      },
    ]);
  });

  it('gives a name that two Services have to the owner of the upstream, else to the first, in any order', () => {
    const [one, other] = [service('a-b/c'), service('a/b-c')];
    for (const services of [
      [one, other],
      [other, one],
    ]) {
      const { apply, problems } = plan(services);
      expect(apply).to.have.length(1);
      expect(apply[0]!.spec).to.have.nested.property('kube.serviceNamespace', 'a-b');
      expect(problems).to.deep.equal([
        { service: 'a/b-c', upstream: 'a-b-c-80', reason: 'the name belongs to the upstream of Service a-b/c' },
      ]);
      const existing = plan([other]).apply.map((draft) => applied(draft));
      const kept = plan(services, existing);
      expect([kept.apply, kept.remove]).to.deep.equal([[], []]);
      expect(kept.problems[0]!.service).to.equal('a-b/c');
    }
  });

  it('keeps the upstream of a port with an annotation that is not valid, and creates none', () => {
    const bad = service('a/web', { annotations: { 'gw.vendor.io/sslService.secret': '' }, labels: { changed: '1' } });
    const existing = plan([service('a/web')]).apply.map((draft) => applied(draft));
    for (const before of [[], existing]) {
      const { apply, remove, problems } = plan([bad], before);
      expect([apply, remove]).to.deep.equal([[], []]);
      expect(problems[0]!.reason).to.contain('has no value');
    }
  });

  it('reports annotations for ports that the Service does not have', () => {
    const { apply, problems } = plan([
      service('a/web', { annotations: { 'gw.vendor.io/sslService.secret': '443:s' } }),
    ]);
    expect(apply).to.have.length(1);
    expect(problems[0]!.reason).to.equal('annotation gw.vendor.io/sslService.secret: the Service has no port 443');
  });

  it('is limited to Services with the labels to watch, or with the annotation', () => {
    const services = [
      service('a/none'),
      service('a/some', { labels: { watch: 'yes' } }),
      service('a/all', { labels: { watch: 'yes', tier: 'x' } }),
      service('a/chosen', { annotations: { 'gw.vendor.io/discover': 'true' } }),
      service('a/not', { annotations: { 'gw.vendor.io/discover': 'yes' } }),
    ];
    const watchLabels = { watch: 'yes', tier: 'x' };
    expect(names(plan(services, [], { watchLabels }).apply)).to.deep.equal(['a-all-80', 'a-chosen-80']);
    expect(plan(services).apply).to.have.length(5);
  });

  it('writes and removes nothing if discovery is off', () => {
    const existing = plan([service('a/gone')]).apply.map((draft) => applied(draft));
    expect(plan([service('a/web')], existing, { enabled: false })).to.deep.equal({
      apply: [],
      remove: [],
      problems: [],
    });
  });

  it('stands hostile labels and selectors', () => {
    const labels = { 'a/b~c.d': 'x', __proto: '1', constructor: 'y', 'f:spec': '.', '.': '' };
    const services = [service('a/web', { labels, spec: { selector: labels } })];
    const existing = plan(services).apply.map((draft) => applied(draft));
    expect(plan(services, existing).apply).to.deep.equal([]);
    expect(plan([service('a/web')], existing).apply).to.have.length(1);
  });
});
