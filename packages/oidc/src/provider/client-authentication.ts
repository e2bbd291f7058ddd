import { createPrivateKey, type KeyObject } from 'node:crypto';
import * as client from 'openid-client';
import { parseDuration, secretText, type Secrets, type SecretValue } from '@edge-gateway/core';
import type { OidcAuthorizationCode } from '@edge-gateway/core/schema';
import { failure } from '../error-codes.ts';
import { clientSecretOf, findSecret, nameOf, type Ref } from './secret.ts';

/** Authenticates a client at the token endpoint, with a method that the provider supports. */
export type ClientAuthentication = (metadata: client.ServerMetadata) => client.ClientAuth | Promise<client.ClientAuth>;

type Block = Pick<OidcAuthorizationCode, 'clientAuthentication' | 'clientSecretRef' | 'disableClientSecret'>;

const DEFAULT_VALID_FOR = '5s';
const KEY_NAMES = ['private-key', 'signing-key', 'key', 'tls.key'] as const;

/** Client authentication, and its secret, from which keys that replicas share are derived. */
export interface ClientCredentials {
  readonly authentication: ClientAuthentication;
  readonly secret: string | undefined;
}

/** Reads the client's secret or key. Throws `ERR_OIDC_CONFIG` if there is none, `ERR_OIDC_SECRET` for an invalid one. */
export function identify(block: Block, secrets: Secrets): ClientCredentials {
  const { clientAuthentication } = block;
  if (clientAuthentication?.privateKeyJwt) return byKey(clientAuthentication.privateKeyJwt, secrets);
  const { clientSecretRef, disableClientSecret } = clientAuthentication?.clientSecret ?? block;
  if (clientSecretRef) return bySecret(clientSecretOf(clientSecretRef, secrets));
  if (disableClientSecret) return { authentication: () => client.None(), secret: undefined };
  throw failure('ERR_OIDC_CONFIG', 'a client requires a secret, a key, or `disableClientSecret`');
}

/** Returns credentials with a secret: sent in the `Authorization` header, or in the body if the provider supports only that. */
export function bySecret(secret: string): ClientCredentials {
  return {
    secret,
    authentication({ token_endpoint_auth_methods_supported: methods }) {
      const onlyBody = methods?.includes('client_secret_post') && !methods.includes('client_secret_basic');
      return onlyBody ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret);
    },
  };
}

type KeyBlock = NonNullable<NonNullable<Block['clientAuthentication']>['privateKeyJwt']>;

function byKey({ signingKeyRef = {}, validFor }: KeyBlock, secrets: Secrets): ClientCredentials {
  const seconds = Math.max(1, Math.round(parseDuration(validFor ?? DEFAULT_VALID_FOR) / 1000));
  const secret = findSecret(secrets, signingKeyRef);
  const { pem, key } = privateKeyOf(secret, signingKeyRef);
  const kid = secretText(secret, 'kid');
  const options: client.ModifyAssertionOptions = {
    [client.modifyAssertion]: (_header, payload) => {
      payload.exp = Number(payload.iat) + seconds;
    },
  };
  const authentication = client.PrivateKeyJwt({ key: key.toCryptoKey(...algorithmOf(key)), kid }, options);
  return { secret: pem, authentication: () => authentication };
}

function privateKeyOf(secret: SecretValue | undefined, ref: Ref): { pem: string; key: KeyObject } {
  const name = KEY_NAMES.find((each) => secret?.data[each] !== undefined);
  const pem = name && secretText(secret, name);
  if (!pem) throw failure('ERR_OIDC_SECRET', `secret ${nameOf(ref)} has no private key`);
  try {
    return { pem, key: createPrivateKey(pem) };
  } catch (error) {
    throw failure('ERR_OIDC_SECRET', `the private key of secret ${nameOf(ref)} is invalid`, error);
  }
}

type CryptoKeyArguments = Parameters<KeyObject['toCryptoKey']>;

function algorithmOf(key: KeyObject): CryptoKeyArguments {
  const curves: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };
  const namedCurve = curves[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (key.asymmetricKeyType === 'rsa') return [{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, false, ['sign']];
  if (key.asymmetricKeyType === 'ed25519') return [{ name: 'Ed25519' }, false, ['sign']];
  if (key.asymmetricKeyType === 'ec' && namedCurve) return [{ name: 'ECDSA', namedCurve }, false, ['sign']];
  throw failure('ERR_OIDC_SECRET', 'the private key must be RSA, Ed25519, or EC on P-256, P-384 or P-521');
}
