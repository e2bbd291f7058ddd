/**
 * Failures of tokens and key sets: `text` is the body of the response, `code` its ordinal for
 * `attachFailedStatusToMetadata`. Both are those of Envoy.
 */
export const JWT_STATUS = {
  missing: { code: 1, text: 'Jwt is missing' },
  notYetValid: { code: 2, text: 'Jwt not yet valid' },
  expired: { code: 3, text: 'Jwt is expired' },
  badForm: { code: 4, text: 'Jwt is not in the form of Header.Payload.Signature with two dots and 3 sections' },
  headerBase64: { code: 5, text: 'Jwt header is an invalid Base64url encoded' },
  headerJson: { code: 6, text: 'Jwt header is an invalid JSON' },
  headerAlg: { code: 7, text: 'Jwt header [alg] field is required and must be a string' },
  algNotSupported: { code: 8, text: 'Jwt header [alg] is not supported' },
  headerKid: { code: 9, text: 'Jwt header [kid] field is not a string' },
  payloadBase64: { code: 10, text: 'Jwt payload is an invalid Base64url encoded' },
  payloadJson: { code: 11, text: 'Jwt payload is an invalid JSON' },
  issNotString: { code: 12, text: 'Jwt payload [iss] field is not a string' },
  subNotString: { code: 13, text: 'Jwt payload [sub] field is not a string' },
  iatNotInteger: { code: 14, text: 'Jwt payload [iat] field is not an integer' },
  iatNotPositive: { code: 15, text: 'Jwt payload [iat] field is not a positive 64 bit integer' },
  nbfNotInteger: { code: 16, text: 'Jwt payload [nbf] field is not an integer' },
  nbfNotPositive: { code: 17, text: 'Jwt payload [nbf] field is not a positive 64 bit integer' },
  expNotInteger: { code: 18, text: 'Jwt payload [exp] field is not an integer' },
  expNotPositive: { code: 19, text: 'Jwt payload [exp] field is not a positive 64 bit integer' },
  jtiNotString: { code: 20, text: 'Jwt payload [jti] field is not a string' },
  audNotStrings: { code: 21, text: 'Jwt payload [aud] field is not a string or string list' },
  signatureBase64: { code: 22, text: 'Jwt signature is an invalid Base64url encoded' },
  ed25519Length: { code: 23, text: 'Jwt ED25519 signature is wrong length' },
  unknownIssuer: { code: 24, text: 'Jwt issuer is not configured' },
  audienceNotAllowed: { code: 25, text: 'Audiences in Jwt are not allowed' },
  verificationFails: { code: 26, text: 'Jwt verification fails' },
  keysInvalidJson: { code: 28, text: 'Jwks is an invalid JSON' },
  keysMissing: { code: 29, text: 'Jwks does not have [keys] field' },
  keysNotList: { code: 30, text: '[keys] in Jwks is not an array' },
  keysNone: { code: 31, text: "Jwks doesn't have any valid public key" },
  noKey: { code: 32, text: "Jwks doesn't have key to match kid or alg from Jwt" },
  keyRsa: { code: 33, text: 'Jwks RSA [n] or [e] field is missing or has a parse error' },
  keyEcBase64: { code: 35, text: 'Jwks EC [x] or [y] field is an invalid Base64.' },
  keyEcPoint: { code: 36, text: 'Jwks EC [x] and [y] fields have a parse error.' },
  keyOctBase64: { code: 37, text: 'Jwks Oct key is an invalid Base64' },
  keyOkpBase64: { code: 38, text: 'Jwks OKP [x] field is an invalid Base64.' },
  keyOkpLength: { code: 39, text: 'Jwks OKP [x] field is wrong length.' },
  keysUnreachable: { code: 40, text: 'Jwks remote fetch is failed' },
  keyTypeMissing: { code: 41, text: '[kty] is missing in [keys]' },
  keyTypeBad: { code: 42, text: '[kty] is bad in [keys]' },
  keyTypeUnsupported: { code: 43, text: '[kty] is not supported in [keys]' },
  keyRsaAlg: { code: 44, text: '[alg] is not started with [RS] or [PS] for an RSA key' },
  keyEcAlg: { code: 49, text: '[alg] is not started with [ES] for an EC key' },
  keyEcCurve: { code: 51, text: '[crv] or [alg] field is not supported for an EC key' },
  keyPem: { code: 66, text: 'PEM pubkey parse fails' },
} as const satisfies Record<string, { code: number; text: string }>;

/** Name of a failure. */
export type JwtFailure = keyof typeof JWT_STATUS;

/** Returns true for a failure of the key set, which says nothing about the token. */
export function isKeySetFailure(failure: JwtFailure): boolean {
  return failure.startsWith('key');
}
