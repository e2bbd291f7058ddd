/** Codes of what can be wrong with reading a document, with what each is about. Never renamed or reused. */
export const PARSE_CODES = {
  ALIAS_BOMB: 'Aliases that contain themselves or multiply too much.',
  BYTE_ORDER_MARK: 'A byte order mark inside the file.',
  CONTROL_CHARACTER: 'A control character.',
  DUPLICATE_KEY: 'A key written twice in one object.',
  EMPTY_FILE: 'A file without content.',
  FILE_TOO_LARGE: 'A file above the limit; it is not read.',
  INVALID_UTF8: 'Bytes that are not UTF-8.',
  JSON_SYNTAX: 'Text that is not JSON.',
  KEY_NOT_TEXT: 'A key that is a list or an object.',
  LEARNED: 'What was found out about a resource while it is served, by asking the server it names.',
  MERGE_KEY: 'A YAML merge key, which is not read.',
  NESTING_TOO_DEEP: 'Too many levels of nesting.',
  NOT_AN_OBJECT: 'A document that is not an object.',
  NO_DOCUMENT: 'A file with comments only.',
  NUL_BYTE: 'A NUL byte.',
  TAB_INDENTATION: 'A tab where YAML indents with spaces.',
  UNKNOWN_ALIAS: 'An alias without an anchor.',
  UNREADABLE: 'A file that cannot be opened or read.',
  YAML_SYNTAX: 'Text that is not YAML.',
} as const satisfies Record<string, string>;

/** Codes of what can be wrong with one resource by its schema, with what each is about. Never renamed or reused. */
export const SCHEMA_CODES = {
  BAD_BASE64: 'Secret data that is not base64.',
  BAD_DURATION: 'Text that is not a duration.',
  BAD_ENUM: 'A value that is none of those allowed.',
  BAD_KEY: 'A key that no object may have.',
  BAD_NAME: 'A name or namespace that is not a DNS name.',
  BAD_REGEX: 'Text that is not a valid RE2 expression.',
  BAD_SUBSTITUTION: 'A substitution that names a group which the expression does not have.',
  CONFLICTING_FIELDS: 'One setting written in two places with different values.',
  DUPLICATE_RESOURCE: 'Kind, namespace and name that another document has too.',
  MISPLACED_KEY: 'A known key in the wrong place.',
  MISSING_FIELD: 'A field that has to be there.',
  MISSING_REFERENCE: 'A reference to a resource that does not exist.',
  NOT_SUPPORTED_YET: 'A field that has no effect yet; a warning.',
  ONEOF_CONFLICT: 'Two fields of which only one may be set.',
  ONEOF_MISSING: 'None of the fields of which one has to be set.',
  OUT_OF_RANGE: 'A number below or above its bounds.',
  SECURITY_FIELD_NOT_SUPPORTED: 'A security field that is not supported yet, so the resource is rejected.',
  STATUS: 'What only shows where resources meet, in the words of the status.',
  UNKNOWN_API_VERSION: 'An apiVersion that the kind does not have.',
  UNKNOWN_KEY: 'A key that the schema does not know.',
  UNKNOWN_KIND: 'A kind that is not known.',
  WRONG_TYPE: 'A value of another type than the field has.',
} as const satisfies Record<string, string>;

/** A code of {@link SCHEMA_CODES}. */
export type SchemaCode = keyof typeof SCHEMA_CODES;

/** Codes of what fits the schema and still cannot work, with what each is about. Never renamed or reused. */
export const SEMANTIC_CODES = {
  EMPTY_DOMAIN: 'An empty domain among others.',
  INVALID_ACCESS_LOG: 'An access log filter that lacks what it needs; a format with an unknown operator is a warning.',
  INVALID_AUTH_CONFIG: 'An auth config whose steps or expression cannot work.',
  INVALID_ACTION: 'A route action that cannot work: no destination, or weights that add up to nothing.',
  INVALID_CORS: 'A `cors` block without any origin.',
  INVALID_DELEGATION: 'A delegating route with several matchers or without a prefix.',
  INVALID_DOMAIN: 'A domain that no host can match.',
  INVALID_EXT_AUTH: 'Settings of external auth that cannot work.',
  INVALID_FAULT: 'A fault that the data plane refuses.',
  INVALID_GATEWAY: 'A gateway that says not what it serves.',
  INVALID_GRAPHQL_API: 'A GraphQLApi whose parts do not fit each other.',
  INVALID_HEADER: 'A header that must not be added or removed, is no header name, or has a value that cannot be sent.',
  INVALID_HEALTH_CHECK: 'A health check that lacks what it needs.',
  INVALID_HOST: 'A host without address or port.',
  INVALID_JWT: 'A provider of tokens without usable keys, or with claims that lead to no header.',
  INVALID_MATCHER: 'A matcher without a path.',
  INVALID_OUTLIER_DETECTION: 'Outlier detection without an interval.',
  INVALID_PATH: 'A path with characters or segments that are not allowed.',
  INVALID_RBAC: 'A policy whose expressions do not compile, or with methods that no request has, which is a warning.',
  INVALID_RETRIES: 'Retry settings that contradict each other.',
  INVALID_REWRITE: 'Rewrites that exclude each other or give no host.',
  INVALID_SECRET: 'A secret without the entries that its type asks for; a warning.',
  INVALID_SHADOWING: 'Shadowing without an upstream.',
  INVALID_TRANSFORMATION: 'An extractor or a value of a transformation that lacks what it needs.',
  INVALID_UPGRADE: 'An upgrade that is named twice.',
  INVALID_UPSTREAM: 'Upstream settings that cannot work.',
  UNMATCHABLE_PATH: 'A path to match that begins with no slash, as that of every request does; a warning.',
} as const;
export type SemanticCode = keyof typeof SEMANTIC_CODES;

/** True for the codes of {@link SEMANTIC_CODES}. */
export function isSemantic(code: string): code is SemanticCode {
  return Object.hasOwn(SEMANTIC_CODES, code);
}

/** The code of a problem. */
export type ProblemCode = keyof typeof PARSE_CODES | SchemaCode | SemanticCode;
