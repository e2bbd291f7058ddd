import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocuments, validateWritten } from '@edge-gateway/core';
import { envoyBootstrap } from '@edge-gateway/core/envoy';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { goldenManifests, goldenNames, goldenPath, type Manifest } from './helm-goldens.ts';
import { CHART } from './parts/helm.ts';
import { settingsOf } from './parts/role-settings.ts';
import { ROOT } from './docs/workspace.ts';

const read = (file: string): any => parse(readFileSync(join(CHART, file), 'utf8'), { merge: true });

/** The workloads among rendered objects. */
const workloads = (objects: readonly Manifest[]): Manifest[] =>
  objects.filter(({ kind }) => kind === 'Deployment' || kind === 'DaemonSet');

/** Calls `visit` for every object of a set of values with its schema. */
function walkSchema(
  schema: any,
  values: any,
  root: any,
  visit: (schema: any, values: any, path: string) => void,
  path = '',
): void {
  const node = schema?.$ref
    ? root.definitions[schema.$ref.slice('#/definitions/'.length)]
    : (schema?.anyOf?.[0] ?? schema);
  const own = node?.$ref ? root.definitions[node.$ref.slice('#/definitions/'.length)] : node;
  visit(own, values, path);
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return;
  for (const [key, value] of Object.entries(values)) {
    const inner = own?.properties?.[key] ?? own?.additionalProperties;
    if (typeof inner === 'object') walkSchema(inner, value, root, visit, `${path}.${key}`);
  }
}

