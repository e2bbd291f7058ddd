/** Codes of problems of reading a document, with descriptions. Never renamed or reused. */
export const PARSE_CODES = {
  ALIAS_BOMB: 'Aliases that contain themselves or expand too much.',
  BYTE_ORDER_MARK: 'A byte order mark inside the file.',
  CERTIFICATE:
    'A certificate that has expired, expires soon, is not valid yet, or does not cover the names that it is served for; a warning.',
  CONTROL_CHARACTER: 'A control character.',
  DUPLICATE_KEY: 'A key written twice in one object.',
  EMPTY_FILE: 'A file without content.',
  FILE_TOO_LARGE: 'A file above the limit; it is not read.',
  INVALID_UTF8: 'Bytes that are not UTF-8.',
  JSON_SYNTAX: 'Invalid JSON.',
  KEY_NOT_TEXT: 'A key that is a list or an object.',
  LEARNED: 'A problem of a resource that was observed at run time, e.g. at the server that it names.',
  MERGE_KEY: 'A YAML merge key, which is not supported.',
  MISPLACED_RESOURCE: 'A resource in a directory that is not read for its kind; a warning.',
  NESTING_TOO_DEEP: 'Too many levels of nesting.',
  NOT_AN_OBJECT: 'A document that is not an object.',
  NO_DOCUMENT: 'A file with comments only.',
  NUL_BYTE: 'A NUL byte.',
  TAB_INDENTATION: 'A tab where YAML indents with spaces.',
  UNKNOWN_ALIAS: 'An alias without an anchor.',
  UNREADABLE: 'A file that cannot be opened or read.',
  YAML_SYNTAX: 'Invalid YAML.',
} as const satisfies Record<string, string>;

/** Codes of problems of one resource by its schema, with descriptions. Never renamed or reused. */
export const SCHEMA_CODES = {
  BAD_BASE64: 'Secret data that is not valid base64.',
  BAD_DURATION: 'An invalid duration.',
  BAD_ENUM: 'A value that is not allowed.',
  BAD_KEY: 'A key that is not allowed in any object.',
  BAD_NAME: 'A name or namespace that is not a DNS name.',
  BAD_REGEX: 'An invalid RE2 expression.',
  BAD_SUBSTITUTION: 'A substitution that refers to a group that the expression does not have.',
  CONFLICTING_FIELDS: 'One setting written in two places with different values.',
  DUPLICATE_RESOURCE: 'Kind, namespace and name of another document.',
  KUBERNETES_ONLY: 'A field that has an effect only if the resources come from Kubernetes; a warning.',
  MISPLACED_KEY: 'A known key in the wrong place.',
  MISSING_FIELD: 'A missing required field.',
  MISSING_REFERENCE: 'A reference to a missing resource.',
  NOT_SUPPORTED: 'A field that has no effect and is not planned; a warning.',
  NOT_SUPPORTED_YET: 'A field that has no effect yet; a warning.',
  ONEOF_CONFLICT: 'Two fields that cannot be set together.',
  ONEOF_MISSING: 'None of several fields of which one is required.',
  OUT_OF_RANGE: 'A number below or above its bounds.',
  SECURITY_FIELD_NOT_SUPPORTED: 'A security field that is not supported yet; the resource is rejected.',
  STATUS: 'A problem between resources, with the text of the status.',
  UNKNOWN_API_VERSION: 'An apiVersion that the kind does not have.',
  UNKNOWN_KEY: 'A key that the schema does not know.',
  UNKNOWN_KIND: 'An unknown kind.',
  WRONG_TYPE: 'A value of the wrong type.',
} as const satisfies Record<string, string>;

/** A code of {@link SCHEMA_CODES}. */
export type SchemaCode = keyof typeof SCHEMA_CODES;

/** Codes of semantic problems of one resource, with descriptions. Never renamed or reused. */
export const SEMANTIC_CODES = {
  EMPTY_DOMAIN: 'An empty domain.',
  INVALID_ACCESS_LOG: 'An incomplete access log filter; a format with an unknown operator is a warning.',
  INVALID_AUTH_CONFIG: 'An auth config whose steps or expression cannot work.',
  INVALID_ACTION: 'A route action without a destination, or with weights whose sum is 0.',
  INVALID_CORS: 'A `cors` block without any origin; an origin that no request can have is a warning.',
  INVALID_DELEGATION: 'A delegating route with several matchers or without a prefix.',
  INVALID_DLP: 'Masking without an expression or key, or with an invalid mask.',
  INVALID_DOMAIN: 'A domain that no host can match.',
  INVALID_EXT_AUTH: 'External auth settings that cannot work.',
  INVALID_EXT_PROC: 'External processing without a server, or with an invalid timeout.',
  INVALID_FAULT: 'A fault injection that the data plane rejects.',
  INVALID_FRACTION: 'A share above 100 %.',
  INVALID_GATEWAY: 'A gateway without a type or port, or with conflicting settings.',
  INVALID_GRAPHQL_API: 'A GraphQLApi with missing or inconsistent parts.',
  INVALID_HASH_POLICY: 'A hash policy or stateful session without anything to hash or store, or with an invalid name.',
  INVALID_HEADER: 'A header that must not be added or removed, or has an invalid name or value.',
  INVALID_HEALTH_CHECK: 'An incomplete health check.',
  INVALID_HOST: 'A host without an address or port.',
  INVALID_JWT:
    'A JWT provider without usable keys, or with claims without a header; one without issuer and audiences is a warning.',
  INVALID_TARGET: 'A target of options without a name, of another kind than Gateway, or in another namespace.',
  INVALID_MATCHER: 'A matcher without a path.',
  INVALID_OUTLIER_DETECTION: 'Outlier detection without an interval.',
  INVALID_PATH: 'A path with characters or segments that are not allowed.',
  INVALID_PROXY: 'A Proxy whose compressed listeners cannot be read.',
  INVALID_RATE_LIMIT: 'A rate limit with an invalid unit, interval, name or size, or without actions.',
  INVALID_RBAC: 'A policy with invalid expressions; methods that no request can have are a warning.',
  NO_EFFECT: 'Options that have no effect as they are written; a warning.',
  INVALID_RETRIES: 'Retry settings that contradict each other.',
  INVALID_REWRITE: 'Rewrites that cannot be combined, or without a host.',
  INVALID_SECRET: 'A secret without the entries that its type requires; a warning.',
  INVALID_SETTINGS: 'Settings that cannot be applied.',
  INVALID_SHADOWING: 'Shadowing without an upstream.',
  INVALID_TRANSFORMATION: 'An incomplete extractor or value of a transformation.',
  INVALID_UPGRADE: 'An upgrade that is listed twice, or not allowed in this place.',
  INVALID_SSL_CONFIG:
    'Unknown cipher suites or curves, or an empty range of TLS versions; settings without effect are warnings.',
  INVALID_UPSTREAM: 'Upstream settings that cannot work.',
  UNMATCHABLE_METHOD: 'A method in lower case, which matches no request; a warning.',
  UNMATCHABLE_PATH: 'A path matcher without a leading slash, which matches no request; a warning.',
} as const;
export type SemanticCode = keyof typeof SEMANTIC_CODES;

/** Returns true for codes of {@link SEMANTIC_CODES}. */
export function isSemantic(code: string): code is SemanticCode {
  return Object.hasOwn(SEMANTIC_CODES, code);
}

/** The code of a problem. */
export type ProblemCode = keyof typeof PARSE_CODES | SchemaCode | SemanticCode;
