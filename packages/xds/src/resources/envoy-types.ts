const PREFIX = 'type.googleapis.com/envoy.';

/** Type URLs of the resources of Envoys. */
export const ENVOY_TYPE = {
  secret: `${PREFIX}extensions.transport_sockets.tls.v3.Secret`,
  cluster: `${PREFIX}config.cluster.v3.Cluster`,
  endpoints: `${PREFIX}config.endpoint.v3.ClusterLoadAssignment`,
  listener: `${PREFIX}config.listener.v3.Listener`,
  routes: `${PREFIX}config.route.v3.RouteConfiguration`,
} as const;

/** In the order in which they are sent: a cluster exists before the routes that use it, and its certificate before the cluster. */
export const ENVOY_TYPES = [
  ENVOY_TYPE.secret,
  ENVOY_TYPE.cluster,
  ENVOY_TYPE.endpoints,
  ENVOY_TYPE.listener,
  ENVOY_TYPE.routes,
] as const;
