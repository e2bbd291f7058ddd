import { createControlPlane, silentLoggers, type ControlPlane, type Kind, type Source } from '@edge-gateway/core';
import type { ValidationSettings } from '@edge-gateway/core/schema';
import { typeOfKind } from '../../src/source/cluster-kinds.ts';
import { writtenObject } from '../../src/source/written-object.ts';
import type { AdmissionRequest, Operation } from '../../src/webhook/admission-review.ts';
import type { ClusterObject } from '../../src/watch/cluster-object.ts';

/** An object with its kind and API version. */
export type TestObject = ClusterObject & { readonly kind: Kind };

function object(kind: Kind, name: string, content: object, namespace = 'gw-system'): TestObject {
  const { group, version } = typeOfKind(kind);
  const apiVersion = group ? `${group}/${version}` : version;
  return { apiVersion, kind, metadata: { name, namespace }, ...content };
}

export const upstream = (name: string, spec: object = { static: { hosts: [{ addr: '127.0.0.1', port: 80 }] } }) =>
  object('Upstream', name, { spec });

/** A virtual service with a route for each of the upstreams. */
export function virtualService(name: string, upstreams: readonly string[], domain = `${name}.example.com`): TestObject {
  const routes = upstreams.map((one) => ({
    matchers: [{ prefix: `/${one}` }],
    routeAction: { single: { upstream: { name: one, namespace: 'gw-system' } } },
  }));
  return object('VirtualService', name, { spec: { virtualHost: { domains: [domain], routes } } });
}

export const settings = (validation: ValidationSettings) =>
  object('Settings', 'default', { spec: { gateway: { validation } } });

/** Returns the object with other metadata. */
export const withMetadata = (one: TestObject, metadata: object): TestObject => ({
  ...one,
  metadata: { ...one.metadata, ...metadata },
});

/** A control plane on objects that a test changes as the API server would. */
export interface TestCluster {
  readonly controlPlane: ControlPlane;
  apply(...objects: readonly TestObject[]): void;
  remove(one: TestObject): void;
}

export async function startTestCluster(...objects: readonly TestObject[]): Promise<TestCluster> {
  let deliver: Parameters<Source['start']>[0] | undefined;
  const written = (all: readonly TestObject[]) =>
    new Map(all.map((one) => writtenObject(one.kind, one)).map((each) => [each.unit, each.written]));
  const controlPlane = createControlPlane({
    log: silentLoggers,
    source: {
      name: 'test',
      platform: 'kubernetes',
      async start(onChange) {
        deliver = onChange;
        onChange(written(objects));
      },
      async close() {},
    },
  });
  await controlPlane.start();
  return {
    controlPlane,
    apply: (...more) => deliver!(written(more)),
    remove: (one) => deliver!(new Map([[writtenObject(one.kind, one).unit, []]])),
  };
}

/** Returns the request for a change of an object, as the API server sends it. */
export function admission(operation: Operation, object: TestObject, oldObject?: TestObject): AdmissionRequest {
  const [group, version] = object.apiVersion!.includes('/') ? object.apiVersion!.split('/') : ['', object.apiVersion];
  const { name, namespace } = object.metadata;
  return {
    uid: 'a5e8',
    kind: { group: group!, version: version!, kind: object.kind },
    name,
    namespace: namespace!,
    operation,
    ...(operation === 'DELETE' ? { oldObject: object } : { object, oldObject: oldObject! }),
  };
}