describe('the Helm chart', () => {
  const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'));
  const values = read('values.yaml');

  it('has the version of the packages', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(read('Chart.yaml')).to.include({ version, appVersion: version });
  });

  it('starts Envoys with the configuration that gatewayctl prints, and a port for readiness', () => {
    const config = goldenManifests('envoy').find(({ metadata }) => metadata.name === 'edge-envoy')!;
    const { node, static_resources: fixed, ...started } = parse(config['data']['envoy.yaml'] as string);
    const folder = '/etc/edge-gateway/xds-tls';
    const { node: named, ...expected } = envoyBootstrap({
      xds: [{ host: 'gw.gw-system.svc', port: 9977 }],
      proxy: 'gateway-proxy',
      adminPort: 19_000,
      tls: { ca: `${folder}/ca.crt`, cert: `${folder}/tls.crt`, key: `${folder}/tls.key` },
    });
    const { listeners, ...others } = fixed;
    expect({ ...started, static_resources: others }).to.deep.equal(expected);
    // The name of the pod is that of the node.
    expect({ id: 'gateway-proxy', ...node }).to.deep.equal(named);
    expect(listeners.map(({ name }: { name: string }) => name)).to.deep.equal(['readiness']);
  });

  it('describes every value in the schema, and gives every value of the schema a default', () => {
    const unknown: string[] = [];
    const withoutDefault: string[] = [];
    walkSchema(schema, values, schema, (node, value, path) => {
      if (node?.type !== 'object' || node.properties === undefined) return;
      const keys = Object.keys(value as object);
      const known = Object.keys(node.properties);
      if (node.additionalProperties === false)
        unknown.push(...keys.filter((key) => !known.includes(key)).map((key) => `${path}.${key}`));
      // An empty object has no defaults: `image: {}` overrides nothing.
      if (keys.length > 0)
        withoutDefault.push(...known.filter((key) => !keys.includes(key)).map((key) => `${path}.${key}`));
    });
    expect(unknown).to.deep.equal([]);
    // A repository and a tag are enough: the other fields are those of global.image.
    expect(withoutDefault).to.deep.equal(['registry', 'pullPolicy', 'pullSecrets'].map((key) => `.redis.image.${key}`));
  });

  for (const name of goldenNames) {
    const objects = goldenManifests(name);

    it(`${name}: every command line is one of edge-gateway`, async () => {
      const containers = workloads(objects).flatMap(({ spec }) => spec.template.spec.containers as any[]);
      const own = containers.filter(({ image }) => /(^|\/)edge-gateway:/.test(image));
      expect(own).to.have.length.of.at.least(2);
      for (const { args, volumeMounts, ports } of own) {
        const settings = await settingsOf(args);
        const mounts = (volumeMounts as { mountPath: string }[]).map(({ mountPath }) => mountPath);
        // Those of `--envoy-services-` are files of the Envoys.
        const files = (args as string[]).flatMap((flag) => /^--(?!envoy-services-).*=(\/\S+)$/.exec(flag)?.[1] ?? []);
        for (const file of files)
          expect(
            mounts.some((mount) => file.startsWith(`${mount}/`)),
            file,
          ).to.equal(true);
        const admin = (ports as { name: string; containerPort: number }[]).find((port) => port.name === 'http-admin');
        expect(admin?.containerPort).to.equal(settings['adminPort'] ?? settings['statsPort']);
        const metrics = (ports as { name: string; containerPort: number }[]).find(
          (port) => port.name === 'http-metrics',
        );
        expect(metrics?.containerPort).to.equal(settings['metricsPort']);
      }
    });

    it(`${name}: no container has a writable root, capabilities or a root user`, () => {
      for (const { metadata, spec } of workloads(objects)) {
        const pod = spec.template.spec;
        expect(pod.securityContext, metadata.name).to.deep.include({
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
        });
        for (const { securityContext } of pod.containers) {
          expect(securityContext, metadata.name).to.deep.equal({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
        }
      }
    });

    it(`${name}: every object has the labels of its component, and workloads have probes and an account`, () => {
      const accounts = objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata.name);
      for (const { metadata } of objects) expect(metadata.labels, metadata.name).to.include.keys('app', 'gw');
      for (const { metadata, spec } of workloads(objects)) {
        const { labels } = spec.template.metadata;
        expect(labels).to.include({ app: 'gw', gw: metadata.name });
        expect(spec.selector.matchLabels).to.deep.equal({ app: 'gw', gw: metadata.name });
        expect(accounts).to.include(spec.template.spec.serviceAccountName);
        for (const container of spec.template.spec.containers) {
          expect(container, metadata.name).to.include.keys('readinessProbe', 'livenessProbe', 'resources');
        }
      }
    });

    it(`${name}: pods stop later than their processes need to drain`, async () => {
      for (const { spec } of workloads(objects)) {
        const { terminationGracePeriodSeconds: grace, containers } = spec.template.spec;
        for (const { args, lifecycle, image } of containers) {
          if (!/(^|\/)edge-gateway:/.test(image)) continue;
          const { drainSeconds } = await settingsOf(args);
          const wait = Number(/, (\d+)\);/.exec(lifecycle?.preStop.exec.command.at(-1) ?? '')?.[1] ?? 0) / 1000;
          expect(grace).to.be.above(Number(drainSeconds) + wait);
        }
      }
    });

    it(`${name}: the resources of the gateway are valid`, async () => {
      const own = objects.filter(({ apiVersion }) => apiVersion.endsWith('vendor.io/v1'));
      const written = own.flatMap((object) => parseDocuments(stringify(object), object.metadata.name));
      const problems = written.flatMap((each) => validateWritten(each).issues);
      expect(problems.filter(({ severity }) => severity === 'error')).to.deep.equal([]);
    });

    it(`${name}: no secret is in the manifest except generated ones`, () => {
      const secrets = objects
        .filter(({ kind }) => kind === 'Secret')
        .flatMap(({ data }) => Object.values((data ?? {}) as object));
      for (const value of secrets) expect(value).to.equal('Z2VuZXJhdGVk');
      expect(readFileSync(goldenPath(name, 'out'), 'utf8')).to.not.contain('PRIVATE KEY');
    });
  }

  it('lets the control plane write only statuses, discovered resources and the certificates of its webhook', () => {
    const roles = goldenManifests('default').filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
    const writes = roles.flatMap(({ metadata, kind, rules }) =>
      (rules as { resources: string[]; resourceNames?: string[]; verbs: string[] }[])
        .filter(({ verbs }) => verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)))
        .flatMap(({ resources, resourceNames = [] }) =>
          resources.map((resource) => [`${kind} ${metadata.name}: ${resource}`, ...resourceNames].join(' ')),
        ),
    );
    const beyond = writes.filter((each) => !each.endsWith('/status'));
    expect(beyond).to.deep.equal([
      'ClusterRole edge-gateway-gw-system-validation: validatingwebhookconfigurations gw-gateway-validation-webhook-gw-system',
      'Role gw-leader: leases',
      'Role gw-proxies: proxies',
      'Role gw-validation: secrets gateway-validation-certs',
      'Role gw-discovery: upstreams',
      'Role gw-discovery: graphqlapis',
    ]);
    for (const { rules } of roles) expect(JSON.stringify(rules)).to.not.contain('"*"');
  });
});
