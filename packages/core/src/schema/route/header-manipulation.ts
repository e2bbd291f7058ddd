import * as f from '../field.ts';

const header = f.block({
  key: f.text('Header name. Names that begin with `:` and `Host` are rejected.'),
  value: f.text(
    'Value, sent as UTF-8; operators such as `%START_TIME%` are replaced, `%%` is a percent sign.',
    f.headerValue,
  ),
});
const append = f.bool('True appends a value; false replaces existing values.', { default: true });

const requestHeader = f.block(f.oneOf(['header', 'headerSecretRef']), {
  header: f.of(header, 'The header to set.'),
  headerSecretRef: f.ref('Secret of type gw.vendor.io/header or Opaque; each key becomes a header.'),
  append,
});
/** A header to add to the request. */
export interface RequestHeaderToAdd extends f.Static<typeof requestHeader> {}
export const RequestHeaderToAdd = f.named<RequestHeaderToAdd>('RequestHeaderToAdd', requestHeader);

const responseHeader = f.block({ header: f.of(header, 'The header to set.'), append });
/** A header to add to the response. */
export interface ResponseHeaderToAdd extends f.Static<typeof responseHeader> {}
export const ResponseHeaderToAdd = f.named<ResponseHeaderToAdd>('ResponseHeaderToAdd', responseHeader);

const fields = f.block({
  requestHeadersToAdd: f.list(RequestHeaderToAdd, 'Request headers to add.'),
  requestHeadersToRemove: f.texts('Request headers to remove.'),
  responseHeadersToAdd: f.list(ResponseHeaderToAdd, 'Response headers to add.'),
  responseHeadersToRemove: f.texts('Response headers to remove.'),
});
/** Adds and removes headers. The levels are combined: weighted destination, then route, then virtual host. */
export interface HeaderManipulation extends f.Static<typeof fields> {}
export const HeaderManipulation = f.named<HeaderManipulation>('HeaderManipulation', fields);
