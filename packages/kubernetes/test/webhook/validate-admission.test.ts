import type { ValidationSettings } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import type { AdmissionRequest } from '../../src/webhook/admission-review.ts';
import { validateAdmission, type Admission } from '../../src/webhook/validate-admission.ts';
import {
  admission,
  settings,
  startTestCluster,
  upstream,
  virtualService,
  withMetadata,
  type TestCluster,
  type TestObject,
} from './validated-cluster.ts';

const STRICT = { alwaysAccept: false } as const;
const STRICTEST = { alwaysAccept: false, allowWarnings: false } as const;

describe('validateAdmission', () => {
  let cluster: TestCluster;
  const watched = new Set(['gw-system']);
  let previews: number;

  async function start(...objects: readonly TestObject[]): Promise<void> {
    cluster = await startTestCluster(...objects);
    previews = 0;
  }
  afterEach(() => cluster.controlPlane.close());

  function validate(
    request: AdmissionRequest,
    validation: ValidationSettings | undefined = STRICT,
  ): Promise<Admission> {
    return validateAdmission(request, {
      settings: () => validation,
      isWatched: (namespace) => watched.has(namespace),
      preview(change) {
        previews++;
        return cluster.controlPlane.preview(change);
      },
    });
  }

  it('admits what is valid, and leaves the control plane as it is', async () => {
    await start(upstream('a'));
    const { state } = cluster.controlPlane;
    expect(await validate(admission('CREATE', virtualService('web', ['a'])), STRICTEST)).to.deep.equal({
      outcome: 'allowed',
      allowed: true,
      warnings: [],
    });
    expect(previews).to.equal(1);
    expect(cluster.controlPlane.state).to.equal(state);
  });

  it('rejects a VirtualService with the field that is wrong', async () => {
    await start(upstream('a'));
    const wrong = virtualService('web', ['a'], 'two words');
    const { outcome, allowed, rejection } = await validate(admission('CREATE', wrong));
    expect([outcome, allowed]).to.deep.equal(['rejected', false]);
    expect(rejection!.causes).to.have.length(1);
    expect(rejection!.causes[0]!.field).to.equal('spec.virtualHost.domains[0]');
    expect(rejection!.message).to.match(
      /^incompatible with current gateway snapshot: \[virtualservices\.gateway\.vendor\.io gw-system\/web: spec\.virtualHost\.domains\[0\] .*two words/,
    );
  });

  it('rejects a change that breaks another resource', async () => {
    await start(upstream('a'), virtualService('web', ['a'], 'shared.example.com'));
    const { rejection } = await validate(admission('CREATE', virtualService('other', ['a'], 'shared.example.com')));
    expect(rejection!.message).to.contain('gw-system/web').and.contain('gw-system/other');
  });

  it('rejects the deletion of a referenced Upstream if warnings are not allowed, and names the routes otherwise', async () => {
    await start(upstream('a'), virtualService('web', ['a']));
    const request = admission('DELETE', upstream('a'));
    expect((await validate(request, STRICTEST)).rejection!.message).to.match(
      /^deletion incompatible with current gateway snapshot: \[.*gw-system\/web: spec\.virtualHost\.routes\[0\]/,
    );
    const { allowed, warnings } = await validate(request);
    expect(allowed).to.equal(true);
    expect(warnings!.join()).to.contain('gw-system/web');
    expect((await validate(admission('DELETE', upstream('unused')), STRICTEST)).warnings).to.deep.equal([]);
  });

  it('writes the first of many problems, and counts the others', async () => {
    await start();
    const missing = Array.from({ length: 3_000 }, (_, i) => `missing-${i}`);
    const { warnings, omittedWarnings } = await validate(admission('CREATE', virtualService('web', missing)));
    expect(warnings).to.have.length(50);
    expect(omittedWarnings).to.equal(2_950);
    const { rejection } = await validate(admission('CREATE', virtualService('web', missing)), STRICTEST);
    expect(rejection!.causes).to.have.length(50);
    expect(rejection!.message).to.match(/; and 2950 more problems\]$/);
  });

  it('only warns by default', async () => {
    await start(upstream('a'));
    const { allowed, outcome, warnings } = await validate(
      admission('CREATE', virtualService('web', ['a'], 'two words')),
      {},
    );
    expect([allowed, outcome]).to.deep.equal([true, 'allowed']);
    expect(warnings!.join()).to.contain('spec.virtualHost.domains[0]');
  });

  it('rejects what cannot be read even if everything is accepted', async () => {
    await start(upstream('a'));
    const unknown = upstream('b', { static: { hosts: [] }, unheardOf: true });
    expect((await validate(admission('CREATE', unknown), {})).rejection!.causes[0]!.field).to.equal('spec.unheardOf');
    let deep: object = {};
    for (let i = 0; i < 200; i++) deep = { deep };
    expect((await validate(admission('CREATE', upstream('c', deep)), {})).allowed).to.equal(false);
    const unusable = { wrong: upstream('c', { static: 'hosts' }), key: upstream('c', JSON.parse('{"__proto__":{}}')) };
    for (const [what, one] of Object.entries(unusable))
      expect((await validate(admission('CREATE', one), {})).allowed, what).to.equal(false);
  });

  it('shows no secret values in what it rejects', async () => {
    await start();
    const { rejection } = await validate(admission('CREATE', upstream('a', { 'https://me:MARKER@a.example/': 1 })), {});
    expect(rejection!.message).to.contain('a.example').and.not.contain('MARKER');
    expect(JSON.stringify(rejection)).to.not.contain('MARKER');
  });

  it('validates objects whose annotation does not ask to skip them', async () => {
    await start(upstream('a'));
    const wrong = virtualService('web', ['a'], 'two words');
    const annotated = withMetadata(wrong, { annotations: { 'gateway.vendor.io/skip_validation': 'false' } });
    expect((await validate(admission('CREATE', annotated))).allowed).to.equal(false);
  });

  it('obeys the annotation that skips validation only where the Settings allow it', async () => {
    await start(upstream('a'));
    const wrong = virtualService('web', ['a'], 'two words');
    const annotated = admission(
      'CREATE',
      withMetadata(wrong, { annotations: { 'gateway.vendor.io/skip_validation': 'true' } }),
    );
    expect((await validate(annotated)).outcome).to.equal('rejected');
    expect((await validate(annotated, { ...STRICT, allowSkipValidation: false })).outcome).to.equal('rejected');
    expect((await validate(annotated, { ...STRICT, allowSkipValidation: true })).outcome).to.equal('skipped');
  });

  it('rejects the deletion of an object that the review only names', async () => {
    await start(upstream('a'), virtualService('web', ['a']));
    const { oldObject: _, ...named } = admission('DELETE', upstream('a'));
    expect((await validate(named, STRICTEST)).allowed).to.equal(false);
    expect((await validate({ ...named, name: '' }, STRICTEST)).outcome, 'of all').to.equal('skipped');
  });

  it('admits a change that keeps or removes problems of an invalid configuration', async () => {
    const before = virtualService('web', ['a', 'gone', 'lost']);
    await start(upstream('a'), before);
    const fixed = virtualService('web', ['a', 'lost']);
    const { allowed, warnings } = await validate(admission('UPDATE', fixed, before), STRICTEST);
    expect(allowed).to.equal(true);
    expect(warnings!.join()).to.contain('gw-system.lost');
    expect((await validate(admission('CREATE', virtualService('new', ['a'])), STRICTEST)).allowed).to.equal(true);
    const worse = virtualService('web', ['a', 'gone', 'lost', 'missing']);
    expect((await validate(admission('UPDATE', worse, before), STRICTEST)).rejection!.causes).to.have.length(1);
  });

  it('does not validate without the settings for it', async () => {
    await start();
    const wrong = admission('CREATE', virtualService('web', [], 'two words'));
    for (const validation of [null, { ...STRICT, serverEnabled: false }])
      expect((await validate(wrong, validation as unknown as ValidationSettings)).outcome).to.equal('skipped');
    expect(previews).to.equal(0);
  });

  it('does not work for what changes nothing or is not read', async () => {
    const wrong = virtualService('web', [], 'two words');
    await start();
    const other = withMetadata(wrong, { namespace: 'other' });
    const skipped = withMetadata(wrong, { annotations: { 'gateway.vendor.io/skip_validation': 'true' } });
    const deleted = withMetadata(wrong, { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [] });
    const foreign = {
      ...admission('CREATE', wrong),
      kind: { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'Gateway' },
    };
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a', namespace: 'gw-system' },
      data: 1,
    } as const;
    for (const [what, request] of Object.entries({
      'another namespace': admission('CREATE', other),
      annotation: admission('CREATE', skipped),
      'removed finalizer': admission('UPDATE', deleted, wrong),
      'status subresource': { ...admission('UPDATE', wrong), subResource: 'status' },
      'status only': admission('UPDATE', { ...wrong, status: { a: 1 } }, withMetadata(wrong, { resourceVersion: '7' })),
      'another group': foreign,
      'another kind': { ...admission('CREATE', wrong), kind: { group: '', version: 'v1', kind: 'Pod' } },
      'a kind named like a method': {
        ...admission('CREATE', wrong),
        kind: { group: '', version: 'v1', kind: 'constructor' },
      },
      Settings: admission('CREATE', settings({ alwaysAccept: 'x' } as object)),
      Proxy: admission('CREATE', { ...wrong, apiVersion: 'gw.vendor.io/v1', kind: 'Proxy' }),
      ConfigMap: admission('CREATE', { ...wrong, apiVersion: 'v1', kind: 'ConfigMap' }),
      'Secret that is created': admission('CREATE', secret as unknown as TestObject),
      connect: { ...admission('CREATE', wrong), operation: 'CONNECT' as const },
    })) {
      expect(await validate(request, { ...STRICTEST, allowSkipValidation: true }), what).to.deep.equal({
        outcome: 'skipped',
        allowed: true,
      });
    }
    expect(previews).to.equal(0);
  });

  it('rejects the deletion of a Secret that a Gateway needs, without its values', async () => {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'keys', namespace: 'gw-system' },
      type: 'extauth.vendor.io/apikey',
      data: { 'api-key': 'c2VjcmV0LXZhbHVl' },
    } as const;
    const auth: TestObject = {
      apiVersion: 'enterprise.gw.vendor.io/v1',
      kind: 'AuthConfig',
      metadata: { name: 'keys', namespace: 'gw-system' },
      spec: {
        configs: [
          { apiKeyAuth: { headerName: 'x-key', apiKeySecretRefs: [{ name: 'keys', namespace: 'gw-system' }] } },
        ],
      },
    };
    await start(secret as unknown as TestObject, auth);
    const result = await validate(admission('DELETE', secret as unknown as TestObject), STRICTEST);
    expect(result.rejection?.message).to.contain('authconfigs.enterprise.gw.vendor.io gw-system/keys');
    expect(JSON.stringify(result)).to.not.contain('secret-value').and.not.contain('c2VjcmV0');
  });

  describe('of a namespace', () => {
    const namespace = (labels: object = {}, more: object = {}) =>
      ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels, ...more } }) as unknown as TestObject;
    const inShop = (one: TestObject): TestObject => withMetadata(one, { namespace: 'shop' });
    const request = (operation: 'UPDATE' | 'DELETE', to: TestObject, name = 'shop'): AdmissionRequest => ({
      ...admission(operation, to, namespace({ team: 'a' })),
      name,
      namespace: name,
    });
    const inShopRoute = { routeAction: { single: { upstream: { name: 'a', namespace: 'shop' } } } };
    const web = (domain: string, place: string): TestObject =>
      withMetadata(
        { ...virtualService('web', [], domain), spec: { virtualHost: { domains: [domain], routes: [inShopRoute] } } },
        { namespace: place },
      );
    const decide = (asked: AdmissionRequest): Promise<Admission> =>
      validateAdmission(asked, {
        settings: () => ({ ...STRICTEST, allowSkipValidation: true }),
        isWatched: () => true,
        preview: (change) => cluster.controlPlane.preview(change),
        namespaces: {
          unitsIn: (name) => (name === 'shop' ? UNITS : []),
          isSelected: (_name, { team }) => team === 'a',
        },
      });
    const UNITS = ['upstreams.gw.vendor.io shop/a', 'virtualservices.gateway.vendor.io shop/web'];

    it('rejects what breaks resources of other namespaces', async () => {
      await start(inShop(upstream('a')), web('own.example', 'shop'), web('other.example', 'gw-system'));
      for (const asked of [request('DELETE', namespace()), request('UPDATE', namespace({ team: 'b' }))]) {
        const { rejection } = await decide(asked);
        expect(rejection!.causes, asked.operation).to.have.length(1);
        expect(rejection!.message).to.contain('virtualservices.gateway.vendor.io gw-system/web');
      }
    });

    it('admits what breaks nothing else, and what removes nothing', async () => {
      await start(inShop(upstream('a')), web('own.example', 'shop'));
      expect(await decide(request('DELETE', namespace()))).to.include({ outcome: 'allowed', allowed: true });
      cluster.apply(web('other.example', 'gw-system'));
      for (const asked of [
        request('UPDATE', namespace({ team: 'a', more: 'x' })),
        request('UPDATE', namespace({ team: 'b' }, { deletionTimestamp: '2026-01-01T00:00:00Z' })),
        request('DELETE', namespace({}, { annotations: { 'gateway.vendor.io/skip_validation': 'true' } })),
        request('DELETE', namespace(), 'empty'),
        request('DELETE', namespace(), 'gw-system'),
        { ...request('UPDATE', namespace({ team: 'b' })), subResource: 'finalize' },
      ])
        expect((await decide(asked)).outcome, JSON.stringify(asked)).to.equal('skipped');
    });

    it('lets Kubernetes empty a namespace whose deletion was admitted', async () => {
      await start(inShop(upstream('a')), web('other.example', 'gw-system'));
      const removed = admission('DELETE', inShop(upstream('a')));
      expect((await decide(removed)).allowed).to.equal(false);
      const by = (username: string): Promise<Admission> => decide({ ...removed, userInfo: { username } });
      expect((await by('somebody')).allowed).to.equal(false);
      expect((await by('system:serviceaccount:kube-system:namespace-controller')).outcome).to.equal('skipped');
    });
  });

  it('reports that it cannot tell while there is no configuration', async () => {
    await start();
    const target = { settings: () => STRICT, isWatched: () => true, preview: async () => undefined };
    const decided = validateAdmission(admission('CREATE', upstream('a')), target);
    expect(await decided.catch(({ message }: Error) => message)).to.equal(
      'the control plane has not loaded a configuration yet',
    );
  });
});
