import type { ResourceRef } from '../resource/resource.ts';
import type { VirtualHost } from '../contract/snapshot.ts';
import { redactHeaderValue } from '../security/redact.ts';
import { REDACTED_IN_LOG } from '../security/request-secrets.ts';
import { message, type EnvoyMessage } from './message.ts';
import type { MessageContext } from './translation-context.ts';

type HeaderManipulation = NonNullable<VirtualHost['options']['headerManipulation']>;

/** Header changes of one level. Values that come from secrets are always redacted: Envoys never receive such routes. */
export function headerMutations(manipulation: HeaderManipulation | undefined, context: MessageContext): EnvoyMessage {
  const { requestHeadersToAdd = [], responseHeadersToAdd = [], ...removed } = manipulation ?? {};
  return message({
    request_headers_to_add: requestHeadersToAdd.flatMap(({ header, headerSecretRef, append }) =>
      headerSecretRef
        ? fromSecret(headerSecretRef as ResourceRef, append, context)
        : [addition(header, append, context)],
    ),
    request_headers_to_remove: removed.requestHeadersToRemove,
    response_headers_to_add: responseHeadersToAdd.map(({ header, append }) => addition(header, append, context)),
    response_headers_to_remove: removed.responseHeadersToRemove,
  });
}

/** Returns a header to add; in a dump without its literal text. */
export function addition(
  { key = '', value = '' }: { readonly key?: string; readonly value?: string } = {},
  append: boolean | undefined,
  context: Pick<MessageContext, 'services'>,
): EnvoyMessage {
  return {
    header: { key, value: context.services ? value : redactHeaderValue(value, REDACTED_IN_LOG) },
    append_action: (append ?? true) ? 'APPEND_IF_EXISTS_OR_ADD' : 'OVERWRITE_IF_EXISTS_OR_ADD',
  };
}

function fromSecret(ref: ResourceRef, append: boolean | undefined, { secrets, ...context }: MessageContext) {
  const keys = Object.keys(secrets.get(ref)?.data ?? {}).sort();
  return keys.map((key) => addition({ key, value: REDACTED_IN_LOG }, append, context));
}
