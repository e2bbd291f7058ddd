import { REDACTED_IN_LOG, isSecretName, type ResourceRef, type Secrets, type VirtualHost } from '@edge-gateway/core';
import { message, type Message } from './json.ts';

type HeaderManipulation = NonNullable<VirtualHost['options']['headerManipulation']>;

/** Header changes of one level. Values that come from secrets, and those of headers for credentials, are redacted. */
export function headerMutations(manipulation: HeaderManipulation | undefined, secrets: Secrets): Message {
  const { requestHeadersToAdd = [], responseHeadersToAdd = [], ...removed } = manipulation ?? {};
  return message({
    request_headers_to_add: requestHeadersToAdd.flatMap(({ header, headerSecretRef, append }) =>
      headerSecretRef ? fromSecret(headerSecretRef as ResourceRef, secrets, append) : [addition(header, append)],
    ),
    request_headers_to_remove: removed.requestHeadersToRemove,
    response_headers_to_add: responseHeadersToAdd.map(({ header, append }) => addition(header, append)),
    response_headers_to_remove: removed.responseHeadersToRemove,
  });
}

function addition({ key = '', value = '' }: { key?: string; value?: string } = {}, append = true): Message {
  return {
    header: { key, value: isSecretName(key) ? REDACTED_IN_LOG : value },
    append_action: append ? 'APPEND_IF_EXISTS_OR_ADD' : 'OVERWRITE_IF_EXISTS_OR_ADD',
  };
}

function fromSecret(ref: ResourceRef, secrets: Secrets, append: boolean | undefined): Message[] {
  const keys = Object.keys(secrets.get(ref)?.data ?? {}).sort();
  return keys.map((key) => addition({ key, value: REDACTED_IN_LOG }, append));
}
