import {
  keyOf,
  parsePath,
  settingsKey,
  writtenHostField,
  type ControlPlane,
  type ControlPlaneState,
  type FieldPath,
  type LocatedRejection,
  type ProxyRejection,
  type ResourceKey,
  type WrittenField,
} from '@edge-gateway/core';
import { routeConfigName } from '@edge-gateway/core/envoy';
import { typeName } from '@edge-gateway/xds/resources';

/** The resource that a rejected part of a state was translated from, and the field that was rejected. */
export interface RejectedField {
  readonly resource: ResourceKey;
  /** In the same resource, or in another one that it refers to. */
  readonly field: WrittenField;
}

type Rejection = Pick<ProxyRejection, 'type' | 'resource' | 'field'>;

/** Finds what a rejection of a proxy is about; `undefined` if the part no longer exists. */
export function rejectedField(
  proxy: string,
  { type, resource, field }: Rejection,
  { snapshots, resources }: Pick<ControlPlaneState, 'snapshots' | 'resources'>,
): RejectedField | undefined {
  const snapshot = snapshots.get(proxy);
  const path = parsePath(field);
  const listeners = (snapshot?.listeners ?? []).flatMap((listener) => [
    listener,
    ...(listener.parts ?? []).flatMap(({ http }) => http ?? []),
  ]);
  switch (typeName(type)) {
    case 'VirtualHost': {
      const [host] = listeners.flatMap(({ name, virtualHosts }) =>
        virtualHosts.filter((each) => `${name}/${each.name}` === resource),
      );
      if (!host) return undefined;
      const key = keyOf('VirtualService', host.virtualService);
      return { resource: key, field: writtenHostField(host, path, resources) };
    }
    case 'Listener': {
      const found = listeners.find(({ name }) => name === resource);
      return found && fieldOf(keyOf('Gateway', found.gateway), listenerPath(path));
    }
    // A proxy rejects its state because of a listener that it could not open.
    case 'Snapshot': {
      const found = listeners.find(({ name }) => name === resource);
      return found && fieldOf(keyOf('Gateway', found.gateway), ['spec', 'bindPort']);
    }
    case 'RouteConfiguration': {
      const found = listeners.find((listener) => routeConfigName(listener) === resource);
      return found && fieldOf(keyOf('Gateway', found.gateway), []);
    }
    case 'Upstream':
    case 'EndpointSet':
    case 'Cluster':
    case 'ClusterLoadAssignment': {
      const found = snapshot?.upstreams.find(({ name }) => name === resource);
      return found && fieldOf(keyOf('Upstream', found.ref), path);
    }
    case 'AuthConfig':
      return fieldOf(keyOf('AuthConfig', refOf(resource)), path);
    case 'RateLimitConfig':
      return fieldOf(keyOf('RateLimitConfig', refOf(resource)), path);
    case 'GraphQLApi':
      return fieldOf(keyOf('GraphQLApi', refOf(resource)), path);
    case 'Settings':
      return fieldOf(settingsKey(), ['spec', ...path]);
    default:
      return undefined;
  }
}

/** Returns a rejection with the place where its field is written. */
export function locateRejection(
  proxy: string,
  rejection: ProxyRejection,
  { state, locate }: Pick<ControlPlane, 'state' | 'locate'>,
): LocatedRejection {
  const found = state && rejectedField(proxy, rejection, state);
  const origin = found && locate(found.field.key, found.field.path);
  return origin ? { ...rejection, origin } : rejection;
}

function fieldOf(key: ResourceKey, path: FieldPath): RejectedField {
  return { resource: key, field: { key, path: path[0] === 'spec' ? path : ['spec'] } };
}

/** Returns where a field of a listener is in its Gateway. */
function listenerPath([field, ...rest]: FieldPath): FieldPath {
  if (field === 'options' || field === 'bindAddress' || field === 'bindPort') return ['spec', field, ...rest];
  if (field === 'httpOptions') return ['spec', 'httpGateway', 'options', ...rest];
  return field === 'routeOptions' ? ['spec', 'routeOptions', ...rest] : ['spec'];
}

/** Reads `<namespace>.<name>`, with the version of an earlier one. */
function refOf(resource: string): { namespace: string; name: string } {
  const [plain = ''] = resource.split('@');
  const dot = plain.indexOf('.');
  return { namespace: plain.slice(0, dot), name: plain.slice(dot + 1) };
}
