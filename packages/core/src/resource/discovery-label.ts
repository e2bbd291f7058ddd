/** The label on an Upstream, its Service or the namespace of the Service by which functions are discovered: `enabled` or `disabled`. */
export const DISCOVERY_LABEL = 'discovery.vendor.io/function_discovery';
/** Annotation of Upstreams whose functions discovery has written to the resource. */
export const FUNCTIONS_ANNOTATION = 'discovery.vendor.io/functions';
