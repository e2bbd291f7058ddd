import { block, bool, list, named, of, ref, text, type Static } from './field.ts';

const header = block({
  key: text('Header name. Names that begin with `:` and `Host` are refused.'),
  value: text('Value; operators such as `%START_TIME%` are replaced, `%%` is a percent sign.'),
});
const append = bool('True adds one more value; false replaces those that are there.', { default: true });

const requestHeader = block(
  {
    header: of(header, 'The header to set.'),
    headerSecretRef: ref('Secret of type gw.vendor.io/header or Opaque of which every key becomes a header.'),
    append,
  },
  { oneOf: [{ members: ['header', 'headerSecretRef'] }] },
);
/** A header to add to the request. */
export interface RequestHeaderToAdd extends Static<typeof requestHeader> {}
export const RequestHeaderToAdd = named<RequestHeaderToAdd>('RequestHeaderToAdd', requestHeader);

const responseHeader = block({ header: of(header, 'The header to set.'), append });
/** A header to add to the response. */
export interface ResponseHeaderToAdd extends Static<typeof responseHeader> {}
export const ResponseHeaderToAdd = named<ResponseHeaderToAdd>('ResponseHeaderToAdd', responseHeader);

const fields = block({
  requestHeadersToAdd: list(RequestHeaderToAdd, 'Headers that the upstream gets in addition.'),
  requestHeadersToRemove: list(text(), 'Headers that the upstream does not get.'),
  responseHeadersToAdd: list(ResponseHeaderToAdd, 'Headers that the client gets in addition.'),
  responseHeadersToRemove: list(text(), 'Headers that the client does not get.'),
});
/** Adds and removes headers. Levels add up: weighted destination, then route, then virtual host. */
export interface HeaderManipulation extends Static<typeof fields> {}
export const HeaderManipulation = named<HeaderManipulation>('HeaderManipulation', fields);
