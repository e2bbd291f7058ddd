import type { RateLimitAction, RateLimitActions } from '../schema/route/rate-limit.ts';
import { REDACTED_IN_LOG } from '../security/request-secrets.ts';
import { isSecretName } from '../security/secret-fields.ts';
import { message, type EnvoyMessage } from './message.ts';
import type { MessageContext } from './translation-context.ts';

type Target = Pick<MessageContext, 'services'>;
type Condition = NonNullable<NonNullable<RateLimitAction['headerValueMatch']>['headers']>[number];

/** The first entry of sets. */
const SET_MARKER = 'vendor.setDescriptor.uniqueValue';

/** Returns one entry for the tuple and one for the set of a limit. */
export function entriesOf(
  { actions = [], setActions = [], limit, cost }: RateLimitActions,
  first: readonly EnvoyMessage[],
  context: Target,
): EnvoyMessage[] {
  const key = limit?.dynamicMetadata?.metadataKey;
  const more = {
    limit: key && { dynamic_metadata: { metadata_key: key } },
    hits_addend: cost?.header && { format: `%REQ(${cost.header.headerName})%` },
  };
  const entry = (start: readonly EnvoyMessage[], list: readonly RateLimitAction[]): EnvoyMessage[] =>
    list.length > 0
      ? [message({ actions: [...start, ...list.map((action) => actionOf(action, context))], ...more })]
      : [];
  return [...entry(first, actions), ...entry([...first, genericKey(SET_MARKER)], setActions)];
}

/** Returns an action with a fixed value. */
export const genericKey = (value: string | undefined): EnvoyMessage => ({ generic_key: { descriptor_value: value } });

function actionOf(action: RateLimitAction, context: Target): EnvoyMessage {
  const { requestHeaders, headerValueMatch, metadata } = action;
  if (action.genericKey) return genericKey(action.genericKey.descriptorValue);
  if (requestHeaders) {
    const { headerName, descriptorKey } = requestHeaders;
    return { request_headers: { header_name: headerName, descriptor_key: descriptorKey } };
  }
  if (headerValueMatch) {
    const { descriptorValue, expectMatch, headers = [] } = headerValueMatch;
    const match = {
      descriptor_value: descriptorValue,
      expect_match: expectMatch,
      headers: headers.map((each) => headerMatch(each, context)),
    };
    return { header_value_match: message(match) };
  }
  if (metadata) {
    const { descriptorKey, metadataKey, defaultValue, source } = metadata;
    const value = { descriptor_key: descriptorKey, metadata_key: metadataKey, default_value: defaultValue, source };
    return { metadata: message(value) };
  }
  if (action.sourceCluster) return { source_cluster: {} };
  return action.destinationCluster ? { destination_cluster: {} } : { remote_address: {} };
}

/** Values of headers for credentials are redacted in a dump. */
function headerMatch(condition: Condition, { services }: Target): EnvoyMessage {
  const {
    name = '',
    exactMatch,
    regexMatch,
    rangeMatch,
    presentMatch,
    prefixMatch,
    suffixMatch,
    invertMatch,
  } = condition;
  const text: EnvoyMessage = message({
    exact: exactMatch,
    safe_regex: regexMatch === undefined ? undefined : { regex: regexMatch },
    prefix: prefixMatch,
    suffix: suffixMatch,
  });
  return message({
    name,
    string_match:
      Object.keys(text).length === 0 ? undefined : isSecretName(name) && !services ? { exact: REDACTED_IN_LOG } : text,
    range_match: rangeMatch,
    present_match: presentMatch,
    invert_match: invertMatch || undefined,
  });
}
