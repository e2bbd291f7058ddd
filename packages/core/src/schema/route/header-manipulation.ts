import { block, bool, list, named, of, ref, text, type Static } from '../field.ts';

const header = block({
  key: text('Header name. Names that begin with `:` and `Host` are rejected.'),
  value: text('Value; operators such as `%START_TIME%` are replaced, `%%` is a percent sign.'),
});
const append = bool('True appends a value; false replaces existing values.', { default: true });

const requestHeader = block(
  {
    header: of(header, 'The header to set.'),
    headerSecretRef: ref('Secret of type gw.vendor.io/header or Opaque; each key becomes a header.'),
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
  requestHeadersToAdd: list(RequestHeaderToAdd, 'Request headers to add.'),
  requestHeadersToRemove: list(text(), 'Request headers to remove.'),
  responseHeadersToAdd: list(ResponseHeaderToAdd, 'Response headers to add.'),
  responseHeadersToRemove: list(text(), 'Response headers to remove.'),
});
/** Adds and removes headers. The levels are combined: weighted destination, then route, then virtual host. */
export interface HeaderManipulation extends Static<typeof fields> {}
export const HeaderManipulation = named<HeaderManipulation>('HeaderManipulation', fields);
