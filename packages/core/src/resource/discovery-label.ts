/** The label on an Upstream, its Service or the namespace of the Service by which functions are discovered: `enabled` or `disabled`. */
export const DISCOVERY_LABEL = 'discovery.vendor.io/function_discovery';
