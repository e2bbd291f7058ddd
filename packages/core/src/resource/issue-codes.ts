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
